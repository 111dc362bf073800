/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the rank that has the most: resident memory (RSS), and the same with shared pages divided among the
 * processes that share them (PSS). Measured after a barrier, and messages with both neighbors.
 */
#include <mpi.h>
#include <stdio.h>

static double rollup(const char *key)
{
    char line[256], format[32];
    double kb = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    snprintf(format, sizeof format, "%s: %%lf kB", key);
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, format, &kb) == 1)
            break;
    if (file)
        fclose(file);
    return kb / 1024;
}

int main(int argc, char **argv)
{
    int rank, size, in;
    double mb[2], most[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 1; step < 3; step++)
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    mb[0] = rollup("Rss");
    mb[1] = rollup("Pss");
    MPI_Reduce(mb, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("memory, RSS\t%.3f\tMB\nmemory, PSS\t%.3f\tMB\n", most[0], most[1]);
    MPI_Finalize();
    return 0;
}
