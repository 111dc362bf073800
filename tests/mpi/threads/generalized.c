/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generalized requests completed by another thread (MPI-5.0 section 13.2) end every kind of waiting in the first
 * thread, alone and among messages. A request that is freed while the other thread completes it runs its free function
 * once.
 */
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "mtest.h"

enum { ROUNDS = 40 };

struct job {
    MPI_Request request;
    _Atomic int freed;
};

static int query(void *state, MPI_Status *status)
{
    (void)state;
    status->MPI_TAG = 5;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    atomic_fetch_add(&((struct job *)state)->freed, 1);
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void *complete(void *argument)
{
    struct job *job = argument;
    MPI_Request request = job->request;
    usleep(1000);
    CHECK_OK(MPI_Grequest_complete(request));
    return NULL;
}

static void wait_in(int way, MPI_Request *request)
{
    MPI_Request requests[2] = { MPI_REQUEST_NULL, *request };
    MPI_Status status;
    int index = 1, flag = 0, out = 3, in = 0;
    switch (way) {
    case 0: CHECK_OK(MPI_Wait(&requests[1], &status)); break;
    case 1: CHECK_OK(MPI_Waitany(2, requests, &index, &status)); break;
    case 2:
        while (!flag)
            CHECK_OK(MPI_Test(&requests[1], &flag, &status));
        break;
    default:
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, mtest_rank, 1, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Send(&out, 1, MPI_INT, mtest_rank, 1, MPI_COMM_WORLD));
        CHECK_OK(MPI_Waitall(2, requests, (MPI_Status[2]){ { 0 } }));
        CHECK(in == 3);
        status.MPI_TAG = 5;
    }
    CHECK(index == 1 && status.MPI_TAG == 5 && requests[1] == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    if (mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE)
        return 77;
    for (int round = 0; round < ROUNDS; round++) {
        struct job job = { .request = MPI_REQUEST_NULL };
        pthread_t thread;
        CHECK_OK(MPI_Grequest_start(query, release, cancel, &job, &job.request));
        CHECK(pthread_create(&thread, NULL, complete, &job) == 0);
        if (round % 5 < 4) {
            MPI_Request mine = job.request;
            wait_in(round % 5, &mine);
        } else {
            MPI_Request mine = job.request;
            usleep((unsigned)round * 50);
            CHECK_OK(MPI_Request_free(&mine));
        }
        pthread_join(thread, NULL);
        CHECK(job.freed == 1);
    }
    MTEST_END;
}
