/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of nonblocking and persistent collectives under way at a time, on one communicator and on many, which are
 * waited for in any order (MPI-5.0 section 6.12). A rank may be far behind the others.
 */
/* ranks: 1 2 3 7 */
/* seconds: 300 */
#include "mtest.h"

enum { MANY = 3000, KINDS = 4, COMMS = 100 };

static MPI_Request requests[MANY];
static int in[MANY], out[MANY], all[MANY][8];

static int word(int n, int rank)
{
    return n * 31 + rank;
}

static int sum(int n)
{
    return mtest_size * n * 31 + mtest_size * (mtest_size - 1) / 2;
}

static void start(int n, MPI_Comm comm)
{
    in[n] = word(n, mtest_rank);
    out[n] = -1;
    switch (n % KINDS) {
    case 0: CHECK_OK(MPI_Ibarrier(comm, &requests[n])); break;
    case 1: CHECK_OK(MPI_Iallreduce(&in[n], &out[n], 1, MPI_INT, MPI_SUM, comm, &requests[n])); break;
    case 2: CHECK_OK(MPI_Ibcast(&in[n], 1, MPI_INT, n % mtest_size, comm, &requests[n])); break;
    default: CHECK_OK(MPI_Iallgather(&in[n], 1, MPI_INT, all[n], 1, MPI_INT, comm, &requests[n]));
    }
}

static int is_right(int n)
{
    int right = 1;
    switch (n % KINDS) {
    case 0: break;
    case 1: right = out[n] == sum(n); break;
    case 2: right = in[n] == word(n, n % mtest_size); break;
    default:
        for (int rank = 0; rank < mtest_size; rank++)
            right &= all[n][rank] == word(n, rank);
    }
    return right;
}

/* Waits for them from the last to the first, or by strides, or for all at once. */
static void wait_for_all(int way)
{
    if (way == 0)
        CHECK_OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; way > 0 && i < MANY; i++)
        CHECK_OK(MPI_Wait(&requests[way == 1 ? MANY - 1 - i : (int)(i * 1009L % MANY)], MPI_STATUS_IGNORE));
}

static void nonblocking(MPI_Comm comms[], int count, int way)
{
    int bad = 0;
    if (mtest_rank == way % mtest_size)
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, (mtest_rank + 1) % mtest_size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int n = 0; n < MANY; n++) {
        start(n, comms[n % count]);
        if (n == MANY / 2 && mtest_rank == (way + 1) % mtest_size) /* the one that is behind begins */
            CHECK_OK(MPI_Send(NULL, 0, MPI_INT, way % mtest_size, 0, MPI_COMM_WORLD));
    }
    wait_for_all(way);
    for (int n = 0; n < MANY; n++)
        bad += !is_right(n);
    CHECK(bad == 0);
}

/* Started in any order, again and again. */
static void persistent(void)
{
    for (int n = 0; n < MANY; n++)
        CHECK_OK(MPI_Allreduce_init(&in[n], &out[n], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[n]));
    for (int time = 0; time < 3; time++) {
        int bad = 0;
        for (int n = 0; n < MANY; n++) {
            in[n] = word(n + time, mtest_rank);
            out[n] = -1;
        }
        for (int i = 0; i < MANY; i++)
            CHECK_OK(MPI_Start(&requests[mtest_rank % 2 ? MANY - 1 - i : i]));
        wait_for_all(time);
        for (int n = 0; n < MANY; n++)
            bad += out[n] != sum(n + time);
        CHECK(bad == 0);
    }
    for (int n = 0; n < MANY; n++)
        CHECK_OK(MPI_Request_free(&requests[n]));
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS];
    MTEST_INIT(argc, argv);
    for (int i = 0; i < COMMS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    if (mtest_size > 1)
        for (int way = 0; way < 3; way++) {
            nonblocking(comms, 1, way);
            nonblocking(comms, COMMS, way);
        }
    persistent();
    for (int i = 0; i < COMMS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    MTEST_END;
}
