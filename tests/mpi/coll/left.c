/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that call a collective with different amounts or roots, and then do something else: a rank that has left the
 * collective communicates in the World, polls, or frees the communicator. No rank waits for ever, and those whose
 * collective cannot end get an error. Several threads are allowed; unequal.c has one. PLENUM_STRICT is off.
 */
/* ranks: 3 5 6 */
/* seconds: 200 */
#include <stdbool.h>

#include "mtest.h"

enum { MOST = 200000, NEXTS = 3 };
enum next { NEXT_WAITS, NEXT_POLLS, NEXT_FREES };

static char *buffer, *other;

static void complete(MPI_Request *request, bool polls)
{
    int done = 0;
    while (polls && !done)
        CHECK_OK(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

/* From rank to rank, twice: each needs all that have left their collective. */
static void go_round(bool polls)
{
    int token = 0, next = (mtest_rank + 1) % mtest_size, before = (mtest_rank + mtest_size - 1) % mtest_size;
    for (int round = 0; round < 2; round++) {
        MPI_Request request;
        CHECK_OK(MPI_Irecv(&token, 1, MPI_INT, before, round, MPI_COMM_WORLD, &request));
        if (mtest_rank > 0)
            complete(&request, polls);
        token += 1;
        CHECK_OK(MPI_Send(&token, 1, MPI_INT, next, round, MPI_COMM_WORLD));
        if (mtest_rank == 0)
            complete(&request, polls);
    }
    CHECK(token == 2 * mtest_size + (mtest_rank == 0 ? 0 : mtest_rank + 1 - mtest_size));
}

static int call(int form, int count, int root, MPI_Comm comm, MPI_Request *request)
{
    const MPI_Datatype type = MPI_UNSIGNED_CHAR;
    switch (form) {
    case 0: return MPI_Igather(buffer, count, type, other, count, type, root, comm, request);
    case 1: return MPI_Iscatter(other, count, type, buffer, count, type, root, comm, request);
    case 2: return MPI_Ireduce_scatter_block(other, buffer, count / mtest_size, type, MPI_MAX, comm, request);
    case 3: return MPI_Gather(buffer, count, type, other, count, type, root, comm);
    case 4: return MPI_Reduce(buffer, other, count, type, MPI_MAX, root, comm);
    case 5: return MPI_Scan(buffer, other, count, type, MPI_MAX, comm);
    default: return MPI_Bcast(buffer, count, type, root, comm);
    }
}

/* `odd` has another amount, or another root. True: some rank has an error. */
static int leave(int form, int given, int odds, int odd, int odds_root, enum next next)
{
    MPI_Comm comm;
    MPI_Request request = MPI_REQUEST_NULL;
    int differs = mtest_rank == odd, failed, any;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    failed = call(form, differs ? odds : given, differs ? odds_root : 0, comm, &request) != MPI_SUCCESS;
    failed |= MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    if (next == NEXT_FREES)
        MPI_Comm_free(&comm);
    go_round(next == NEXT_POLLS);
    CHECK_OK(MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    if (next != NEXT_FREES)
        MPI_Comm_free(&comm);
    return any;
}

int main(int argc, char **argv)
{
    static const int amounts[][2] = { { 3000, 8 }, { 300, 20000 }, { MOST, 2000 }, { 20000, MOST } };
    mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
    buffer = calloc(1, MOST);
    other = calloc((size_t)mtest_size, MOST);
    int failed = 0, calls = 0;
    for (int i = 0; i < 4; i++)
        for (int form = 0; form < 6; form++, calls++)
            failed += leave(form, amounts[i][0], amounts[i][1], (i + form) % mtest_size, 0, (i + form) % NEXTS);
    CHECK(failed > calls / 2); /* short data may just be lost */
    for (int odd = 0; odd < mtest_size; odd++)
        CHECK(leave(6, 100, 100, odd, (odd + 1) % mtest_size, odd % NEXTS) || odd != 0);
    free(buffer);
    free(other);
    MTEST_END;
}
