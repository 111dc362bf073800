/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abort_some.c HOW: ranks 1 and 3 of five have a communicator, and rank 3 ends it with code 9. HOW is one of
 *
 *   abort    MPI_Abort
 *   handler  MPI_ERRORS_ABORT on it
 *   session  MPI_Abort on one that a session's group made
 *   alone    MPI_Abort on MPI_COMM_SELF
 *   error    an error of a session whose handler is MPI_ERRORS_ABORT, which ends rank 3 alone
 *
 * Otherwise rank 1 would sleep for ever. The others go on in a communicator of their own, and print so.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Session private_session = MPI_SESSION_NULL;

static MPI_Comm of_session(MPI_Comm world, int color)
{
    MPI_Group all, group;
    MPI_Comm comm;
    int size;
    MPI_Comm_size(world, &size);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &private_session);
    MPI_Group_from_session_pset(private_session, "mpi://WORLD", &all);
    MPI_Group_range_incl(all, 1, &(int[3]){ color, size - 1 - color, 2 }, &group);
    MPI_Comm_create_from_group(group, "some", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    return comm;
}

static void fail_in_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ABORT, &session);
    printf("rank 3 is there\n"); /* not flushed, but printed all the same */
    MPI_Group_from_session_pset(session, "mpi://NOWHERE", &group);
    printf("rank 3 went on\n");
}

int main(int argc, char **argv)
{
    const char *how = argv[argc - 1];
    int rank, sum = -1;
    MPI_Comm mine;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(how, "session") == 0)
        mine = of_session(MPI_COMM_WORLD, rank % 2);
    else
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &mine);
    MPI_Comm_set_name(mine, rank % 2 ? "odd" : "even");
    if (strcmp(how, "handler") == 0)
        MPI_Comm_set_errhandler(mine, MPI_ERRORS_ABORT);
    /* Rank 3 hears from every rank, so that none of the others depends on the ranks that are to end. */
    for (int i = 0; i < 4 && rank == 3; i++)
        MPI_Recv(&sum, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 3)
        MPI_Send(&rank, 1, MPI_INT, 3, 0, MPI_COMM_WORLD);
    if (rank == 3 && strcmp(how, "handler") == 0)
        MPI_Send(&rank, 1, MPI_INT, 17, 0, mine);
    else if (rank == 3 && strcmp(how, "error") == 0)
        fail_in_session();
    else if (rank == 3)
        MPI_Abort(strcmp(how, "alone") == 0 ? MPI_COMM_SELF : mine, 9);
    if (rank == 1 && strcmp(how, "alone") != 0 && strcmp(how, "error") != 0)
        for (;;)
            pause();
    if (rank % 2 == 0) {
        for (int i = 0; i < 1000; i++)
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, mine);
        printf("rank %d went on: %d\n", rank, sum);
        MPI_Comm_free(&mine);
        if (private_session != MPI_SESSION_NULL)
            MPI_Session_finalize(&private_session);
    }
    MPI_Finalize();
    return 0;
}
