/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two processes: one-sided operations on an allocated window, each until it is complete at the target. The bandwidth of
 * put, with a flush behind every 64. Some of it on a created window, too.
 */
#include "bench.h"

enum { MANY = 64, LONG = 65536 };

static MPI_Win win;

static void put(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times && bench->rank == 0; i++) {
        MPI_Put(bench->buffer, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
}

static void get(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times && bench->rank == 0; i++) {
        MPI_Get(bench->buffer, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
}

static void fetch(struct bench *bench, int bytes, int times)
{
    long one = 1, before;
    (void)bytes;
    for (int i = 0; i < times && bench->rank == 0; i++) {
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 1, 0, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
}

static void stream(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times && bench->rank == 0; i++) {
        for (int k = 0; k < MANY; k++) {
            size_t at = (size_t)k * (size_t)bytes;
            MPI_Put(bench->buffer + at, bytes, MPI_BYTE, 1, (MPI_Aint)at, bytes, MPI_BYTE, win);
        }
        MPI_Win_flush(1, win);
    }
}

int main(int argc, char **argv)
{
    struct bench bench = bench_open(&argc, &argv);
    char *base;
    if (bench.size != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Win_allocate(LARGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, LARGEST);
    MPI_Win_lock_all(0, win);
    bench_print(&bench, "put", 8, 1e6 * bench_seconds(&bench, put, 8), "us");
    bench_print(&bench, "get", 8, 1e6 * bench_seconds(&bench, get, 8), "us");
    bench_print(&bench, "fetch and op", 8, 1e6 * bench_seconds(&bench, fetch, 8), "us");
    bench_print(&bench, "put bandwidth", LONG, 1e-9 * MANY * LONG / bench_seconds(&bench, stream, LONG), "GB/s");
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    base = malloc(LARGEST);
    memset(base, 0, LARGEST);
    MPI_Win_create(base, LARGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    bench_print(&bench, "put, created", 8, 1e6 * bench_seconds(&bench, put, 8), "us");
    bench_print(&bench, "put bandwidth, created", LONG, 1e-9 * MANY * LONG / bench_seconds(&bench, stream, LONG),
                "GB/s");
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(base);
    bench_close(&bench);
    return 0;
}
