/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_ERR_IN_STATUS (MPI-5.0 sections 3.2.5 and 3.7.5): functions that complete several operations put the error of
 * each into its status if, and only if, one of them failed; otherwise MPI_ERROR keeps what it held.
 */
#include "mtest.h"

enum { COUNT = 5, BAD = 2, KEPT = 987654 };
enum way { WAITALL, TESTALL, WAITSOME, WAYS };

static int data[COUNT][4], out[4] = { 1, 2, 3, 4 };
static MPI_Request requests[COUNT];
static MPI_Status statuses[COUNT];

/* All have come when the barrier is passed: sends to oneself. */
static void start(int bad)
{
    memset(data, 0, sizeof data);
    for (int i = 0; i < COUNT; i++) {
        statuses[i].MPI_ERROR = KEPT;
        CHECK_OK(MPI_Irecv(data[i], i == bad ? 3 : 4, MPI_INT, mtest_rank, i, MPI_COMM_WORLD, &requests[i]));
    }
    for (int i = 0; i < COUNT; i++)
        CHECK_OK(MPI_Send(out, 4, MPI_INT, mtest_rank, i, MPI_COMM_WORLD));
}

static int complete(enum way way)
{
    int flag = 0, indices[COUNT], count = 0, rc = MPI_SUCCESS;
    switch (way) {
    case WAITALL:
        return MPI_Waitall(COUNT, requests, statuses);
    case TESTALL:
        while (!flag && rc == MPI_SUCCESS)
            rc = MPI_Testall(COUNT, requests, &flag, statuses);
        return rc;
    default:
        rc = MPI_Waitsome(COUNT, requests, &count, indices, statuses);
        CHECK(count == COUNT);
        return rc;
    }
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (enum way way = 0; way < WAYS; way++) {
        start(BAD);
        CHECK_CLASS(complete(way), MPI_ERR_IN_STATUS);
        for (int i = 0; i < COUNT; i++) {
            CHECK_CLASS(statuses[i].MPI_ERROR, i == BAD ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
            CHECK(statuses[i].MPI_TAG == i && requests[i] == MPI_REQUEST_NULL);
            CHECK(data[i][0] == 1 && data[i][2] == 3 && data[i][3] == (i == BAD ? 0 : 4));
        }
        start(-1);
        CHECK_OK(complete(way));
        for (int i = 0; i < COUNT; i++)
            CHECK(statuses[i].MPI_ERROR == KEPT && statuses[i].MPI_TAG == i);
    }

    /* One operation: the error is the return value, and the field is left alone. */
    start(0);
    CHECK_CLASS(MPI_Wait(&requests[0], &statuses[0]), MPI_ERR_TRUNCATE);
    CHECK(statuses[0].MPI_ERROR == KEPT);
    CHECK_CLASS(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);

    /* Statuses that nobody wants do not hide the error. */
    start(BAD);
    CHECK_CLASS(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    MTEST_END;
}
