/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks but the last wait for a message of the last, which never comes: it waits to be killed ("wait"), or
 * finalizes ("finalize"). Or rank 0 aborts with the code of such a failure, though all live ("abort", and "abort_some"
 * on a communicator of its own). Or the only rank spawns another, and one of the two waits for the other in vain
 * ("child", "parent": which is to be killed). Each rank says its number and its pid. usage: missed HOW
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void miss(int last, MPI_Comm comm)
{
    int nothing;
    MPI_Recv(&nothing, 1, MPI_INT, last, 0, comm, MPI_STATUS_IGNORE);
}

static void miss_spawned(char *program, char *how, MPI_Comm parent)
{
    MPI_Comm other = parent;
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(program, (char *[]){ how, NULL }, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other,
                       MPI_ERRCODES_IGNORE);
    if ((parent == MPI_COMM_NULL) == (strcmp(how, "parent") == 0))
        pause();
    miss(0, other);
}

static void abort_alone(int rank, MPI_Comm comm)
{
    if (rank == 0)
        MPI_Abort(comm, MPI_ERR_PROC_ABORTED);
    while (comm == MPI_COMM_WORLD)
        pause();
}

int main(int argc, char **argv)
{
    char *how = argc > 1 ? argv[1] : "";
    int rank, size;
    MPI_Comm parent;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    printf("%d %d\n", parent == MPI_COMM_NULL ? rank : 1, (int)getpid());
    fflush(stdout);
    if (strcmp(how, "abort") == 0)
        abort_alone(rank, MPI_COMM_WORLD);
    else if (strcmp(how, "abort_some") == 0)
        abort_alone(rank, MPI_COMM_SELF);
    else if (strcmp(how, "child") == 0 || strcmp(how, "parent") == 0)
        miss_spawned(argv[0], how, parent);
    else if (rank < size - 1)
        miss(size - 1, MPI_COMM_WORLD);
    else if (strcmp(how, "wait") == 0)
        pause();
    MPI_Finalize();
    return 0;
}
