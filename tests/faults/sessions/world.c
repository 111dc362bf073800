/* SPDX-License-Identifier: BSD-3-Clause */
/* An application with a World uses the library of docs/sessions.md while its own messages are under way. */
#include <mpi.h>
#include <stdio.h>

#include "stats.h"

int main(int argc, char **argv)
{
    struct stats *stats, *other;
    int rank, size, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 20; round++) {
        MPI_Request request[2];
        int sent = 1000 * round + rank, received = -1, left = (rank + size - 1) % size;
        double value = rank + round, mean = -1, again = -1;
        MPI_Irecv(&received, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &request[0]);
        bad += stats_open(&stats) != 0 || stats_mean(stats, &value, 1, &mean) != 0;
        MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &request[1]);
        bad += stats_open(&other) != 0 || stats_mean(other, &value, 1, &again) != 0;
        stats_close(stats);
        stats_close(other);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        bad += mean != (size - 1) / 2.0 + round || again != mean || received != 1000 * round + left;
    }
    MPI_Finalize();
    if (bad)
        printf("rank %d: %d rounds went wrong\n", rank, bad);
    return bad != 0;
}
