/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tags go from 0 to MPI_TAG_UB (MPI-5.0 sections 3.2.3 and 9.1.2), and two that differ in one bit anywhere are
 * different tags.
 */
#include "mtest.h"

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int *upper = NULL, found = 0, tags[40], n = 0;
    MPI_Request requests[40];
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &found));
    if (!CHECK(found && *upper >= 32767))
        MPI_Abort(MPI_COMM_WORLD, 1);

    tags[n++] = 0;
    for (int bit = 0; bit < 31 && 1 << bit <= *upper; bit++)
        tags[n++] = 1 << bit;
    tags[n++] = *upper;
    for (int i = 0; i < n; i++)
        CHECK_OK(MPI_Isend(&tags[i], 1, MPI_INT, to, tags[i], MPI_COMM_WORLD, &requests[i]));
    for (int i = n - 1; i >= 0; i--) {
        int got = -1;
        MPI_Status status;
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, from, tags[i], MPI_COMM_WORLD, &status));
        CHECK(got == tags[i] && status.MPI_TAG == tags[i]);
    }
    CHECK_OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
    MTEST_END;
}
