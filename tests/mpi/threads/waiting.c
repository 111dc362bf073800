/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE (MPI-5.0 section 11.6): many threads wait at once in all the ways there are, for messages that
 * come in another order than they wait. The thread that makes progress for all wakes the others.
 */
/* seconds: 300 */
#include <pthread.h>
#include <stdint.h>

#include "mtest.h"
#include "pattern.h"

enum { THREADS = 6, ROUNDS = 60, LONGEST = 70000 };

static int to, from;

static int bytes_of(int thread, int round)
{
    return (thread + round) % 5 == 0 ? LONGEST - round : 8 + thread;
}
static uint64_t seed(int rank, int thread, int round)
{
    return (uint64_t)(rank * 10000 + thread * 100 + round);
}

/* Receives one message with this thread's tag, in its own way. */
static void receive(int thread, unsigned char *in, MPI_Status *status)
{
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Message message;
    int index, flag = 0;
    switch (thread % 6) {
    case 0: CHECK_OK(MPI_Recv(in, LONGEST, MPI_BYTE, from, thread, MPI_COMM_WORLD, status)); return;
    case 1:
        CHECK_OK(MPI_Irecv(in, LONGEST, MPI_BYTE, from, thread, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Wait(&requests[0], status));
        return;
    case 2:
        CHECK_OK(MPI_Irecv(in, LONGEST, MPI_BYTE, MPI_ANY_SOURCE, thread, MPI_COMM_WORLD, &requests[1]));
        CHECK_OK(MPI_Waitany(2, requests, &index, status));
        CHECK(index == 1);
        return;
    case 3:
        CHECK_OK(MPI_Irecv(in, LONGEST, MPI_BYTE, from, thread, MPI_COMM_WORLD, &requests[0]));
        while (!flag)
            CHECK_OK(MPI_Test(&requests[0], &flag, status));
        return;
    case 4:
        CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, thread, MPI_COMM_WORLD, &message, status));
        CHECK_OK(MPI_Mrecv(in, LONGEST, MPI_BYTE, &message, status));
        return;
    default:
        CHECK_OK(MPI_Probe(from, thread, MPI_COMM_WORLD, status));
        CHECK_OK(MPI_Recv(in, LONGEST, MPI_BYTE, status->MPI_SOURCE, thread, MPI_COMM_WORLD, status));
    }
}

static void *receiver(void *argument)
{
    int thread = (int)(intptr_t)argument, count;
    unsigned char *in = malloc(LONGEST);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Status status;
        receive(thread, in, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(status.MPI_SOURCE == from && status.MPI_TAG == thread && count == bytes_of(thread, round));
        CHECK(pattern_holds(in, (size_t)count, seed(from, thread, round)));
    }
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    if (mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE)
        return 77;
    pthread_t threads[THREADS];
    unsigned char *out = malloc(LONGEST);
    to = (mtest_rank + 1) % mtest_size;
    from = (mtest_rank + mtest_size - 1) % mtest_size;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, receiver, (void *)(intptr_t)i) == 0);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = THREADS - 1; i >= 0; i--) {
            pattern_fill(out, (size_t)bytes_of(i, round), seed(mtest_rank, i, round));
            CHECK_OK(MPI_Send(out, bytes_of(i, round), MPI_BYTE, to, i, MPI_COMM_WORLD));
        }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    free(out);
    MTEST_END;
}
