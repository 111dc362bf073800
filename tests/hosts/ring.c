/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job over several hosts: a ring, mixed sizes in both directions, an all-to-all of synchronous sends, reductions.
 * Every byte is checked; rank 0 prints one line, with the number of hosts.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "network.h"

static int rank, size;

static void check(int good, const char *what, long detail)
{
    if (good)
        return;
    fprintf(stderr, "rank %d: %s is wrong (%ld)\n", rank, what, detail);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static unsigned char byte_of(int source, int message, size_t i)
{
    return (unsigned char)(source * 57 + message * 131 + (int)i * 7 + (int)(i >> 8) * 3);
}

/* A number goes around, and each rank adds to it. */
static void ring(void)
{
    for (int round = 0; round < 50; round++) {
        int token = round;
        if (rank == 0) {
            MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check(token == round + size - 1, "the token of the ring", token);
        } else {
            MPI_Recv(&token, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token++;
            MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
        }
    }
}

static size_t size_of(int message)
{
    static const size_t sizes[] = { 0, 1, 8, 100, 1000, 8191, 8193, 20000, 65536, 65537, 150000, 1000003 };
    return sizes[message % 12];
}

/* Messages of all sizes to the right and from the left, posted at once: order and content. */
static void mixed(void)
{
    enum { MESSAGES = 60 };
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    unsigned char *out[MESSAGES], *in[MESSAGES];
    MPI_Request requests[2 * MESSAGES];
    MPI_Status statuses[2 * MESSAGES];
    for (int m = 0; m < MESSAGES; m++) {
        size_t bytes = size_of(m);
        out[m] = malloc(bytes + 1);
        in[m] = malloc(bytes + 1);
        for (size_t i = 0; i < bytes; i++)
            out[m][i] = byte_of(rank, m, i);
        MPI_Isend(out[m], (int)bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[m]);
    }
    for (int m = 0; m < MESSAGES; m++)
        MPI_Irecv(in[m], (int)size_of(m), MPI_BYTE, left, 2, MPI_COMM_WORLD, &requests[MESSAGES + m]);
    MPI_Waitall(2 * MESSAGES, requests, statuses);
    for (int m = 0; m < MESSAGES; m++) {
        int bytes;
        MPI_Get_count(&statuses[MESSAGES + m], MPI_BYTE, &bytes);
        check((size_t)bytes == size_of(m), "the length of a message", bytes);
        for (int i = 0; i < bytes; i++)
            check(in[m][i] == byte_of(left, m, (size_t)i), "a byte of a message", m);
        free(out[m]);
        free(in[m]);
    }
}

/* Every second int of an array to every rank, synchronously. */
static void strided(void)
{
    enum { COUNT = 30000 };
    int *mine = malloc(2 * COUNT * sizeof *mine), *theirs = malloc(COUNT * sizeof *theirs);
    MPI_Datatype every_second;
    MPI_Type_vector(COUNT, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < 2 * COUNT; i++)
        mine[i] = i & 1 ? -1 : rank * 1000000 + i / 2;
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size, from = (rank + size - step) % size;
        MPI_Request request;
        MPI_Issend(mine, 1, every_second, to, 3, MPI_COMM_WORLD, &request);
        MPI_Recv(theirs, COUNT, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++)
            check(theirs[i] == from * 1000000 + i, "an element of a strided message", i);
    }
    MPI_Type_free(&every_second);
    free(mine);
    free(theirs);
}

static void reduce(void)
{
    enum { COUNT = 10000 };
    static double in[COUNT], out[COUNT];
    for (int i = 0; i < COUNT; i++)
        in[i] = rank + i;
    MPI_Allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        check(out[i] == size * (size - 1) / 2.0 + (double)size * i, "an element of the sum", i);
}

/* A communicator of each host, and one of their lowest ranks. */
static int hosts(void)
{
    MPI_Comm node, heads;
    int node_rank, node_size, count = 0, sum = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_size(node, &node_size);
    MPI_Comm_split(MPI_COMM_WORLD, node_rank == 0 ? 0 : MPI_UNDEFINED, 0, &heads);
    if (heads != MPI_COMM_NULL) {
        MPI_Comm_size(heads, &count);
        MPI_Allreduce(&node_size, &sum, 1, MPI_INT, MPI_SUM, heads);
        check(sum == size, "the sum of the hosts' processes", sum);
        MPI_Comm_free(&heads);
    }
    MPI_Comm_free(&node);
    return count;
}

/* A session beside the World, with a communicator from a group. */
static void session(void)
{
    MPI_Session s;
    MPI_Group group;
    MPI_Comm comm;
    int sum, one = 1;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "tests/hosts/ring", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    check(sum == size, "the sum over the session's communicator", sum);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&s);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && strcmp(argv[1], "abort") == 0 && rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    ring();
    while (argc > 1 && strcmp(argv[1], "forever") == 0)
        ring();
    mixed();
    strided();
    reduce();
    int count = hosts();
    session();
    session();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks on %d hosts, %s the network: all data intact\n", size, count,
               uses_network() ? "with" : "without");
    MPI_Finalize();
    return 0;
}
