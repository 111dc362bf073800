/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages are received by tag in an order other than that of sending (MPI-5.0 section 3.5): of those that match, the
 * first sent is the first received, however many of other tags precede it.
 */
#include "mtest.h"

enum { TAGS = 20, EACH = 50 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    static int out[TAGS * EACH][2];
    static MPI_Request requests[TAGS * EACH];

    for (int n = 0; n < TAGS * EACH; n++) {
        out[n][0] = mtest_rank;
        out[n][1] = n / TAGS; /* its index among those of its tag */
        CHECK_OK(MPI_Isend(out[n], 2, MPI_INT, to, n % TAGS, MPI_COMM_WORLD, &requests[n]));
    }
    for (int tag = TAGS - 1; tag >= 0; tag--)
        for (int n = 0; n < EACH; n++) {
            int in[2] = { -1, -1 };
            MPI_Status status;
            CHECK_OK(MPI_Recv(in, 2, MPI_INT, from, tag, MPI_COMM_WORLD, &status));
            CHECK(in[0] == from && in[1] == n && status.MPI_TAG == tag);
        }
    CHECK_OK(MPI_Waitall(TAGS * EACH, requests, MPI_STATUSES_IGNORE));
    MTEST_END;
}
