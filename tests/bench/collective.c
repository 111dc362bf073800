/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective operations on all processes. The bytes are those of one process's part.
 *
 * collective quick|full all: gathers, scatters, an alltoallv, and nonblocking operations, too.
 */
#include "bench.h"

static void barrier(struct bench *bench, int bytes, int times)
{
    (void)bench;
    (void)bytes;
    for (int i = 0; i < times; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times; i++)
        MPI_Allreduce(bench->buffer, bench->other, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times; i++)
        MPI_Reduce(bench->buffer, bench->other, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void bcast(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times; i++)
        MPI_Bcast(bench->buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void allgather(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times; i++)
        MPI_Allgather(bench->buffer, bytes, MPI_BYTE, bench->other, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times; i++)
        MPI_Alltoall(bench->buffer, bytes, MPI_BYTE, bench->other, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

/* `bytes` are the whole vector's; each process keeps its part of it. */
static void reduce_scatter(struct bench *bench, int bytes, int times)
{
    int each = bytes / 8 / bench->size > 0 ? bytes / 8 / bench->size : 1;
    int counts[64];
    for (int i = 0; i < bench->size; i++)
        counts[i] = each;
    for (int i = 0; i < times; i++)
        MPI_Reduce_scatter(bench->buffer, bench->other, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void scan(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times; i++)
        MPI_Scan(bench->buffer, bench->other, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void gather(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times; i++)
        MPI_Gather(bench->buffer, bytes, MPI_BYTE, bench->other, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void scatter(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times; i++)
        MPI_Scatter(bench->other, bytes, MPI_BYTE, bench->buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void alltoallv(struct bench *bench, int bytes, int times)
{
    int counts[64], places[64];
    for (int i = 0; i < bench->size; i++) {
        counts[i] = bytes;
        places[i] = i * bytes;
    }
    for (int i = 0; i < times; i++)
        MPI_Alltoallv(bench->buffer, counts, places, MPI_BYTE, bench->other, counts, places, MPI_BYTE, MPI_COMM_WORLD);
}

static void iallreduce(struct bench *bench, int bytes, int times)
{
    MPI_Request request;
    for (int i = 0; i < times; i++) {
        MPI_Iallreduce(bench->buffer, bench->other, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void ialltoall(struct bench *bench, int bytes, int times)
{
    MPI_Request request;
    for (int i = 0; i < times; i++) {
        MPI_Ialltoall(bench->buffer, bytes, MPI_BYTE, bench->other, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void ialltoallv(struct bench *bench, int bytes, int times)
{
    int counts[64], places[64];
    MPI_Request request;
    for (int i = 0; i < bench->size; i++) {
        counts[i] = bytes;
        places[i] = i * bytes;
    }
    for (int i = 0; i < times; i++) {
        MPI_Ialltoallv(bench->buffer, counts, places, MPI_BYTE, bench->other, counts, places, MPI_BYTE, MPI_COMM_WORLD,
                       &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    enum { COMMON = 7, ALL = 13 };
    static const struct {
        const char *name;
        bench_body *body;
    } operation[ALL] = { { "allreduce", allreduce },
                         { "reduce", reduce },
                         { "bcast", bcast },
                         { "allgather", allgather },
                         { "alltoall", alltoall },
                         { "reduce_scatter", reduce_scatter },
                         { "scan", scan },
                         { "gather", gather },
                         { "scatter", scatter },
                         { "alltoallv", alltoallv },
                         { "iallreduce", iallreduce },
                         { "ialltoall", ialltoall },
                         { "ialltoallv", ialltoallv } };
    static const int sizes[] = { 8, 1024, 65536, 1 << 20 };
    struct bench bench = bench_open(&argc, &argv);
    if ((long)bench.size << 20 > LARGEST)
        MPI_Abort(MPI_COMM_WORLD, 1);
    int operations = argc > 2 && strcmp(argv[2], "all") == 0 ? ALL : COMMON;
    bench_print(&bench, "barrier", -1, 1e6 * bench_seconds(&bench, barrier, 0), "us");
    for (int i = 0; i < operations; i++)
        for (int k = 0; k < 4; k++)
            bench_print(&bench, operation[i].name, sizes[k], 1e6 * bench_seconds(&bench, operation[i].body, sizes[k]),
                        "us");
    bench_close(&bench);
    return 0;
}
