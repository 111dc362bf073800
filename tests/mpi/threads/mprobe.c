/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many threads take messages of unknown length from any source (MPI-5.0 section 3.8.2, what matched probes are for).
 * Each message reaches one thread, with its own data, and none is lost.
 */
/* seconds: 300 */
#include <pthread.h>
#include <stdint.h>

#include "mtest.h"
#include "pattern.h"

enum { THREADS = 4, MESSAGES = 200, LONGEST = 20000 };

static _Atomic int taken, *seen;
static int expected;

static int bytes_of(int n)
{
    return 4 + (n * 977) % LONGEST;
}

/* The message number stands in front of the data. */
static void *take(void *unused)
{
    while (atomic_fetch_add(&taken, 1) < expected) {
        MPI_Message message;
        MPI_Status status;
        int count, n;
        CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
        unsigned char *in = malloc((size_t)count);
        CHECK_OK(MPI_Mrecv(in, count, MPI_BYTE, &message, MPI_STATUS_IGNORE));
        memcpy(&n, in, sizeof n);
        if (CHECK(n >= 0 && n < MESSAGES && count == 4 + bytes_of(n)))
            CHECK(pattern_holds(in + 4, (size_t)bytes_of(n), (uint64_t)(status.MPI_SOURCE + n)) &&
                  atomic_fetch_add(&seen[status.MPI_SOURCE * MESSAGES + n], 1) == 0);
        free(in);
    }
    return unused;
}

int main(int argc, char **argv)
{
    if (mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE)
        return 77;
    pthread_t threads[THREADS];
    unsigned char *out = malloc(LONGEST + 8);
    expected = mtest_size * MESSAGES;
    seen = calloc((size_t)expected, sizeof *seen);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, take, NULL) == 0);
    for (int n = 0; n < MESSAGES; n++)
        for (int to = 0; to < mtest_size; to++) {
            memcpy(out, &n, sizeof n);
            pattern_fill(out + 4, (size_t)bytes_of(n), (uint64_t)(mtest_rank + n));
            CHECK_OK(MPI_Send(out, 4 + bytes_of(n), MPI_BYTE, to, n % 7, MPI_COMM_WORLD));
        }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < expected; i++)
        CHECK(seen[i] == 1);
    free(seen);
    free(out);
    MTEST_END;
}
