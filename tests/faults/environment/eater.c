/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 takes memory until its cgroup has none left; the others wait for it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; rank == 1 && i < 1000; i++) {
        char *megabyte = malloc(1 << 20);
        if (megabyte)
            memset(megabyte, i + 1, 1 << 20);
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("enough memory, sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
