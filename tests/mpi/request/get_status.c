/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Request_get_status (MPI-5.0 section 3.7.6) reports whether an operation is complete, makes progress, and does not
 * change the request: further calls give the same, and the request must still be waited for. Null and inactive requests
 * are complete and empty.
 */
#include "mtest.h"

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, data[3] = { -1 },
        flag = 1, count;
    int out[3] = { mtest_rank, 5, 6 };
    MPI_Request request, null = MPI_REQUEST_NULL, inactive;
    MPI_Status status;

    CHECK_OK(MPI_Irecv(data, 3, MPI_INT, from, 1, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Send(out, 3, MPI_INT, to, 1, MPI_COMM_WORLD));
    for (flag = 0; !flag;)
        CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    for (int again = 0; again < 3; again++) {
        CHECK_OK(MPI_Request_get_status(request, &flag, &status));
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(flag && status.MPI_SOURCE == from && status.MPI_TAG == 1 && count == 3 && data[0] == from);
    }
    CHECK(request != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(request == MPI_REQUEST_NULL);

    CHECK_OK(MPI_Request_get_status(null, &flag, &status));
    CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG &&
          status.MPI_ERROR == MPI_SUCCESS);
    CHECK_OK(MPI_Recv_init(data, 3, MPI_INT, from, 2, MPI_COMM_WORLD, &inactive));
    CHECK_OK(MPI_Request_get_status(inactive, &flag, &status));
    CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE);
    CHECK_OK(MPI_Request_free(&inactive));
    MTEST_END;
}
