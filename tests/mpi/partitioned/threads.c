/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads share a partitioned send and a partitioned receive. Each thread makes its partitions ready, in no order, and
 * uses those of another process as they arrive, while the main thread waits for both requests; again and again.
 */
#include "mtest.h"
#include "pattern.h"

#include <pthread.h>

enum { THREADS = 4, SENT = 24, RECEIVED = 16, BYTES = 48 * 1024, TIMES = 12 };

static unsigned char out[BYTES], in[BYTES];
static MPI_Request requests[2];
static int last;
static pthread_barrier_t barrier;

static void *work(void *argument)
{
    int self = (int)(intptr_t)argument;
    for (int time = 0; time < TIMES; time++) {
        pthread_barrier_wait(&barrier); /* started */
        for (int i = self; i < SENT; i += THREADS) {
            int each = BYTES / SENT;
            for (int k = i * each; k < (i + 1) * each; k++)
                out[k] = pattern_byte((uint64_t)(mtest_rank * 100 + time), (size_t)k);
            CHECK_OK(MPI_Pready(i, requests[0]));
        }
        for (int i = RECEIVED - 1 - self; i >= 0; i -= THREADS) {
            int each = BYTES / RECEIVED, flag = 0, rc = MPI_SUCCESS, good = 1;
            while (!flag && rc == MPI_SUCCESS)
                rc = MPI_Parrived(requests[1], i, &flag);
            CHECK_OK(rc);
            for (int k = i * each; k < (i + 1) * each; k++)
                good &= in[k] == pattern_byte((uint64_t)(last * 100 + time), (size_t)k);
            CHECK(good);
        }
        pthread_barrier_wait(&barrier); /* used */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided = mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    int next = (mtest_rank + 1) % mtest_size;
    last = (mtest_rank + mtest_size - 1) % mtest_size;
    pthread_t threads[THREADS];
    CHECK_OK(MPI_Psend_init(out, SENT, BYTES / SENT, MPI_BYTE, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(
        MPI_Precv_init(in, RECEIVED, BYTES / RECEIVED, MPI_BYTE, last, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    for (int time = 0; time < TIMES; time++) {
        CHECK_OK(MPI_Startall(2, requests));
        pthread_barrier_wait(&barrier);
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        pthread_barrier_wait(&barrier);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    MTEST_END;
}
