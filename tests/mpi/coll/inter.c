/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on an intercommunicator (MPI-5.0 section 6.2.3): all kinds, both groups as root, in all forms, with
 * groups of different sizes.
 */
/* ranks: 2 3 4 7 16 */
#include "coll.h"

enum { COUNT = 5, RANKS_MAX = 64 };

static MPI_Comm inter;
static int rank, size, remote, first; /* of this group: rank, size; size of the other; is this the first? */
static int in[RANKS_MAX * COUNT], out[RANKS_MAX * COUNT], counts[RANKS_MAX], displs[RANKS_MAX], mine[RANKS_MAX];

/* What a rank of one group sends to a rank of the other. */
static int value(int in_first, int from, int to, int i)
{
    return in_first * 1000000 + from * 10000 + to * 100 + i;
}

static void fill(int n, int to_each)
{
    for (int to = 0; to < RANKS_MAX; to++)
        for (int i = 0; i < n && to * n + i < RANKS_MAX * COUNT; i++)
            in[to * n + i] = value(first, rank, to_each ? to : 0, i);
    memset(out, 0x7f, sizeof out);
}

/* The root as each process has to name it, when it is rank `root` of the first or second group. */
static int root_name(int in_first, int root)
{
    return in_first != first ? root : rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void test_rooted(enum form form, int in_first)
{
    int root = 0, name = root_name(in_first, root), receives = in_first != first;
    fill(COUNT, 0);
    COLL(form, inter, Bcast, bcast, receives ? out : in, COUNT, MPI_INT, name);
    for (int i = 0; receives && i < COUNT; i++)
        CHECK(out[i] == value(in_first, root, 0, i));
    fill(COUNT, 1);
    COLL(form, inter, Scatter, scatter, in, COUNT, MPI_INT, out, COUNT, MPI_INT, name);
    for (int i = 0; receives && i < COUNT; i++)
        CHECK(out[i] == value(in_first, root, rank, i));
    fill(COUNT, 0);
    COLL(form, inter, Gather, gather, in, COUNT, MPI_INT, out, COUNT, MPI_INT, name);
    for (int i = 0; name == MPI_ROOT && i < remote * COUNT; i++)
        CHECK(out[i] == value(!in_first, i / COUNT, 0, i % COUNT));
    fill(COUNT, 0);
    COLL(form, inter, Reduce, reduce, in, out, COUNT, MPI_INT, MPI_SUM, name);
    for (int i = 0; name == MPI_ROOT && i < COUNT; i++)
        CHECK(out[i] == remote * value(!in_first, 0, 0, i) + 10000 * (remote * (remote - 1) / 2));
    fill(COUNT, 0);
    COLL(form, inter, Gatherv, gatherv, in, COUNT, MPI_INT, out, counts, displs, MPI_INT, name);
    for (int i = 0; name == MPI_ROOT && i < remote * COUNT; i++)
        CHECK(out[i] == value(!in_first, i / COUNT, 0, i % COUNT));
    fill(COUNT, 1);
    COLL(form, inter, Scatterv, scatterv, in, counts, displs, MPI_INT, out, COUNT, MPI_INT, name);
    for (int i = 0; receives && i < COUNT; i++)
        CHECK(out[i] == value(in_first, root, rank, i));
}

static void test_all(enum form form)
{
    MPI_Datatype types[RANKS_MAX];
    int bytes[RANKS_MAX];
    for (int i = 0; i < RANKS_MAX; i++) {
        types[i] = MPI_INT;
        bytes[i] = displs[i] * (int)sizeof(int);
    }
    fill(COUNT, 0);
    COLL(form, inter, Allgather, allgather, in, COUNT, MPI_INT, out, COUNT, MPI_INT);
    for (int i = 0; i < remote * COUNT; i++)
        CHECK(out[i] == value(!first, i / COUNT, 0, i % COUNT));
    fill(COUNT, 0);
    COLL(form, inter, Allgatherv, allgatherv, in, COUNT, MPI_INT, out, counts, displs, MPI_INT);
    for (int i = 0; i < remote * COUNT; i++)
        CHECK(out[i] == value(!first, i / COUNT, 0, i % COUNT));
    fill(COUNT, 1);
    COLL(form, inter, Alltoall, alltoall, in, COUNT, MPI_INT, out, COUNT, MPI_INT);
    for (int i = 0; i < remote * COUNT; i++)
        CHECK(out[i] == value(!first, i / COUNT, rank, i % COUNT));
    fill(COUNT, 1);
    COLL(form, inter, Alltoallv, alltoallv, in, counts, displs, MPI_INT, out, counts, displs, MPI_INT);
    for (int i = 0; i < remote * COUNT; i++)
        CHECK(out[i] == value(!first, i / COUNT, rank, i % COUNT));
    fill(COUNT, 1);
    COLL(form, inter, Alltoallw, alltoallw, in, counts, bytes, types, out, counts, bytes, types);
    for (int i = 0; i < remote * COUNT; i++)
        CHECK(out[i] == value(!first, i / COUNT, rank, i % COUNT));
}

static void test_reductions(enum form form)
{
    int total = size * remote, pairs = 10000 * (remote * (remote - 1) / 2);
    fill(COUNT, 0);
    COLL(form, inter, Allreduce, allreduce, in, out, COUNT, MPI_INT, MPI_SUM);
    for (int i = 0; i < COUNT; i++)
        CHECK(out[i] == remote * value(!first, 0, 0, i) + pairs);
    fill(total, 0);
    COLL(form, inter, Reduce_scatter_block, reduce_scatter_block, in, out, remote, MPI_INT, MPI_SUM);
    for (int i = 0; i < remote; i++)
        CHECK(out[i] == remote * value(!first, 0, 0, rank * remote + i) + pairs);
    fill(total, 0);
    COLL(form, inter, Reduce_scatter, reduce_scatter, in, out, mine, MPI_INT, MPI_SUM);
    for (int i = 0; i < remote; i++)
        CHECK(out[i] == remote * value(!first, 0, 0, rank * remote + i) + pairs);
}

static void test_barrier(enum form form)
{
    MPI_Request request;
    if (form == BLOCKING) {
        CHECK_OK(MPI_Barrier(inter));
    } else {
        CHECK_OK(form == NONBLOCKING ? MPI_Ibarrier(inter, &request)
                                     : MPI_Barrier_init(inter, MPI_INFO_NULL, &request));
        if (form == PERSISTENT)
            CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (form == PERSISTENT)
            CHECK_OK(MPI_Request_free(&request));
    }
}

static void test_refused(void)
{
    CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, remote, inter), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
}

int main(int argc, char **argv)
{
    MPI_Comm local;
    MTEST_INIT(argc, argv);
    first = mtest_rank < (mtest_size + 2) / 3;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, first, mtest_rank, &local));
    CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, first ? (mtest_size + 2) / 3 : 0, 3, &inter));
    CHECK_OK(MPI_Comm_rank(inter, &rank));
    CHECK_OK(MPI_Comm_size(inter, &size));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    for (int i = 0; i < RANKS_MAX; i++) {
        counts[i] = COUNT;
        displs[i] = i * COUNT;
        mine[i] = remote;
    }
    for (int form = 0; form < FORMS; form++) {
        test_barrier((enum form)form);
        test_rooted((enum form)form, 1);
        test_rooted((enum form)form, 0);
        test_all((enum form)form);
        test_reductions((enum form)form);
    }
    test_refused();
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&local));
    MTEST_END;
}
