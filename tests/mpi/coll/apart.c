/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives and blocking ones do not match each other (MPI-5.0 section 6.12). One rank starts its
 * reduction before a barrier, the others after it: the standard does not allow it, but programs do it, and it works
 * elsewhere.
 */
#include "mtest.h"

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    for (int round = 0; round < 8; round++) {
        int root = round % mtest_size, mine = mtest_rank == root ? 11 : 13, all = -1;
        MPI_Request request;
        if (mtest_rank == root)
            CHECK_OK(MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_BAND, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (mtest_rank != root)
            CHECK_OK(MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_BAND, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(all == (mtest_size == 1 ? 11 : 9));
    }
    MTEST_END;
}
