/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of intercommunicators, with 1 to 8 ranks in each group, in which no send completes before its receive is
 * posted: a schedule that depends on buffering does not end. All data is compared.
 */
#include "ranks.h"

#include "core/coll/inter.h"

enum { SIDE_MAX = 8, SIZE_MAX_BOTH = 2 * SIDE_MAX, EACH = 3, LONGEST = EACH * SIDE_MAX * SIDE_MAX };

_Static_assert((int)SIZE_MAX_BOTH <= (int)RANKS_MAX, "ranks.h has places for both groups");

static int64_t sent[SIZE_MAX_BOTH][LONGEST], received[SIZE_MAX_BOTH][LONGEST];
static int64_t counts[SIZE_MAX_BOTH][SIDE_MAX], displs[SIZE_MAX_BOTH][SIDE_MAX];
static int64_t bytes[SIZE_MAX_BOTH][SIDE_MAX];
static MPI_Datatype handles[SIDE_MAX];
static int sides[2]; /* sizes of the groups */

static const struct pl_type *int64(void)
{
    return pl_type_predefined((uintptr_t)MPI_INT64_T);
}

/* Ranks [low, high) of one element, which only an adjacent interval may join: it does not commute. */
static int64_t interval(int low, int high, int index)
{
    return (int64_t)low << 48 | (int64_t)high << 32 | index;
}

static void join(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int i = 0; i < *len; i++) {
        int64_t a = ((int64_t *)in)[i], b = ((int64_t *)inout)[i];
        bool adjacent = a >= 0 && b >= 0 && (a >> 32 & 0xffff) == b >> 48 && (uint32_t)a == (uint32_t)b;
        ((int64_t *)inout)[i] = adjacent ? (a & ~((int64_t)0xffff << 32)) | (b & (int64_t)0xffff << 32) : -1;
    }
}

static const struct pl_op join_op = { .obj = { .predefined = true }, .user = join, .name = "join" };

static bool is_reduction(enum pl_coll_kind kind)
{
    return kind >= PL_COLL_REDUCE && kind <= PL_COLL_REDUCE_SCATTER;
}

static bool is_rooted(enum pl_coll_kind kind)
{
    return kind == PL_COLL_BCAST || kind == PL_COLL_REDUCE || (kind >= PL_COLL_GATHER && kind <= PL_COLL_SCATTERV);
}

static bool is_each(enum pl_coll_kind kind) /* other data for each rank */
{
    return kind == PL_COLL_SCATTER || kind == PL_COLL_SCATTERV ||
           (kind >= PL_COLL_ALLTOALL && kind <= PL_COLL_ALLTOALLW);
}

/* Elements of this rank's result in MPI_Reduce_scatter: 0 for some; the sum is the same in both groups. */
static int part_of(int side, int rank, int total)
{
    int n = sides[side], even = total / n;
    return n == 1 ? total : rank == 0 ? even + total % n + 1 : rank == n - 1 ? even - 1 : even;
}

static void fill_sent(enum pl_coll_kind kind, int root)
{
    for (int i = 0; i < sides[0] + sides[1]; i++)
        for (int k = 0; k < LONGEST; k++) {
            int rank = ranks_comm[i].rank;
            sent[i][k] = is_reduction(kind) ? interval(rank, rank + 1, k) : (int64_t)i * 100000 + k;
            received[i][k] = kind == PL_COLL_BCAST && i == root ? sent[i][k] : -7;
        }
}

