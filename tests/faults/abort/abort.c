/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls MPI_Abort: abort.c RANK WHERE CODE. RANK: the rank that calls it. WHERE: the communicator, one of world, self,
 * ocean (a named one), session (of a session, without a World). The other ranks wait for a message that never comes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Comm of_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "abort", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_set_name(comm, "private");
    return comm;
}

int main(int argc, char **argv)
{
    int who = atoi(argv[argc - 3]), code = atoi(argv[argc - 1]), rank, nothing;
    const char *where = argv[argc - 2];
    MPI_Comm comm = MPI_COMM_WORLD, all = MPI_COMM_WORLD;
    if (strcmp(where, "session") == 0)
        comm = all = of_session();
    else
        MPI_Init(NULL, NULL);
    if (strcmp(where, "self") == 0)
        comm = MPI_COMM_SELF;
    if (strcmp(where, "ocean") == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_name(comm, "ocean");
    }
    MPI_Comm_rank(all, &rank);
    printf("rank %d is there\n", rank); /* not flushed, but printed all the same */
    MPI_Barrier(all);
    if (rank == who)
        MPI_Abort(comm, code);
    MPI_Recv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 1, all, MPI_STATUS_IGNORE);
    printf("rank %d went on\n", rank);
    return 0;
}
