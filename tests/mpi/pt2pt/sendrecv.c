/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Sendrecv, MPI_Sendrecv_replace and their nonblocking forms (MPI-5.0 section 3.10): rings in both directions with
 * no order among the ranks, different sizes and types each way, and a partner that uses plain sends and receives.
 */
#include "mtest.h"
#include "pattern.h"

enum { LONGEST = 500000 };
static const int sizes[] = { 0, 3, 8000, 40000, LONGEST };

enum way { PLAIN, NONBLOCKING, REPLACE, NONBLOCKING_REPLACE, WAYS };

/* Sends `bytes` from `data` and receives into it or into `in`; returns where the received data is. */
static unsigned char *shift(enum way way, unsigned char *data, unsigned char *in, int bytes, int to, int from,
                            MPI_Status *status)
{
    MPI_Request request;
    switch (way) {
    case PLAIN:
        CHECK_OK(MPI_Sendrecv(data, bytes, MPI_BYTE, to, 1, in, LONGEST, MPI_CHAR, from, 1, MPI_COMM_WORLD, status));
        return in;
    case NONBLOCKING:
        CHECK_OK(MPI_Isendrecv(data, bytes, MPI_BYTE, to, 1, in, LONGEST, MPI_CHAR, from, 1, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, status));
        return in;
    case REPLACE:
        CHECK_OK(MPI_Sendrecv_replace(data, bytes, MPI_BYTE, to, 1, from, MPI_ANY_TAG, MPI_COMM_WORLD, status));
        return data;
    default:
        CHECK_OK(MPI_Isendrecv_replace(data, bytes, MPI_BYTE, to, 1, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, status));
        return data;
    }
}

static void ring(enum way way, int bytes, int step, unsigned char *data, unsigned char *in)
{
    int to = (mtest_rank + step + mtest_size) % mtest_size, from = (mtest_rank - step + mtest_size) % mtest_size, count;
    MPI_Status status;
    pattern_fill(data, (size_t)bytes, (uint64_t)(mtest_rank + bytes));
    unsigned char *got = shift(way, data, in, bytes, to, from, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(status.MPI_SOURCE == from && status.MPI_TAG == 1 && count == bytes);
    CHECK(pattern_holds(got, (size_t)bytes, (uint64_t)(from + bytes)));
    if (got == in)
        CHECK(pattern_holds(data, (size_t)bytes, (uint64_t)(mtest_rank + bytes)));
    MPI_Barrier(MPI_COMM_WORLD); /* the wildcards of the next round must not match this one */
}

/* Strided data is replaced in place; the bytes between are not written. */
static void replace_strided(void)
{
    enum { BLOCKS = 1000, STRIDE = 3 };
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, wrong = 0;
    static int data[BLOCKS * STRIDE];
    MPI_Datatype every;
    MPI_Type_vector(BLOCKS, 1, STRIDE, MPI_INT, &every);
    MPI_Type_commit(&every);
    for (int i = 0; i < BLOCKS * STRIDE; i++)
        data[i] = mtest_rank * 10000 + i;
    CHECK_OK(MPI_Sendrecv_replace(data, 1, every, to, 2, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < BLOCKS * STRIDE; i++)
        wrong += data[i] != (i % STRIDE ? mtest_rank : from) * 10000 + i;
    CHECK(wrong == 0);
    MPI_Type_free(&every);
}

static void plain_partner(void)
{
    int value = mtest_rank, got = -1, partner = mtest_rank ^ 1;
    if (partner >= mtest_size)
        return;
    if (mtest_rank & 1) {
        CHECK_OK(MPI_Sendrecv(&value, 1, MPI_INT, partner, 8, &got, 1, MPI_INT, partner, 9, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
    } else {
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, partner, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, partner, 9, MPI_COMM_WORLD));
    }
    CHECK(got == partner);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    unsigned char *data = malloc(LONGEST), *in = malloc(LONGEST);
    for (enum way way = 0; way < WAYS; way++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            ring(way, sizes[i], 1, data, in);
            ring(way, sizes[i], -1, data, in);
        }
    replace_strided();
    plain_partner();
    free(in);
    free(data);
    MTEST_END;
}
