/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that uses the ordinary MPI of another make, which it was compiled for. */
#include <mpi.h>
#include <stddef.h>

#include "solver.h"

int solver_solve(int expected)
{
    int initialized, finalized, rank, size, sum;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (finalized || (!initialized && MPI_Init(NULL, NULL)))
        return finalized ? 0 : -1;
    if (MPI_Comm_rank(MPI_COMM_WORLD, &rank) || MPI_Comm_size(MPI_COMM_WORLD, &size))
        return -1;
    if (MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) || sum != size * (size - 1) / 2)
        return -1;
    return expected > 0 ? rank : -1;
}
