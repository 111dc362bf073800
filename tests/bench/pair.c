/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes: latency, exchanges, bandwidth in one and in both directions, and message rate. */
#include "bench.h"

/* Messages at once, and the most memory that they come from or go to: that of both sides stays in the last cache. */
enum { WINDOW = 64, MEMORY = 4 << 20 };

/* A message in each direction, one after the other. */
static void ping_pong(struct bench *bench, int bytes, int times)
{
    int peer = 1 - bench->rank;
    for (int i = 0; i < times; i++) {
        if (bench->rank == 0)
            MPI_Send(bench->buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(bench->other, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (bench->rank == 1)
            MPI_Send(bench->buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
}

/* A message in each direction at the same time. */
static void sendrecv(struct bench *bench, int bytes, int times)
{
    int peer = 1 - bench->rank;
    for (int i = 0; i < times; i++)
        MPI_Sendrecv(bench->buffer, bytes, MPI_BYTE, peer, 1, bench->other, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

/* The same, as programs with a halo do it. */
static void exchange(struct bench *bench, int bytes, int times)
{
    MPI_Request request[2];
    int peer = 1 - bench->rank;
    for (int i = 0; i < times; i++) {
        MPI_Irecv(bench->other, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(bench->buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
}

static int window_of(int bytes)
{
    return bytes <= MEMORY / WINDOW ? WINDOW : MEMORY / bytes;
}

/* A window of messages from 0 to 1, and one short answer. */
static void stream(struct bench *bench, int bytes, int times)
{
    MPI_Request request[WINDOW];
    int window = window_of(bytes);
    for (int i = 0; i < times; i++) {
        for (int k = 0; k < window; k++) {
            char *part = bench->buffer + (size_t)k * bytes;
            if (bench->rank == 0)
                MPI_Isend(part, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request[k]);
            else
                MPI_Irecv(part, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request[k]);
        }
        MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
        if (bench->rank == 0)
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
}

/* A window of messages in each direction. */
static void both_ways(struct bench *bench, int bytes, int times)
{
    MPI_Request request[2 * WINDOW];
    int window = window_of(bytes), peer = 1 - bench->rank;
    for (int i = 0; i < times; i++) {
        for (int k = 0; k < window; k++)
            MPI_Irecv(bench->other + (size_t)k * bytes, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request[k]);
        for (int k = 0; k < window; k++)
            MPI_Isend(bench->buffer + (size_t)k * bytes, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                      &request[window + k]);
        MPI_Waitall(2 * window, request, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 0, 8, 64, 512, 1024, 4096, 8192, 16384, 65536, 262144, 1 << 20, 1 << 22 };
    static const int exchanged[] = { 8, 1024, 16384, 65536 };
    enum { SIZES = sizeof sizes / sizeof *sizes, LONG = 6 }; /* streams are of 8 KiB and more */
    struct bench bench = bench_open(&argc, &argv);
    if (bench.size != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    bench_seconds(&bench, ping_pong, 0); /* so that the first figure is no colder than the rest */
    for (int i = 0; i < SIZES; i++)
        bench_print(&bench, "latency", sizes[i], 1e6 / 2 * bench_seconds(&bench, ping_pong, sizes[i]), "us");
    for (size_t i = 0; i < sizeof exchanged / sizeof *exchanged; i++) {
        int bytes = exchanged[i];
        bench_print(&bench, "sendrecv", bytes, 1e6 * bench_seconds(&bench, sendrecv, bytes), "us");
        bench_print(&bench, "exchange", bytes, 1e6 * bench_seconds(&bench, exchange, bytes), "us");
    }
    for (int i = LONG; i < SIZES; i++) {
        double bytes = (double)window_of(sizes[i]) * sizes[i];
        bench_print(&bench, "bandwidth", sizes[i], 1e-9 * bytes / bench_seconds(&bench, stream, sizes[i]), "GB/s");
    }
    for (int i = LONG; i < SIZES; i++) {
        double bytes = 2.0 * window_of(sizes[i]) * sizes[i];
        bench_print(&bench, "both ways", sizes[i], 1e-9 * bytes / bench_seconds(&bench, both_ways, sizes[i]), "GB/s");
    }
    bench_print(&bench, "rate", 8, 1e-6 * WINDOW / bench_seconds(&bench, stream, 8), "M/s");
    bench_close(&bench);
    return 0;
}
