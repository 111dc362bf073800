/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: target serve STOP | target call PORT
 *
 * "serve" prints the name of a port of the network. Its ranks exchange data, every byte of which is checked, and accept
 * callers, until the file STOP is there and each caller has been served. "call" connects, and checks data both ways.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 30000 };

static int rank, size, bad;

static int element(int from, int to, int i)
{
    return from * 1000003 + to * 10007 + i * 7;
}

static void expect(int good, const char *what)
{
    if (!good)
        fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
    bad |= !good;
}

static void exchange(int count)
{
    int *out = malloc((size_t)(count * size) * sizeof *out), *in = malloc((size_t)(count * size) * sizeof *in), good = 1;
    for (int peer = 0; peer < size; peer++)
        for (int i = 0; i < count; i++)
            out[peer * count + i] = element(rank, peer, i);
    MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
    for (int peer = 0; peer < size; peer++)
        for (int i = 0; i < count; i++)
            good &= in[peer * count + i] == element(peer, rank, i);
    expect(good, "what the others sent");
    free(out);
    free(in);
}

/* Each rank of one side talks to the rank of the other that has its number, as far as there is one. */
static void talk(MPI_Comm other)
{
    int remote, *out = malloc(COUNT * sizeof *out), *in = malloc(COUNT * sizeof *in), good = 1;
    MPI_Comm_remote_size(other, &remote);
    for (int i = 0; i < COUNT; i++)
        out[i] = element(rank, rank, i);
    if (rank < remote) {
        MPI_Sendrecv(out, COUNT, MPI_INT, rank, 1, in, COUNT, MPI_INT, rank, 1, other, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++)
            good &= in[i] == out[i];
    }
    expect(good, "what the other job sent");
    free(out);
    free(in);
    MPI_Comm_disconnect(&other);
}

/* Takes one caller, if there is one. */
static void serve_caller(const char *port, MPI_Info brief)
{
    MPI_Comm other;
    if (MPI_Comm_accept(port, brief, 0, MPI_COMM_WORLD, &other) == MPI_SUCCESS)
        talk(other);
}

static void serve(const char *stop)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Info info, brief;
    int ended = 0, calls = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "plenum_scope", "network");
    MPI_Info_create(&brief);
    MPI_Info_set(brief, "timeout", "0.05");
    if (rank == 0) {
        MPI_Open_port(info, port);
        printf("%s\n", port);
        fflush(stdout);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (!ended) {
        exchange(1 + calls++ % 3 * 10000);
        serve_caller(port, brief);
        ended = access(stop, F_OK) == 0;
        MPI_Bcast(&ended, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        MPI_Close_port(port);
    MPI_Info_free(&info);
    MPI_Info_free(&brief);
}

static void call(const char *port)
{
    MPI_Comm other;
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    talk(other);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc == 3 && strcmp(argv[1], "serve") == 0)
        serve(argv[2]);
    else if (argc == 3)
        call(argv[2]);
    int any;
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0 && !any)
        printf("all data intact\n");
    MPI_Finalize();
    return bad;
}
