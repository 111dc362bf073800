/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every thread exchanges messages with the thread of the same index on the neighboring rank (MPI-5.0 section 11.6), on
 * a communicator of its own or on one that all share. Messages go in both directions, short and long, in order for each
 * pair.
 */
/* seconds: 300 */
#include <pthread.h>
#include <stdint.h>

#include "mtest.h"
#include "pattern.h"

enum { THREADS = 4, ROUNDS = 100, LONGEST = 40000 };

struct pair {
    int number;
    MPI_Comm comm;
};

static void *talk(void *argument)
{
    const struct pair *pair = argument;
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    unsigned char *out = malloc(LONGEST), *in = malloc(LONGEST);
    for (int round = 0; round < ROUNDS; round++) {
        int bytes = round % 10 == 9 ? LONGEST : 16 + round;
        MPI_Request requests[2];
        pattern_fill(out, (size_t)bytes, (uint64_t)(mtest_rank + 31 * pair->number + round));
        CHECK_OK(MPI_Irecv(in, LONGEST, MPI_BYTE, from, pair->number, pair->comm, &requests[0]));
        CHECK_OK(MPI_Isend(out, bytes, MPI_BYTE, to, pair->number, pair->comm, &requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(pattern_holds(in, (size_t)bytes, (uint64_t)(from + 31 * pair->number + round)));
    }
    free(in);
    free(out);
    return NULL;
}

static void run(struct pair *pairs)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, talk, &pairs[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    if (mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE)
        return 77;
    struct pair pairs[THREADS];
    for (int i = 0; i < THREADS; i++)
        pairs[i] = (struct pair){ i, MPI_COMM_WORLD };
    run(pairs);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &pairs[i].comm);
    run(pairs);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&pairs[i].comm);
    MTEST_END;
}
