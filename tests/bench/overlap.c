/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does communication go on while the program computes? Not a part of the bench: it compares ways to run one MPI, as
 * PLENUM_PROGRESS=thread.
 *
 * Overlap, as in OSU's tests: an operation starts, the program computes for as long as the operation takes alone, then
 * waits. 100 % if both together take as long as the computing, 0 % if as long as one after the other. Computing is a
 * number of steps, not a time, so that a thread that takes the core away counts. "Idle" is the same while the program
 * sleeps for that time, as one does whose accelerator computes.
 *
 * Beside a rank that computes for 20 ms: how long another one waits for its message, or for an operation on its window.
 */
#include "bench.h"

#include <time.h>

enum { LONG_STEPS_MS = 20 };

static MPI_Win win;
static long steps, long_steps, sleep_ns;

/* It has to be done: the result is stored. */
static void compute(long count)
{
    volatile double result;
    double x = 1;
    if (sleep_ns > 0)
        nanosleep(&(struct timespec){ .tv_nsec = sleep_ns }, NULL);
    for (long i = 0; i < count; i++)
        x = x * 1.0000001 + 1e-9;
    result = x;
    (void)result;
}

static void only_compute(struct bench *bench, int bytes, int times)
{
    (void)bench, (void)bytes;
    for (int i = 0; i < times; i++)
        compute(steps);
}

static void exchange(struct bench *bench, int bytes, int times)
{
    int other = bench->rank ^ 1;
    for (int i = 0; i < times; i++) {
        MPI_Request requests[2];
        MPI_Irecv(bench->other, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(bench->buffer, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[1]);
        compute(steps);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void alltoall(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times; i++) {
        MPI_Request request;
        MPI_Ialltoall(bench->buffer, bytes, MPI_BYTE, bench->other, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
        compute(steps);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void allreduce(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times; i++) {
        MPI_Request request;
        MPI_Iallreduce(bench->buffer, bench->other, bytes / 8, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
        compute(steps);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void overlap_print(struct bench *bench, const char *what, const char *how, bench_body *body, int bytes,
                          double alone)
{
    char name[64];
    double computing = bench_seconds(bench, only_compute, bytes), both = bench_seconds(bench, body, bytes);
    double percent = 100 * (1 - (both - computing) / alone);
    snprintf(name, sizeof name, "%s %s", what, how);
    bench_print(bench, name, bytes, percent < 0 ? 0 : percent, "%");
}

static void overlap(struct bench *bench, const char *what, bench_body *body, int bytes)
{
    char name[64];
    steps = 0;
    double alone = bench_seconds(bench, body, bytes);
    snprintf(name, sizeof name, "%s alone", what);
    bench_print(bench, name, bytes, 1e6 * alone, "us");
    steps = (long)((double)long_steps * alone * 1e3 / LONG_STEPS_MS);
    overlap_print(bench, what, "overlap", body, bytes, alone);
    steps = 0;
    sleep_ns = (long)(alone * 1e9);
    overlap_print(bench, what, "overlap, idle", body, bytes, alone);
    sleep_ns = 0;
}

/* Rank 0 computes; rank 1 takes its message, or uses its window. */
static void take(struct bench *bench, int bytes)
{
    MPI_Request request;
    if (bench->rank == 0) {
        MPI_Isend(bench->buffer, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request);
        compute(long_steps);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(bench->other, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void use(struct bench *bench, int bytes)
{
    if (bench->rank == 0) {
        compute(long_steps);
        return;
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(bench->buffer, bytes, MPI_BYTE, 0, 0, bytes, MPI_BYTE, win);
    MPI_Win_unlock(0, win);
}

/* The median of rank 1. */
static void beside(struct bench *bench, const char *what, void (*act)(struct bench *bench, int bytes), int bytes)
{
    double took[BATCHES];
    for (int i = 0; i < bench->batches; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        act(bench, bytes);
        took[i] = MPI_Wtime() - start;
        MPI_Bcast(&took[i], 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    }
    qsort(took, (size_t)bench->batches, sizeof *took, bench_compare);
    bench_print(bench, what, bytes, 1e6 * took[bench->batches / 2], "us");
}

int main(int argc, char **argv)
{
    struct bench bench = bench_open(&argc, &argv);
    char *base;
    if (bench.size != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Win_allocate(LARGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    steps = 1000000;
    long_steps = (long)(1e6 * LONG_STEPS_MS / 1e3 / bench_seconds(&bench, only_compute, 0));
    overlap(&bench, "exchange", exchange, 1 << 20);
    overlap(&bench, "exchange", exchange, 8 << 20);
    overlap(&bench, "ialltoall", alltoall, 1 << 20);
    overlap(&bench, "iallreduce", allreduce, 1 << 20);
    beside(&bench, "recv from a rank that computes", take, 1 << 20);
    beside(&bench, "lock, put, unlock of one that computes", use, 8);
    MPI_Win_free(&win);
    bench_close(&bench);
    return 0;
}
