/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Init does not wait for other ranks. Ranks that initialize late get all messages that were sent to them before, in
 * order: short, long and synchronous ones. Receives posted for their messages are satisfied.
 */
#include <unistd.h>

#include "mtest.h"
#include "pattern.h"

enum { MESSAGES = 60, LONGEST = 100000 };
static int bytes_of(int n)
{
    return n % 7 == 3 ? LONGEST - n : n % 200;
}

int main(int argc, char **argv)
{
    /* Whether a rank is late must be known before MPI_Init: its process id decides. */
    if (getpid() % 2)
        usleep(400000);
    MTEST_INIT(argc, argv);
    unsigned char *out = malloc((size_t)MESSAGES * LONGEST), *in = malloc(LONGEST);
    MPI_Request *requests = malloc((size_t)mtest_size * MESSAGES * sizeof *requests), hello;
    int from_next = -1, next = (mtest_rank + 1) % mtest_size, previous = (mtest_rank + mtest_size - 1) % mtest_size;

    CHECK_OK(MPI_Irecv(&from_next, 1, MPI_INT, next, 1000, MPI_COMM_WORLD, &hello));
    for (int n = 0; n < MESSAGES; n++) {
        pattern_fill(out + (size_t)n * LONGEST, (size_t)bytes_of(n), (uint64_t)(mtest_rank * MESSAGES + n));
        for (int to = 0; to < mtest_size; to++)
            CHECK_OK((n % 5 ? MPI_Isend : MPI_Issend)(out + (size_t)n * LONGEST, bytes_of(n), MPI_BYTE, to, 1,
                                                      MPI_COMM_WORLD, &requests[n * mtest_size + to]));
    }
    CHECK_OK(MPI_Send(&mtest_rank, 1, MPI_INT, previous, 1000, MPI_COMM_WORLD));
    for (int n = 0; n < MESSAGES; n++)
        for (int from = 0; from < mtest_size; from++) {
            MPI_Status status;
            int count;
            CHECK_OK(MPI_Recv(in, LONGEST, MPI_BYTE, from, 1, MPI_COMM_WORLD, &status));
            MPI_Get_count(&status, MPI_BYTE, &count);
            CHECK(count == bytes_of(n) && pattern_holds(in, (size_t)count, (uint64_t)(from * MESSAGES + n)));
        }
    CHECK_OK(MPI_Waitall(mtest_size * MESSAGES, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Wait(&hello, MPI_STATUS_IGNORE));
    CHECK(from_next == next);
    free(requests);
    free(in);
    free(out);
    MTEST_END;
}
