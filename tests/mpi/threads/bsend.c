/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads share one attached buffer (MPI-5.0 sections 3.6 and 11.6): their buffered sends allocate and release space
 * while another thread flushes, and no message is lost or mixed up.
 */
/* seconds: 300 */
#include <pthread.h>
#include <stdint.h>

#include "mtest.h"
#include "pattern.h"

enum { THREADS = 4, MESSAGES = 100, BYTES = 3000 };

static void *work(void *argument)
{
    int number = (int)(intptr_t)argument, to = (mtest_rank + 1) % mtest_size,
        from = (mtest_rank + mtest_size - 1) % mtest_size;
    unsigned char data[BYTES];
    for (int n = 0; n < MESSAGES; n++) {
        pattern_fill(data, BYTES, (uint64_t)(mtest_rank + number * MESSAGES + n));
        CHECK_OK(MPI_Bsend(data, BYTES - n, MPI_BYTE, to, number, MPI_COMM_WORLD));
        CHECK_OK(MPI_Recv(data, BYTES, MPI_BYTE, from, number, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(pattern_holds(data, (size_t)(BYTES - n), (uint64_t)(from + number * MESSAGES + n)));
        if (number == 0 && n % 10 == 0)
            CHECK_OK(MPI_Buffer_flush());
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE)
        return 77;
    pthread_t threads[THREADS];
    int size;
    void *back;
    CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == MPI_BUFFER_AUTOMATIC);
    MTEST_END;
}
