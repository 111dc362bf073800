/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the benchmark programs share. A program prints one line for each figure: name, value, unit, with tabs between.
 * The programs are plain MPI, so that any MPI's compiler wrapper takes them.
 */
#ifndef BENCH_H
#define BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 11 };

struct bench {
    int rank, size;
    int batches;          /* batches for a median */
    double batch_seconds; /* least duration of a batch */
    char *buffer, *other; /* LARGEST bytes each */
};
enum { LARGEST = 1 << 24 };

/* The first moments are not measured: the MPI connects, and the scheduler spreads processes that began on one core. */
static inline void bench_settle(void)
{
    double start = MPI_Wtime();
    int go_on = 1;
    while (go_on) {
        go_on = MPI_Wtime() - start < 0.1;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static inline struct bench bench_open(int *argc, char ***argv)
{
    struct bench bench;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.size);
    bool quick = *argc > 1 && strcmp((*argv)[1], "quick") == 0;
    bench.batches = quick ? 5 : BATCHES;
    bench.batch_seconds = quick ? 1e-3 : 4e-3;
    bench.buffer = calloc(1, LARGEST);
    bench.other = calloc(1, LARGEST);
    if (!bench.buffer || !bench.other)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(bench.buffer, 1, LARGEST); /* otherwise all of it is the kernel's one page of zeros */
    bench_settle();
    return bench;
}

static inline void bench_close(struct bench *bench)
{
    free(bench->buffer);
    free(bench->other);
    MPI_Finalize();
}

/* One round of the measured operation, `times` times. */
typedef void bench_body(struct bench *bench, int bytes, int times);

/* Seconds until the last process has finished. */
static inline double bench_once(struct bench *bench, bench_body *body, int bytes, int times)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    body(bench, bytes, times);
    double took = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return took;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of one operation: the median of batches, of fewer if one operation lasts long. */
static inline double bench_seconds(struct bench *bench, bench_body *body, int bytes)
{
    double batch[BATCHES];
    double took = bench_once(bench, body, bytes, 1);
    took = bench_once(bench, body, bytes, 1); /* the first one connects */
    int times = 1, batches = took > 5e-3 ? 3 : bench->batches;
    while (took < bench->batch_seconds && times < 200000) {
        times *= 2;
        took = bench_once(bench, body, bytes, times);
    }
    for (int i = 0; i < batches; i++)
        batch[i] = bench_once(bench, body, bytes, times) / times;
    qsort(batch, (size_t)batches, sizeof *batch, bench_compare);
    return batch[batches / 2];
}

static inline void bench_print(const struct bench *bench, const char *what, int bytes, double value, const char *unit)
{
    if (bench->rank != 0)
        return;
    if (bytes < 0) /* it has no size */
        printf("%s\t%.9g\t%s\n", what, value, unit);
    else if (bytes < 1024)
        printf("%s %d B\t%.9g\t%s\n", what, bytes, value, unit);
    else if (bytes < 1024 * 1024)
        printf("%s %d KiB\t%.9g\t%s\n", what, bytes / 1024, value, unit);
    else
        printf("%s %d MiB\t%.9g\t%s\n", what, bytes / 1024 / 1024, value, unit);
    fflush(stdout);
}

#endif
