/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the ranks; wrong unless it runs with 2. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    rank++;
    MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return total != 3;
}
