/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_dup, MPI_Comm_dup_with_info and MPI_Comm_idup (MPI-5.0 section 7.4.2): same group, new context. Messages of
 * one communicator are never received on the other, whatever their source and tag, also with wildcards and while both
 * wait.
 */
#include "mtest.h"

enum { COMMS = 4 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    int in[COMMS], out[COMMS], result, flag, rank, size;
    MPI_Comm comms[COMMS] = { MPI_COMM_WORLD };
    MPI_Request sends[COMMS], recvs[COMMS], made;

    CHECK_OK(MPI_Comm_dup(comms[0], &comms[1]));
    CHECK_OK(MPI_Comm_dup_with_info(comms[1], MPI_INFO_NULL, &comms[2]));
    CHECK_OK(MPI_Comm_idup(comms[2], &comms[3], &made));
    CHECK_OK(MPI_Wait(&made, MPI_STATUS_IGNORE));
    for (int i = 1; i < COMMS; i++) {
        CHECK_OK(MPI_Comm_rank(comms[i], &rank));
        CHECK_OK(MPI_Comm_size(comms[i], &size));
        CHECK_OK(MPI_Comm_compare(comms[0], comms[i], &result));
        CHECK(rank == mtest_rank && size == mtest_size && result == MPI_CONGRUENT);
    }

    /* Sent on all at once, received in the opposite order with wildcards: each receive gets its own message. */
    for (int i = 0; i < COMMS; i++) {
        out[i] = 10 * mtest_rank + i;
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, to, 1, comms[i], &sends[i]));
    }
    for (int i = COMMS - 1; i >= 0; i--) {
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &recvs[i]));
        CHECK_OK(MPI_Wait(&recvs[i], MPI_STATUS_IGNORE));
        CHECK(in[i] == 10 * from + i);
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
    }
    CHECK_OK(MPI_Waitall(COMMS, sends, MPI_STATUSES_IGNORE));
    for (int i = 1; i < COMMS; i++) {
        CHECK_OK(MPI_Comm_free(&comms[i]));
        CHECK(comms[i] == MPI_COMM_NULL);
    }
    MTEST_END;
}
