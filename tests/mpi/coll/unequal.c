/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that call a collective with different amounts, and neighbors of which only one knows the other. No rank waits
 * for ever, those at fault get an error, and where a call succeeds the data are right. PLENUM_STRICT is off.
 */
/* ranks: 2 3 5 */
#include <stdbool.h>

#include "mtest.h"

static unsigned char *buffer, *other;
enum { MOST = 1 << 20 };

static MPI_Comm fresh(void)
{
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    return comm;
}

/* `odd` differs from the others. */
static void broadcast(int given, int expected, int odd)
{
    MPI_Comm comm = fresh();
    bool differs = mtest_rank == odd;
    memset(buffer, mtest_rank == 0 ? 7 : 0, MOST);
    int rc = MPI_Bcast(buffer, differs ? expected : given, MPI_BYTE, 0, comm);
    CHECK(!differs || rc != MPI_SUCCESS);
    for (int i = 0; rc == MPI_SUCCESS && i < given; i++)
        CHECK(buffer[i] == 7);
    MPI_Barrier(comm); /* it may succeed */
    MPI_Comm_free(&comm);
}

static void gather_all(int most, int fewer, int odd)
{
    MPI_Comm comm = fresh();
    int count = mtest_rank == odd ? fewer : most, failed, any;
    failed = MPI_Allgather(buffer, count, MPI_BYTE, other, count, MPI_BYTE, comm) != MPI_SUCCESS;
    failed |= MPI_Barrier(comm) != MPI_SUCCESS;
    CHECK_OK(MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    CHECK(any);
    MPI_Comm_free(&comm);
}

static bool any_rank(int mine)
{
    int any = 0;
    CHECK_OK(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    return any != 0;
}

/* The root has blocks of other lengths than the others: a rank has an error, or what was moved is in its place. */
static void rooted(int roots, int others)
{
    MPI_Comm comm = fresh();
    const int count = mtest_rank == 0 ? roots : others, least = roots < others ? roots : others;
    bool misplaced = false;
    memset(buffer, mtest_rank + 1, MOST);
    memset(other, 0, MOST);
    int rc = MPI_Scatter(buffer, count, MPI_BYTE, other, count, MPI_BYTE, 0, comm);
    for (int i = 0; i < count; i++)
        misplaced |= other[i] != 1 && (other[i] != 0 || i < least);
    CHECK(any_rank(rc != MPI_SUCCESS) || !misplaced);
    MPI_Barrier(comm); /* it may succeed */
    MPI_Comm_free(&comm);

    comm = fresh();
    misplaced = false;
    memset(other, 0, MOST);
    rc = MPI_Gather(buffer, count, MPI_BYTE, other, count, MPI_BYTE, 0, comm);
    for (int i = 0; mtest_rank == 0 && i < count * mtest_size; i++)
        misplaced |= other[i] != i / count + 1 && (other[i] != 0 || i % count < least);
    CHECK(any_rank(rc != MPI_SUCCESS) || !misplaced);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
}

/* Rank 0 sends to rank 1, and only one of them has the other as a neighbor. */
static void neighbors(int bytes, bool sender_knows)
{
    MPI_Comm comm;
    int peer = 1 - mtest_rank, sends = mtest_rank == 0 && sender_knows, receives = mtest_rank == 1 && !sender_knows;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, receives, &peer, MPI_UNWEIGHTED, sends, &peer,
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    int rc = MPI_Neighbor_alltoall(buffer, bytes, MPI_BYTE, other, bytes, MPI_BYTE, comm);
    CHECK(!receives || rc != MPI_SUCCESS);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
}

/* One rank gives another amount than the others: the ranks end, and at least one has an error by the barrier. */
static void reduction(int form, int most, int fewer, int odd)
{
    MPI_Comm comm = fresh();
    MPI_Request request = MPI_REQUEST_NULL;
    int count = mtest_rank == odd ? fewer : most, failed = 0, any, rc = MPI_SUCCESS;
    const MPI_Datatype type = MPI_UNSIGNED_CHAR;
    switch (form) {
    case 0: rc = MPI_Reduce(buffer, other, count, type, MPI_MAX, 0, comm); break;
    case 1: rc = MPI_Ireduce(buffer, other, count, type, MPI_MAX, 0, comm, &request); break;
    case 2: rc = MPI_Allreduce(buffer, other, count, type, MPI_MAX, comm); break;
    case 3: rc = MPI_Iallreduce(buffer, other, count, type, MPI_MAX, comm, &request); break;
    case 4: rc = MPI_Scan(buffer, other, count, type, MPI_MAX, comm); break;
    case 5: rc = MPI_Ireduce_scatter_block(buffer, other, count / mtest_size, type, MPI_MAX, comm, &request); break;
    case 6: rc = MPI_Ibcast(buffer, count, type, 0, comm, &request); break;
    case 7: rc = MPI_Exscan(buffer, other, count, type, MPI_MAX, comm); break;
    }
    failed = rc != MPI_SUCCESS;
    failed |= MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    failed |= MPI_Barrier(comm) != MPI_SUCCESS;
    CHECK_OK(MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    CHECK(any);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    static const int amounts[][2] = { { 131072, 196608 }, { 196608, 131072 }, { MOST, MOST / 2 }, { MOST / 2, MOST } };
    MTEST_INIT(argc, argv);
    buffer = malloc(MOST);
    other = malloc((size_t)mtest_size * MOST);
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        for (int odd = 1; odd < mtest_size; odd++)
            broadcast(amounts[i][0], amounts[i][1], odd);
        gather_all(amounts[i][0], amounts[i][1], (int)i % mtest_size);
    }
    static const int lengths[][2] = { { 70000, 20000 }, { 20000, 70000 }, { 200000, 100 }, { 100, 200000 },
                                      { 32, 16 },       { 16, 32 },       { 6000, 3000 } };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int form = 0; form < 8; form++)
            reduction(form, lengths[i][0], lengths[i][1], (int)(i + (size_t)form) % mtest_size);
    rooted(16, 32);
    rooted(32, 16);
    rooted(1000, 2000);
    rooted(2000, 1000);
    for (int i = 0; i < 4; i++)
        neighbors(i % 2 ? 400000 : 10, i / 2 == 0);
    free(buffer);
    free(other);
    MTEST_END;
}
