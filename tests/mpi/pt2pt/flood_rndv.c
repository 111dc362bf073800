/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages from every rank are unexpected at rank 0 at the same time. Rank 0 receives them in an order other than
 * that of their arrival: last tag first, by source.
 */
#include "mtest.h"
#include "pattern.h"

enum { MESSAGES = 6, BYTES = 400000 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Request requests[MESSAGES];
    unsigned char *out = malloc((size_t)MESSAGES * BYTES), *in = malloc(BYTES);

    for (int n = 0; n < MESSAGES; n++) {
        pattern_fill(out + (size_t)n * BYTES, BYTES, (uint64_t)(mtest_rank * MESSAGES + n));
        CHECK_OK(MPI_Isend(out + (size_t)n * BYTES, BYTES, MPI_BYTE, 0, n, MPI_COMM_WORLD, &requests[n]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int n = MESSAGES - 1; n >= 0 && mtest_rank == 0; n--)
        for (int from = mtest_size - 1; from >= 0; from--) {
            CHECK_OK(MPI_Recv(in, BYTES, MPI_BYTE, from, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(pattern_holds(in, BYTES, (uint64_t)(from * MESSAGES + n)));
        }
    CHECK_OK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
    free(in);
    free(out);
    MTEST_END;
}
