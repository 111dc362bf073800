/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for any MPI. It checks data between all its processes, prints "RANK of SIZE", and then does as its argument
 * says: nothing, abort, exit (with rank + 3), leave (without MPI_Finalize), kill, spawn.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

static void exchange(int rank, int size)
{
    static char data[BYTES];
    int sum, left = (rank + size - 1) % size;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    memset(data, rank + 1, sizeof data);
    MPI_Sendrecv_replace(data, BYTES, MPI_CHAR, (rank + 1) % size, 7, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < BYTES; i++)
        if (data[i] != left + 1)
            exit(99);
    if (sum != size * (size - 1) / 2)
        exit(98);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank, size, *universe, found, provided;
    MPI_Comm all;
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return 97;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    exchange(rank, size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &found);
    printf("%d of %d\n", rank, size);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "spawn") == 0)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &all, MPI_ERRCODES_IGNORE);
    if (rank == 1 && strcmp(what, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (rank == 1 && strcmp(what, "kill") == 0)
        raise(SIGKILL);
    if (rank == 1 && strcmp(what, "leave") == 0)
        _exit(0);
    if (*what && strcmp(what, "exit") != 0)
        pause();
    MPI_Finalize();
    return strcmp(what, "exit") == 0 ? rank + 3 : 0;
}
