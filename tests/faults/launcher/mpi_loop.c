/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that communicates, in small and large messages, until it is killed. Says where UCX is to
 * make its files. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGE = 1 << 17 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long *mine = calloc(LARGE, sizeof(long)), *theirs = calloc(LARGE, sizeof(long));
    printf("up %s\n", getenv("UCX_POSIX_DIR"));
    fflush(stdout);
    for (long round = 0; mine && theirs; round++) {
        long sum;
        MPI_Sendrecv(mine, LARGE, MPI_LONG, (rank + 1) % size, 0, theirs, LARGE, MPI_LONG, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&round, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (sum != round * size)
            MPI_Abort(MPI_COMM_WORLD, 99);
    }
    return 1;
}
