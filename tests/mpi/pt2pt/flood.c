/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every rank sends thousands of messages to rank 0, which receives nothing until all small ones are sent. Unexpected
 * messages are kept without limit, intact and in order for each sender. No message goes to another rank.
 */
#include "mtest.h"
#include "pattern.h"

enum { MESSAGES = 2000, BYTES = 300 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    static MPI_Request requests[MESSAGES];
    static unsigned char out[MESSAGES][BYTES], in[BYTES];
    int *next = calloc((size_t)mtest_size, sizeof *next);

    for (int n = 0; n < MESSAGES; n++) {
        pattern_fill(out[n], BYTES, (uint64_t)(mtest_rank * MESSAGES + n));
        CHECK_OK(MPI_Isend(out[n], n % BYTES, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &requests[n]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (long left = mtest_rank == 0 ? (long)mtest_size * MESSAGES : 0; left > 0; left--) {
        MPI_Status status;
        int count;
        CHECK_OK(MPI_Recv(in, BYTES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        MPI_Get_count(&status, MPI_BYTE, &count);
        int from = status.MPI_SOURCE, n = next[from]++;
        CHECK(count == n % BYTES && pattern_holds(in, (size_t)count, (uint64_t)(from * MESSAGES + n)));
    }
    CHECK_OK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
    free(next);
    MTEST_END;
}
