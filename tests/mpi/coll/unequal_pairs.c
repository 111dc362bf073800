/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank of an alltoallv in its three forms gives another one more than that expects, less, or nothing (MPI-5.0
 * sections 6.8, 6.12 and 6.13). If it is more, the call fails somewhere, and the others learn of it. No rank waits for
 * ever, and the data of the others is right. tests/hosts runs this over two nodes.
 */
/* ranks: 2 4 */
#include "mtest.h"

enum { RANKS_MAX = 16, MOST = 8192 };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static const struct {
    int give, expect, others;
} cases[] = { { 8, 4, 8 },          { 0, 8, 0 }, { 0, 8, 8 },    { 5000, 8, 8 },    { 0, 5000, 0 }, { 0, 5000, 8 },
              { 6000, 5000, 5000 }, { 8, 4, 0 }, { 8, 4, 5000 }, { 5000, 8, 5000 }, { 0, 8, 5000 } };
enum { CASES = sizeof cases / sizeof *cases };

static unsigned char in[RANKS_MAX * MOST], out[RANKS_MAX * MOST];

static unsigned char word(int from, int to, int i)
{
    return (unsigned char)(from * 31 + to * 7 + i);
}

static int alltoallv(enum form form, const int *give, const int *expect, const int *places, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc;
    if (form == BLOCKING)
        return MPI_Alltoallv(in, give, places, MPI_BYTE, out, expect, places, MPI_BYTE, comm);
    if (form == NONBLOCKING) {
        rc = MPI_Ialltoallv(in, give, places, MPI_BYTE, out, expect, places, MPI_BYTE, comm, &request);
        return rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    rc = MPI_Alltoallv_init(in, give, places, MPI_BYTE, out, expect, places, MPI_BYTE, comm, MPI_INFO_NULL, &request);
    rc = rc ? rc : MPI_Start(&request);
    rc = rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (request != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Request_free(&request));
    return rc;
}

/* One call; `bad` if it is the one that differs. */
static int call(enum form form, MPI_Comm comm, int from, int to, int number, int bad)
{
    int give[RANKS_MAX], expect[RANKS_MAX], places[RANKS_MAX];
    for (int i = 0; i < mtest_size; i++) {
        give[i] = bad && mtest_rank == from && i == to ? cases[number].give : cases[number].others;
        expect[i] = bad && mtest_rank == to && i == from ? cases[number].expect : cases[number].others;
        places[i] = i * MOST;
        for (int k = 0; k < give[i]; k++)
            in[i * MOST + k] = word(mtest_rank, i, k);
    }
    int rc = alltoallv(form, give, expect, places, comm);
    for (int i = 0; rc == MPI_SUCCESS && i < mtest_size; i++)
        for (int k = 0; k < expect[i] && !(bad && mtest_rank == to && i == from); k++)
            if (out[i * MOST + k] != word(i, mtest_rank, k)) {
                CHECK(!"the data is right");
                return rc;
            }
    return rc;
}

static void differ(enum form form, int from, int to, int number)
{
    MPI_Comm comm;
    int failed = 0, any;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int i = 0; i < 3; i++) /* by the third, the nodes are known */
        CHECK_OK(call(form, comm, from, to, number, 0));
    failed |= call(form, comm, from, to, number, 1) != MPI_SUCCESS;
    failed |= MPI_Barrier(comm) != MPI_SUCCESS;
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD));
    CHECK(any || cases[number].give < cases[number].expect);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    for (int i = 0; i < CASES * FORMS; i++) {
        enum form form = (enum form)(i % FORMS);
        int number = i / FORMS;
        differ(form, mtest_size - 1, 0, number);
        differ(form, 0, mtest_size - 1, number);
        differ(form, mtest_size - 1, mtest_size / 2 - 1, number);
        differ(form, 0, 1, number);
    }
    MTEST_END;
}
