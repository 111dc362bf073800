/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short sends may be complete when MPI_Isend returns, and may share one request. Waiting for one, testing, freeing or
 * cancelling it, or converting it to an integer does not affect the others.
 */
#include "mtest.h"

enum { COUNT = 12 };

static void check_status(const MPI_Status *status)
{
    int cancelled = 1, bytes = -1;
    MPI_Test_cancelled(status, &cancelled);
    MPI_Get_count(status, MPI_BYTE, &bytes);
    CHECK(!cancelled && bytes == 0);
}

static void receive_all(MPI_Comm comm, int from, int first)
{
    for (int i = 0; i < COUNT; i++) {
        int got = -1;
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, from, i, comm, MPI_STATUS_IGNORE));
        CHECK(got == first + i);
    }
}

/* Each of the twelve is released in another way. */
static void let_go(MPI_Request request[COUNT])
{
    MPI_Status status, statuses[3];
    int flag = 0, index = -1, indices[3], count = 0;
    CHECK_OK(MPI_Request_get_status(request[0], &flag, &status));
    if (flag)
        check_status(&status);
    CHECK_OK(MPI_Wait(&request[0], &status));
    check_status(&status);
    CHECK(request[0] == MPI_REQUEST_NULL);
    for (flag = 0; !flag;)
        CHECK_OK(MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE));
    CHECK(request[1] == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Request_free(&request[2]));
    CHECK(request[2] == MPI_REQUEST_NULL);
    MPI_Request named = MPI_Request_fromint(MPI_Request_toint(request[3]));
    CHECK(named == request[3]);
    CHECK_OK(MPI_Wait(&request[3], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Waitany(2, &request[4], &index, &status));
    check_status(&status);
    CHECK(index == 0 || index == 1);
    CHECK_OK(MPI_Waitall(2, &request[4], MPI_STATUSES_IGNORE));
    for (int done = 0; done < 3; done += count)
        CHECK_OK(MPI_Waitsome(3, &request[6], &count, indices, statuses));
    for (int i = 0; i < 9; i++)
        CHECK(request[i] == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Waitall(3, &request[9], statuses));
    for (int i = 0; i < 3; i++)
        check_status(&statuses[i]);
}

static void round_of(MPI_Comm comm, int first)
{
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, value[COUNT];
    MPI_Request request[COUNT];
    for (int i = 0; i < COUNT; i++) {
        value[i] = first + i;
        CHECK_OK(MPI_Isend(&value[i], 1, MPI_INT, to, i, comm, &request[i]));
        CHECK(request[i] != MPI_REQUEST_NULL);
    }
    receive_all(comm, from, first);
    let_go(request);
}

/* A request outlives the communicator that it was made for. */
static void after_the_communicator(void)
{
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, value = mtest_rank, got;
    MPI_Comm comm;
    MPI_Request request;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Isend(&value, 1, MPI_INT, to, 1, comm, &request));
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE));
        CHECK(got == from);
        if (i < 2)
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    for (int i = 0; i < 20; i++)
        round_of(MPI_COMM_WORLD, i * 100);
    after_the_communicator();
    MTEST_END;
}
