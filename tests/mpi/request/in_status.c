/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_ERR_IN_STATUS (MPI-5.0 sections 3.2.5 and 3.7.5). Functions that complete several operations put the error of
 * each into its status if, and only if, one of them failed; otherwise MPI_ERROR keeps its value. An error handler gets
 * the error of the request, not MPI_ERR_IN_STATUS (section 9.3.1).
 */
#include "mtest.h"

enum { COUNT = 5, BAD = 2, KEPT = 987654 };
enum way { WAITALL, TESTALL, WAITSOME, WAYS };

static int data[COUNT][4], out[4] = { 1, 2, 3, 4 };
static MPI_Request requests[COUNT];
static MPI_Status statuses[COUNT];

/* All messages have come after the barrier: the process sends to itself. */
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
    case WAITALL: return MPI_Waitall(COUNT, requests, statuses);
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

static int told, told_code;
static MPI_Comm told_comm;

static void handler(MPI_Comm *comm, int *code, ...)
{
    told++;
    told_code = *code;
    told_comm = *comm;
}

/* The first failure counts, and its message is kept. */
static void told_to_handler(void)
{
    MPI_Errhandler mine;
    char text[MPI_MAX_ERROR_STRING];
    int length;
    CHECK_OK(MPI_Comm_create_errhandler(handler, &mine));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine));
    for (enum way way = 0; way < WAYS; way++) {
        told = 0;
        start(BAD);
        CHECK_CLASS(complete(way), MPI_ERR_IN_STATUS);
        CHECK(told == 1 && told_comm == MPI_COMM_WORLD);
        CHECK_CLASS(told_code, MPI_ERR_TRUNCATE);
        CHECK(told_code == statuses[BAD].MPI_ERROR);
        CHECK_OK(MPI_Error_string(told_code, text, &length));
        CHECK(strstr(text, "with tag 2 is longer than the receive buffer") != NULL);
    }
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Errhandler_free(&mine));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    told_to_handler();
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

    /* Ignored statuses do not hide the error. */
    start(BAD);
    CHECK_CLASS(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    MTEST_END;
}
