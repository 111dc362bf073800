/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Request_get_status_any, _some and _all (MPI-5.0 section 3.7.6): like Testany, Testsome and Testall, but the
 * requests stay as they are, so that the same call gives the same answer again.
 */
#include "mtest.h"

enum { COUNT = 6, KEPT = -77 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int data[COUNT], index = 0, flag = 1, outcount = -1, indices[COUNT];
    MPI_Request requests[COUNT], before[COUNT];
    MPI_Status status, statuses[COUNT];

    for (int i = 0; i < COUNT; i++)
        CHECK_OK(MPI_Irecv(&data[i], 1, MPI_INT, mtest_rank, i, MPI_COMM_WORLD, &requests[i]));
    memcpy(before, requests, sizeof before);
    CHECK_OK(MPI_Request_get_status_any(COUNT, requests, &index, &flag, &status));
    CHECK(!flag && index == MPI_UNDEFINED);
    CHECK_OK(MPI_Request_get_status_some(COUNT, requests, &outcount, indices, statuses));
    CHECK(outcount == 0);
    CHECK_OK(MPI_Request_get_status_all(COUNT, requests, &flag, statuses));
    CHECK(!flag);

    for (int i = COUNT - 1; i >= 4; i--)
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, mtest_rank, i, MPI_COMM_WORLD));
    for (int i = 0; i < COUNT; i++)
        statuses[i].MPI_ERROR = KEPT;
    for (int again = 0; again < 2; again++) {
        CHECK_OK(MPI_Request_get_status_any(COUNT, requests, &index, &flag, &status));
        CHECK(flag && index >= 4 && status.MPI_TAG == index && data[index] == index);
        CHECK_OK(MPI_Request_get_status_some(COUNT, requests, &outcount, indices, statuses));
        CHECK(outcount == 2 && indices[0] + indices[1] == 9);
        CHECK(statuses[0].MPI_TAG == indices[0] && statuses[1].MPI_TAG == indices[1]);
        CHECK_OK(MPI_Request_get_status_all(COUNT, requests, &flag, statuses));
        CHECK(!flag);
    }
    for (int i = 0; i < 4; i++)
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, mtest_rank, i, MPI_COMM_WORLD));
    CHECK_OK(MPI_Request_get_status_all(COUNT, requests, &flag, statuses));
    CHECK(flag && memcmp(before, requests, sizeof before) == 0);
    for (int i = 0; i < COUNT; i++)
        CHECK(statuses[i].MPI_SOURCE == mtest_rank && statuses[i].MPI_TAG == i && statuses[i].MPI_ERROR == KEPT);
    CHECK_OK(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));

    CHECK_OK(MPI_Request_get_status_any(COUNT, requests, &index, &flag, &status));
    CHECK(flag && index == MPI_UNDEFINED && status.MPI_SOURCE == MPI_ANY_SOURCE);
    CHECK_OK(MPI_Request_get_status_some(COUNT, requests, &outcount, indices, statuses));
    CHECK(outcount == MPI_UNDEFINED);
    CHECK_OK(MPI_Request_get_status_all(COUNT, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    MTEST_END;
}