static struct pl_coll describe(enum pl_coll_kind kind, int i, int root)
{
    const struct pl_comm *comm = &ranks_comm[i];
    int remote = pl_comm_targets(comm), side = comm->inter.remote == &ranks_sides[0], rootside = root >= sides[0];
    struct pl_coll coll = { .kind = kind,
                            .comm = &ranks_comm[i],
                            .sendbuf = sent[i],
                            .recvbuf = received[i],
                            .sendcount = EACH,
                            .recvcount = EACH,
                            .sendtype = int64(),
                            .recvtype = int64(),
                            .op = &join_op };
    coll.root = !is_rooted(kind) ? 0 : i == root ? MPI_ROOT : side == rootside ? MPI_PROC_NULL : ranks_comm[root].rank;
    for (int k = 0; k < remote; k++) {
        counts[i][k] = EACH;
        displs[i][k] = EACH * k;
        bytes[i][k] = EACH * k * 8;
        handles[k] = MPI_INT64_T;
    }
    if (kind == PL_COLL_SCATTERV || kind == PL_COLL_ALLTOALLV || kind == PL_COLL_ALLTOALLW) {
        coll.sendcounts.wide = counts[i];
        coll.senddispls.wide = kind == PL_COLL_ALLTOALLW ? bytes[i] : displs[i];
    }
    if (kind == PL_COLL_GATHERV || kind == PL_COLL_ALLGATHERV || kind == PL_COLL_ALLTOALLV ||
        kind == PL_COLL_ALLTOALLW) {
        coll.recvcounts.wide = counts[i];
        coll.recvdispls.wide = kind == PL_COLL_ALLTOALLW ? bytes[i] : displs[i];
    }
    if (kind == PL_COLL_ALLTOALLW)
        coll.sendtypes = coll.recvtypes = handles;
    if (kind == PL_COLL_REDUCE_SCATTER_BLOCK)
        coll.recvcount = EACH * remote;
    if (kind == PL_COLL_REDUCE_SCATTER) {
        for (int k = 0; k < comm->size; k++)
            counts[i][k] = part_of(side, k, EACH * sides[0] * sides[1]);
        coll.recvcounts.wide = counts[i];
        coll.recvcount = counts[i][comm->rank];
    }
    return coll;
}

static void check_run(const char *what, int i, int first, int n, int64_t from, int64_t step)
{
    for (int k = 0; k < n; k++)
        EXPECT(received[i][first + k] == from + k * step, "%s: element %d of rank %d is wrong", what, first + k, i);
}

static void check_received(enum pl_coll_kind kind, const char *what, int i, int root)
{
    const struct pl_comm *comm = &ranks_comm[i];
    int side = comm->inter.remote == &ranks_sides[0], remote = pl_comm_targets(comm), base = side ? 0 : sides[0];
    int first = 0, total = EACH * remote * (kind == PL_COLL_REDUCE_SCATTER_BLOCK ? 1 : comm->size), n = EACH;
    bool receiver =
        !is_rooted(kind) || ((kind == PL_COLL_BCAST || is_each(kind)) ? side != (root >= sides[0]) : i == root);
    if (!receiver)
        return;
    if (kind == PL_COLL_REDUCE_SCATTER_BLOCK)
        n = EACH * remote, first = comm->rank * n;
    if (kind == PL_COLL_REDUCE_SCATTER) {
        for (int k = 0; k < comm->rank; k++)
            first += part_of(side, k, total);
        n = part_of(side, comm->rank, total);
    }
    if (is_reduction(kind)) {
        check_run(what, i, 0, n, interval(0, remote, first), 1);
        return;
    }
    bool one = is_rooted(kind) && i != root; /* one block, from the root */
    for (int k = 0; k < (one ? 1 : remote); k++) {
        int from = one ? root : base + k, place = is_each(kind) ? EACH * comm->rank : 0;
        check_run(what, i, EACH * k, EACH, (int64_t)from * 100000 + place, 1);
    }
}

START_TEST(test_without_buffering)
{
    enum pl_coll_kind kind = (enum pl_coll_kind)_i;
    if (!pl_coll_inter(kind))
        return;
    for (int pair = 0; pair < SIDE_MAX * SIDE_MAX; pair++) {
        struct pl_coll coll[RANKS_MAX];
        int errors[RANKS_MAX];
        char what[64];
        sides[0] = pair / SIDE_MAX + 1;
        sides[1] = pair % SIDE_MAX + 1;
        ranks_open_inter(sides[0], sides[1]);
        int root = (int)random_below((unsigned)ranks_size);
        snprintf(what, sizeof what, "collective %d between %d and %d ranks", (int)kind, sides[0], sides[1]);
        fill_sent(kind, root);
        for (int i = 0; i < ranks_size; i++)
            coll[i] = describe(kind, i, root);
        ranks_run(coll, errors);
        for (int i = 0; kind != PL_COLL_BARRIER && i < ranks_size; i++) {
            EXPECT(errors[i] == MPI_SUCCESS, "%s: error %d at rank %d", what, errors[i], i);
            check_received(kind, what, i, root);
        }
    }
    ck_assert_int_eq(pl_object_count(PL_REQUEST), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("collectives of intercommunicators");
    TCase *tcase = unit_case(suite);
    tcase_add_loop_test(tcase, test_without_buffering, 0, PL_COLL_KINDS);
    return unit_end(suite);
}
