/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cancelling receives (MPI-5.0 section 3.8.4). Cancelling a posted receive leaves its buffer untouched and marks its
 * status. A receive that has its message completes normally. Other receives of the same tag keep their order. A
 * persistent receive can be started again.
 */
#include "mtest.h"

static int was_cancelled(MPI_Request *request)
{
    MPI_Status status;
    int cancelled = -1;
    CHECK_OK(MPI_Wait(request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    return cancelled;
}

static void one(int to, int from)
{
    int data[3] = { -1, -1, -1 }, out[2] = { mtest_rank, mtest_rank + 1 };
    MPI_Request requests[3];
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Irecv(&data[i], 1, MPI_INT, from, 1, MPI_COMM_WORLD, &requests[i]));
    CHECK_OK(MPI_Cancel(&requests[1]));
    CHECK(was_cancelled(&requests[1]));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Send(&out[0], 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Send(&out[1], 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
    CHECK(data[0] == from && data[1] == -1 && data[2] == from + 1);
}

static void too_late(int to, int from)
{
    int data = -1, done = 0;
    MPI_Request request;
    CHECK_OK(MPI_Irecv(&data, 1, MPI_INT, from, 2, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Send(&mtest_rank, 1, MPI_INT, to, 2, MPI_COMM_WORLD));
    while (!done)
        CHECK_OK(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Cancel(&request));
    CHECK(!was_cancelled(&request));
    CHECK(data == from);
}

static void persistent(int to, int from)
{
    int data = -1;
    MPI_Request request;
    CHECK_OK(MPI_Recv_init(&data, 1, MPI_INT, from, 3, MPI_COMM_WORLD, &request));
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Cancel(&request));
        CHECK(was_cancelled(&request));
        CHECK(request != MPI_REQUEST_NULL);
    }
    CHECK_OK(MPI_Start(&request));
    MPI_Barrier(MPI_COMM_WORLD); /* no message arrives in between */
    CHECK_OK(MPI_Send(&mtest_rank, 1, MPI_INT, to, 3, MPI_COMM_WORLD));
    CHECK(!was_cancelled(&request));
    CHECK(data == from);
    CHECK_OK(MPI_Request_free(&request));
}

/* The handle may be freed right after the cancel. */
static void cancel_and_free(void)
{
    int data = -1;
    MPI_Request request;
    CHECK_OK(MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    one(to, from);
    too_late(to, from);
    persistent(to, from);
    cancel_and_free();
    MTEST_END;
}
