/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs do on a machine that is not quiet: a message there and back, a short allreduce, and the steps of a
 * simulation. In a step the ranks exchange a halo, compute a little, and agree by short allreduces. A figure is the
 * mean of all that fitted into its time, since other programs interrupt now and then.
 */
#include "bench.h"

enum { WORK_US = 20, HALO = 4096, NEIGHBORS = 3, AGREEMENTS = 3 };

/* As many turns of a loop as a microsecond has. */
static long turns_of_us;
static volatile double computed;

static void compute(long turns)
{
    double value = 1;
    for (long i = 0; i < turns; i++)
        value = value * 1.0000001 + 1e-9;
    computed = value;
}

static void calibrate(void)
{
    double best = 1;
    for (int i = 0; i < 20; i++) {
        double start = MPI_Wtime();
        compute(100000);
        double took = MPI_Wtime() - start;
        best = took < best ? took : best;
    }
    turns_of_us = (long)(0.1 / best); /* the fastest of many, which nothing has interrupted */
}

static void there_and_back(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times && bench->rank < 2; i++) {
        if (bench->rank == 0)
            MPI_Send(bench->buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(bench->other, bytes, MPI_BYTE, 1 - bench->rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (bench->rank == 1)
            MPI_Send(bench->buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

static void allreduce(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times; i++)
        MPI_Allreduce(bench->buffer, bench->other, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void exchange_halo(struct bench *bench, int bytes)
{
    MPI_Request request[2 * NEIGHBORS];
    int count = 0, done;
    for (int d = 1; d <= NEIGHBORS && d < bench->size; d++) {
        int from = (bench->rank - d + bench->size) % bench->size;
        MPI_Irecv(bench->other + d * bytes, bytes, MPI_BYTE, from, d, MPI_COMM_WORLD, &request[count++]);
    }
    for (int d = 1; d <= NEIGHBORS && d < bench->size; d++)
        MPI_Isend(bench->buffer + d * bytes, bytes, MPI_BYTE, (bench->rank + d) % bench->size, d, MPI_COMM_WORLD,
                  &request[count++]);
    for (int i = 0; i < count; i++) {
        MPI_Waitany(count, request, &done, MPI_STATUS_IGNORE);
        compute(WORK_US / 4 * turns_of_us);
    }
}

static void steps(struct bench *bench, int bytes, int times)
{
    for (int i = 0; i < times; i++) {
        exchange_halo(bench, bytes);
        compute(WORK_US * turns_of_us);
        allreduce(bench, AGREEMENTS * 8, AGREEMENTS);
    }
}

/* Seconds of one operation: the mean over `least` seconds, which all ranks count alike. */
static double mean_seconds(struct bench *bench, bench_body *body, int bytes, double least)
{
    double total = 0, operations = 0;
    for (int times = 16; total < least; times = total < least / 8 && times < 4096 ? 2 * times : times) {
        total += bench_once(bench, body, bytes, times);
        operations += times;
    }
    return total / operations;
}

int main(int argc, char **argv)
{
    struct bench bench = bench_open(&argc, &argv);
    double least = 100 * bench.batch_seconds; /* 0.4 s, many times what other programs run at a stretch */
    calibrate();
    MPI_Bcast(&turns_of_us, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    bench_print(&bench, "latency", 8, 1e6 * mean_seconds(&bench, there_and_back, 8, least) / 2, "us");
    bench_print(&bench, "allreduce", 8, 1e6 * mean_seconds(&bench, allreduce, 8, least), "us");
    bench_print(&bench, "step with a halo of", HALO, 1e6 * mean_seconds(&bench, steps, HALO, least), "us");
    bench_close(&bench);
    return 0;
}
