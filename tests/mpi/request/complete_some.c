/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Waitany, Testany, Waitsome, Testsome and Testall over arrays with null, inactive persistent, complete and
 * incomplete requests (MPI-5.0 section 3.7.5). Each operation is reported once, with its index and status.
 * MPI_UNDEFINED means that nothing is left to wait for.
 */
#include "mtest.h"

enum { RECEIVES = 12, ALL = RECEIVES + 3 };
enum way { WAITANY, TESTANY, WAITSOME, TESTSOME, WAYS };

static MPI_Request requests[ALL];
static int data[ALL], seen[ALL];

static void note(int index, MPI_Status *status, int from)
{
    if (!CHECK(index >= 0 && index < ALL && status->MPI_SOURCE == from && status->MPI_TAG == index &&
               data[index] == index * 3))
        return;
    CHECK(seen[index]++ == 0);
    CHECK(requests[index] == MPI_REQUEST_NULL);
}

/* One call; returns the number of operations that it reported, or MPI_UNDEFINED. */
static int call(enum way way, int from)
{
    int index = -5, flag = 1, count = 0, indices[ALL];
    MPI_Status status, statuses[ALL];
    switch (way) {
    case WAITANY:
    case TESTANY:
        if (way == WAITANY)
            CHECK_OK(MPI_Waitany(ALL, requests, &index, &status));
        else
            CHECK_OK(MPI_Testany(ALL, requests, &index, &flag, &status));
        if (index == MPI_UNDEFINED)
            return flag ? MPI_UNDEFINED : 0;
        note(index, &status, from);
        return 1;
    default:
        if (way == WAITSOME)
            CHECK_OK(MPI_Waitsome(ALL, requests, &count, indices, statuses));
        else
            CHECK_OK(MPI_Testsome(ALL, requests, &count, indices, statuses));
        for (int i = 0; i < count; i++)
            note(indices[i], &statuses[i], from);
        return count;
    }
}

static void run(enum way way, int to, int from)
{
    MPI_Request sends[RECEIVES];
    int flag = 1, value[RECEIVES], got = 0;
    memset(seen, 0, sizeof seen);
    requests[RECEIVES] = requests[RECEIVES + 1] = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Recv_init(&data[RECEIVES + 2], 1, MPI_INT, from, 99, MPI_COMM_WORLD,
                           &requests[RECEIVES + 2])); /* never started */
    for (int i = 0; i < RECEIVES; i++)
        CHECK_OK(MPI_Irecv(&data[i], 1, MPI_INT, from, i, MPI_COMM_WORLD, &requests[i]));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Testall(ALL, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(!flag && requests[0] != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = RECEIVES - 1; i >= 0; i--) {
        value[i] = i * 3;
        CHECK_OK(MPI_Isend(&value[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &sends[i]));
    }
    while (got < RECEIVES) {
        int now = call(way, from);
        if (!CHECK(now != MPI_UNDEFINED))
            break;
        got += now;
    }
    CHECK(call(way, from) == MPI_UNDEFINED);
    CHECK_OK(MPI_Testall(ALL, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    CHECK_OK(MPI_Waitall(RECEIVES, sends, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Request_free(&requests[RECEIVES + 2]));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, index = 0, flag = 0;
    MPI_Status status;
    for (enum way way = 0; way < WAYS; way++)
        run(way, to, from);

    memset(&status, 0x77, sizeof status);
    CHECK_OK(MPI_Waitany(0, NULL, &index, &status));
    CHECK(index == MPI_UNDEFINED && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    CHECK_OK(MPI_Testany(0, NULL, &index, &flag, &status));
    CHECK(index == MPI_UNDEFINED && flag);
    MTEST_END;
}
