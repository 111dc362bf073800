/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library with an MPI of its own whose processes the application connects by a callback (MPIX_Attach_exchange), and
 * with -DAPPLICATION the application, of any MPI: usage: join LIBRARY [launcher]. The library needs no launcher, and
 * the processes may be on several machines. With `launcher` its processes meet through that instead.
 */
#ifndef APPLICATION
#include <mpi-ext.h>

int solver_solve(int expected); /* solver.c, in the same library */

int join_solve(MPIX_Exchange_function *exchange, void *context, int rank, int size)
{
    if (MPIX_Attach_exchange(exchange, context, rank, size) != MPI_SUCCESS)
        return -1;
    int solved = solver_solve(size);
    return MPIX_Detach() == MPI_SUCCESS ? solved : -1;
}

#else
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

typedef int (*gather_function)(const void *mine, void *all, int bytes, void *comm);

static int gather(const void *mine, void *all, int bytes, void *comm)
{
    return MPI_Allgather((void *)mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, *(MPI_Comm *)comm);
}

int main(int argc, char **argv)
{
    enum { TIMES = 3 };
    int rank, size, good = 0, all = 0, (*join)(gather_function, void *, int, int), (*solve)(int);
    MPI_Comm comm;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return fprintf(stderr, "join: %s\n", argc > 1 ? dlerror() : "usage: join LIBRARY [launcher]"), 2;
    *(void **)&join = dlsym(library, "join_solve");
    *(void **)&solve = dlsym(library, "solver_solve");
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < TIMES; i++) {
        good += (argc > 2 ? solve(size) : join(gather, &comm, rank, size)) == rank;
        MPI_Barrier(comm);
    }
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    if (rank == 0 && all == TIMES * size)
        printf("well: %d processes joined %d times\n", size, TIMES);
    fflush(stdout);
    MPI_Finalize();
    return all != TIMES * size;
}
#endif
