/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions in cycles over several hosts, and no World: in each cycle all ranks meet once, and some of them open and
 * close sessions of their own in between, so that everybody's front door opens and closes at other times.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* One session with one communicator; returns this process's rank in the process set. */
static int once(const char *pset, const char *tag, int *size)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, one = 1, sum = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, pset, &group);
    MPI_Group_size(group, size);
    MPI_Group_rank(group, &rank);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != *size) {
        fprintf(stderr, "%s: the sum over %d processes is %d\n", tag, *size, sum);
        MPI_Abort(comm, 3);
    }
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return rank;
}

int main(int argc, char **argv)
{
    int cycles = argc > 1 ? atoi(argv[1]) : 20, rank = 0, size = 0, alone;
    char tag[32];
    for (int cycle = 0; cycle < cycles; cycle++) {
        snprintf(tag, sizeof tag, "cycle %d", cycle);
        rank = once("mpi://WORLD", tag, &size);
        for (int extra = 0; extra < rank % 3; extra++)
            once("mpi://SELF", "alone", &alone);
    }
    if (rank == 0)
        printf("%d ranks met in %d cycles\n", size, cycles);
    return 0;
}
