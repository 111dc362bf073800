/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned communication around a ring (MPI-5.0 chapter 4). The partition counts of the two sides differ in all
 * ways. Partitions become ready in order, backwards, at random, by ranges and by lists. Requests are started again and
 * again with new data, and completed by all kinds of calls. Partitions are short, long, and empty, and there may be
 * none at all.
 */
#include "mtest.h"
#include "pattern.h"

enum { TIMES = 4, WAYS = 5 };

static uint64_t state = 12345;

static void shuffle(int *order, int n)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = (int)(pattern_random(&state) % (unsigned)(i + 1)), other = order[k];
        order[k] = order[i];
        order[i] = other;
    }
}

/* Makes all partitions ready, in one of several ways. */
static void make_ready(MPI_Request request, int partitions, int way)
{
    int *order = malloc((size_t)(partitions + 1) * sizeof *order);
    shuffle(order, partitions);
    switch (way) {
    case 0:
        for (int i = 0; i < partitions; i++)
            CHECK_OK(MPI_Pready(i, request));
        break;
    case 1:
        for (int i = partitions - 1; i >= 0; i--)
            CHECK_OK(MPI_Pready(i, request));
        break;
    case 2: CHECK_OK(MPI_Pready_list(partitions, order, request)); break;
    case 3:
        if (partitions > 0)
            CHECK_OK(MPI_Pready_range(0, partitions - 1, request));
        break;
    default:
        CHECK_OK(MPI_Pready_list(partitions / 2, order, request));
        for (int i = partitions / 2; i < partitions; i++)
            CHECK_OK(MPI_Pready_range(order[i], order[i], request));
    }
    free(order);
}

static void finish(MPI_Request requests[2], int way, int source, int tag, int bytes)
{
    MPI_Status statuses[2];
    int flag = 0, rc = MPI_SUCCESS, index, got;
    switch (way % 4) {
    case 0: CHECK_OK(MPI_Waitall(2, requests, statuses)); break;
    case 1:
        while (!flag && rc == MPI_SUCCESS)
            rc = MPI_Testall(2, requests, &flag, statuses);
        CHECK_OK(rc);
        break;
    case 2:
        while (!flag && rc == MPI_SUCCESS)
            rc = MPI_Request_get_status(requests[1], &flag, &statuses[1]);
        CHECK_OK(rc);
        CHECK_OK(MPI_Wait(&requests[1], &statuses[1]));
        CHECK_OK(MPI_Wait(&requests[0], &statuses[0]));
        break;
    default:
        for (int i = 0; i < 2; i++) {
            MPI_Status status;
            CHECK_OK(MPI_Waitany(2, requests, &index, &status));
            statuses[index] = status;
        }
    }
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Get_count(&statuses[1], MPI_BYTE, &got));
    CHECK(got == bytes && statuses[1].MPI_SOURCE == source && statuses[1].MPI_TAG == tag);
}

/* `unit` bytes in a partition of the sender times `sent`, divided into `received`. */
static void ring(int sent, int received, int unit, MPI_Comm comm, int wide)
{
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size, bytes = sent * unit,
        flag;
    unsigned char *out = malloc((size_t)bytes + 1), *in = malloc((size_t)bytes + 1);
    MPI_Request requests[2];
    if (wide) {
        CHECK_OK(MPI_Psend_init(out, sent, unit, MPI_BYTE, next, 7, comm, MPI_INFO_NULL, &requests[0]));
        CHECK_OK(MPI_Precv_init(in, received, received ? bytes / received : 0, MPI_BYTE, last, 7, comm, MPI_INFO_NULL,
                                &requests[1]));
    } else {
        CHECK_OK(MPI_Precv_init(in, received, received ? bytes / received : 0, MPI_BYTE, last, 7, comm, MPI_INFO_NULL,
                                &requests[1]));
        CHECK_OK(MPI_Psend_init(out, sent, unit, MPI_BYTE, next, 7, comm, MPI_INFO_NULL, &requests[0]));
    }
    for (int time = 0; time < TIMES; time++) {
        int way = (time + sent + received) % WAYS;
        pattern_fill(out, (size_t)bytes, (uint64_t)(mtest_rank * 100 + time));
        memset(in, 0xee, (size_t)bytes);
        if (received > 0) {
            CHECK_OK(MPI_Parrived(requests[1], received - 1, &flag)); /* not active */
            CHECK(flag);
        }
        if (time % 2) {
            CHECK_OK(MPI_Startall(2, requests));
            make_ready(requests[0], sent, way);
        } else {
            CHECK_OK(MPI_Start(&requests[0]));
            make_ready(requests[0], sent, way);
            CHECK_OK(MPI_Start(&requests[1]));
        }
        for (int i = 0; i < received && time == 2; i++) { /* without completing it: in the order of the receiver */
            int rc = MPI_SUCCESS, each = bytes / received;
            for (flag = 0; !flag && rc == MPI_SUCCESS;)
                rc = MPI_Parrived(requests[1], i, &flag);
            CHECK_OK(rc);
            int good = 1;
            for (int k = i * each; k < (i + 1) * each; k++)
                good &= in[k] == pattern_byte((uint64_t)(last * 100 + time), (size_t)k);
            CHECK(good);
        }
        finish(requests, time + sent, last, 7, bytes);
        CHECK(pattern_holds(in, (size_t)bytes, (uint64_t)(last * 100 + time)));
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    static const int cases[][3] = {
        /* partitions sent, received, bytes in one that is sent */
        { 1, 1, 1 },    { 1, 1, 300000 }, { 8, 8, 100 }, { 1, 6, 60 },     { 6, 1, 60 },      { 4, 6, 30 },
        { 6, 4, 30 },   { 3, 7, 70 },     { 7, 3, 33 },  { 12, 5, 50000 }, { 5, 12, 120000 }, { 64, 16, 24 },
        { 100, 10, 1 }, { 3, 4, 0 },      { 4, 3, 0 },   { 0, 0, 0 },      { 0, 3, 0 },       { 3, 0, 0 },
    };
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++)
        ring(cases[i][0], cases[i][1], cases[i][2], comm, i % 2);
    CHECK_OK(MPI_Comm_free(&comm));
    MTEST_END;
}
