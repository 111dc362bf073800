/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs under host.c: waits for the embedding program's set app://engine of ranks 2 and 0, answers with app://reply, and
 * ends when that set is withdrawn.
 */
#include <mpi-ext.h>
#include <sched.h>
#include <stdlib.h>

static MPI_Session session;
static MPI_Group world;

/* The members, as digits; 0: it is not there. */
static int members(const char *name)
{
    MPI_Group group;
    int size, all[] = { 0, 1, 2 }, got[3], number = 9;
    if (MPI_Group_from_session_pset(session, name, &group) != MPI_SUCCESS)
        return 0;
    MPI_Group_size(group, &size);
    MPI_Group_translate_ranks(group, size, all, world, got);
    for (int i = 0; i < size; i++)
        number = 10 * number + got[i];
    MPI_Group_free(&group);
    return number;
}

int main(void)
{
    int rank, seen;
    MPI_Group one;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Group_rank(world, &rank);
    while ((seen = members("app://engine")) == 0)
        sched_yield();
    if (seen != 920)
        return 2;
    MPI_Comm_create_from_group(world, "guests", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Barrier(comm); /* all have seen it before it goes */
    MPI_Comm_free(&comm);
    if (rank == 1) {
        MPI_Group_incl(world, 1, (int[]){ 1 }, &one);
        if (MPIX_Session_pset_publish(session, "app://reply", one) != MPI_SUCCESS)
            return 3;
        if (MPIX_Session_pset_publish(session, "app://described", one) == MPI_SUCCESS)
            return 4;
        MPI_Group_free(&one);
    }
    while (members("app://engine") != 0)
        sched_yield();
    MPI_Group_free(&world);
    return MPI_Session_finalize(&session) == MPI_SUCCESS ? 0 : 5;
}
