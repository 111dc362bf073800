/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that start a collective with different amounts, roots or neighbors on a communicator that has, or has had,
 * persistent collectives: nonblocking ones, and several starts of a persistent one. No rank waits for ever, and where a
 * rank must miss something, some rank gets an error. PLENUM_STRICT is off.
 */
/* ranks: 2 3 5 */
/* seconds: 300 */
#include <stdbool.h>

#include "mtest.h"

enum { MOST = 200000, LONG = 10 * MOST /* above each eager limit */, FORMS = 8, STARTS = 3 };
enum before { BEFORE_INACTIVE, BEFORE_FREED, BEFORE_DUPLICATE, BEFORES };

static unsigned char *buffer, *other;

/* A communicator that has a persistent collective, which may have been started. */
static MPI_Comm fresh(enum before before, MPI_Request *persistent)
{
    MPI_Comm comm, copy;
    int one = 1, sum = 0;
    *persistent = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    if (before == BEFORE_DUPLICATE) {
        CHECK_OK(MPI_Comm_idup(comm, &copy, persistent));
        CHECK_OK(MPI_Wait(persistent, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_free(&copy));
    } else {
        CHECK_OK(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, persistent));
        CHECK_OK(MPI_Start(persistent));
        CHECK_OK(MPI_Wait(persistent, MPI_STATUS_IGNORE));
        CHECK(sum == mtest_size);
    }
    if (before == BEFORE_FREED)
        CHECK_OK(MPI_Request_free(persistent));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* all have it before it breaks */
    return comm;
}

/* The collective of a form, nonblocking or persistent. */
#define BEGIN(nonblocking, initialization, ...)                                                                        \
    return persistent ? initialization(__VA_ARGS__, comm, MPI_INFO_NULL, request)                                      \
                      : nonblocking(__VA_ARGS__, comm, request)

static int begin(bool persistent, int form, int count, int root, MPI_Comm comm, MPI_Request *request)
{
    const MPI_Datatype type = MPI_UNSIGNED_CHAR;
    switch (form) {
    case 0: BEGIN(MPI_Igather, MPI_Gather_init, buffer, count, type, other, count, type, root);
    case 1: BEGIN(MPI_Iscatter, MPI_Scatter_init, other, count, type, buffer, count, type, root);
    case 2: BEGIN(MPI_Ireduce, MPI_Reduce_init, buffer, other, count, type, MPI_MAX, root);
    case 3: BEGIN(MPI_Iallreduce, MPI_Allreduce_init, buffer, other, count, type, MPI_MAX);
    case 4:
        BEGIN(MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, other, buffer, count / mtest_size, type,
              MPI_MAX);
    case 5: BEGIN(MPI_Ibcast, MPI_Bcast_init, buffer, count, type, root);
    case 6: BEGIN(MPI_Iallgather, MPI_Allgather_init, buffer, count, type, other, count, type);
    default: BEGIN(MPI_Iscan, MPI_Scan_init, buffer, other, count, type, MPI_MAX);
    }
}

static bool any_rank(bool failed)
{
    int mine = failed, any;
    CHECK_OK(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    return any;
}

/* `odd` has another amount or root. Has some rank an error? */
static bool nonblocking(enum before before, int form, int given, int odds, int odd, int odds_root)
{
    MPI_Request earlier, request = MPI_REQUEST_NULL;
    MPI_Comm comm = fresh(before, &earlier);
    bool differs = mtest_rank == odd, failed;
    failed = begin(false, form, differs ? odds : given, differs ? odds_root : 0, comm, &request) != MPI_SUCCESS;
    failed |= MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    failed = any_rank(failed);
    if (earlier != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Request_free(&earlier));
    CHECK_OK(MPI_Comm_free(&comm));
    return failed;
}

static bool persistent(enum before before, int form, int given, int odds, int odd, int odds_root)
{
    MPI_Request earlier, request = MPI_REQUEST_NULL;
    MPI_Comm comm = fresh(before, &earlier);
    bool differs = mtest_rank == odd, failed;
    failed = begin(true, form, differs ? odds : given, differs ? odds_root : 0, comm, &request) != MPI_SUCCESS;
    for (int i = 0; i < STARTS && request != MPI_REQUEST_NULL; i++) {
        failed |= MPI_Start(&request) != MPI_SUCCESS;
        failed |= MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    }
    if (request != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Request_free(&request));
    failed = any_rank(failed);
    if (earlier != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Request_free(&earlier));
    CHECK_OK(MPI_Comm_free(&comm));
    return failed;
}

/* Rank 0 sends to rank 1, and only one of them has the other as a neighbor. The one that waits has an error; one that
 * sends little does not wait. Other ranks may hear of it before they have made the collective. */
static void neighbors(int bytes, bool sender_knows)
{
    MPI_Comm comm;
    MPI_Request request = MPI_REQUEST_NULL;
    int peer = 1 - mtest_rank, sends = mtest_rank == 0 && sender_knows, receives = mtest_rank == 1 && !sender_knows;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, receives, &peer, MPI_UNWEIGHTED, sends, &peer,
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    int rc = MPI_Neighbor_alltoall_init(buffer, bytes, MPI_BYTE, other, bytes, MPI_BYTE, comm, MPI_INFO_NULL, &request);
    rc = rc ? rc : MPI_Start(&request);
    rc = rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(rc != MPI_SUCCESS || !(receives || (sends && bytes == LONG)));
    if (request != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    static const int amounts[][2] = { { 3000, 8 }, { 300, 20000 }, { MOST, 2000 }, { 20000, MOST } };
    MTEST_INIT(argc, argv);
    buffer = calloc(1, LONG);
    other = calloc((size_t)mtest_size, LONG);
    int failed = 0, calls = 0;
    for (int i = 0; i < 4; i++)
        for (int form = 0; form < FORMS; form++, calls += 2) {
            int odd = (i + form) % mtest_size;
            failed += nonblocking((i + form) % BEFORES, form, amounts[i][0], amounts[i][1], odd, 0);
            failed += persistent((i + form + 1) % BEFORES, form, amounts[i][0], amounts[i][1], odd, 0);
        }
    CHECK(failed > calls / 2);                   /* short data may just be lost */
    for (int odd = 1; odd < mtest_size; odd++) { /* two roots: the data of one of them may be lost */
        nonblocking(odd % BEFORES, 5, MOST, MOST, odd, odd);
        persistent(odd % BEFORES, 5, MOST, MOST, odd, odd);
    }
    for (int i = 0; i < 4; i++)
        neighbors(i % 2 ? LONG : 10, i / 2 == 0);
    free(buffer);
    free(other);
    MTEST_END;
}
