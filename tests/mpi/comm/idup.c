/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_idup (MPI-5.0 section 7.4.2): several are outstanding on one communicator, among messages and other
 * nonblocking collectives, and complete in any order. Each creates a separate communicator, usable once its request is
 * complete. A rank that comes late does not block the calls of the others.
 */
#include <unistd.h>

#include "mtest.h"

enum { COPIES = 6 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    int in[COPIES], out[COPIES], sum = -1, one = 1;
    MPI_Comm copies[COPIES];
    MPI_Request requests[COPIES], sends[COPIES], recvs[COPIES], reduction;

    if (mtest_rank == mtest_size - 1)
        usleep(200000);
    for (int i = 0; i < COPIES; i++) {
        CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]));
        if (i == 2)
            CHECK_OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &reduction));
    }
    for (int i = COPIES - 1; i >= 0; i--)
        CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&reduction, MPI_STATUS_IGNORE));
    CHECK(sum == mtest_size);

    for (int i = 0; i < COPIES; i++) {
        out[i] = 100 * i + mtest_rank;
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, to, 0, copies[i], &sends[i]));
    }
    for (int i = COPIES - 1; i >= 0; i--)
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, from, 0, copies[i], &recvs[i]));
    CHECK_OK(MPI_Waitall(COPIES, recvs, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Waitall(COPIES, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COPIES; i++) {
        CHECK(in[i] == 100 * i + from);
        CHECK_OK(MPI_Comm_free(&copies[i]));
    }
    MTEST_END;
}
