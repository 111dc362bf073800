/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans, and collectives with a block for each rank, by a node hierarchy on simulated nodes: results, and the number of
 * messages from node to node, which has a formula. They are blocking, nonblocking and persistent.
 */
#include "ranks_on_nodes.h"

enum { CHAIN = 8 };

/* Do not all ranks know all amounts? */
static bool is_varied(enum pl_coll_kind kind)
{
    return kind == PL_COLL_GATHERV || kind == PL_COLL_SCATTERV;
}

/* The elements that a rank gives or gets. In the v forms some have none, and some more than goes through leaders. */
static int length_of(enum pl_coll_kind kind, int rank)
{
    return !is_varied(kind) && kind != PL_COLL_ALLGATHERV ? COUNT
           : rank % 5 == 1                                ? 0
           : rank % 7 == 3 && kind != PL_COLL_ALLGATHERV  ? LONG
                                                          : rank % 4 + 1;
}

static struct odd {
    int from, given; /* what one rank gives, or in a scatterv is given; another amount is expected. -1: there is none */
} odd = { -1, 0 };

/* What it gives, or in a scatterv is given. */
static int given_of(enum pl_coll_kind kind, int rank)
{
    return rank == odd.from ? odd.given : length_of(kind, rank);
}

static bool is_scan(enum pl_coll_kind kind)
{
    return kind == PL_COLL_SCAN || kind == PL_COLL_EXSCAN;
}

static bool is_allgather(enum pl_coll_kind kind)
{
    return kind == PL_COLL_ALLGATHER || kind == PL_COLL_ALLGATHERV;
}

static bool is_scatter(enum pl_coll_kind kind)
{
    return kind == PL_COLL_SCATTER || kind == PL_COLL_SCATTERV;
}

/* Blocks of all ranks, with a gap after each in the v forms. */
static int place_blocks(enum pl_coll_kind kind, struct rank *rank)
{
    int at = 0;
    for (int i = 0; i < ranks_size; i++) {
        rank->counts[i] = length_of(kind, i);
        rank->displs[i] = at;
        at += length_of(kind, i) + is_varied(kind);
    }
    return at;
}

static void describe(enum pl_coll_kind kind, int rank, int root, bool in_place)
{
    static const struct pl_type *type;
    struct rank *r = &ranks[rank];
    type = pl_type_predefined((uintptr_t)MPI_INT64_T);
    int all = place_blocks(kind, r), own = length_of(kind, rank), given = given_of(kind, rank);
    bool scatters = is_scatter(kind), stays = in_place && (is_scan(kind) || is_allgather(kind) || rank == root);
    r->in_count = all + 2 * LONG;
    r->in = calloc((size_t)r->in_count, sizeof *r->in);
    r->out = malloc((size_t)r->in_count * sizeof *r->out);
    memset(r->out, 0xff, (size_t)r->in_count * sizeof *r->out);
    fill_words(r->in, given, rank);
    for (int i = 0; scatters && i < ranks_size; i++)
        fill_words(r->in + r->displs[i], length_of(kind, i), i);
    for (int i = 0; i < r->in_count; i++)
        r->in[i] -= restarts;
    if (stays && !scatters)
        fill_words(r->out + (is_scan(kind) ? 0 : r->displs[rank]), own, rank);
    r->coll = (struct pl_coll){ .kind = kind,
                                .comm = &ranks_comm[rank],
                                .sendbuf = stays && !scatters ? MPI_IN_PLACE : r->in,
                                .recvbuf = stays && scatters ? MPI_IN_PLACE : r->out,
                                .sendcount = given,
                                .recvcount = own,
                                .sendtype = type,
                                .recvtype = type,
                                .root = root,
                                .op = is_scan(kind) ? pl_op_predefined((uintptr_t)MPI_SUM) : NULL };
    if (kind == PL_COLL_GATHERV || kind == PL_COLL_ALLGATHERV) {
        r->coll.recvcounts.wide = r->counts;
        r->coll.recvdispls.wide = r->displs;
    }
    if (kind == PL_COLL_SCATTERV) {
        for (int i = 0; i < ranks_size; i++)
            r->counts[i] = given_of(kind, i);
        r->coll.sendcounts.wide = r->counts;
        r->coll.senddispls.wide = r->displs;
    }
}

static void check_scan(enum pl_coll_kind kind, int rank)
{
    int end = kind == PL_COLL_SCAN ? rank + 1 : rank;
    for (int i = 0; i < COUNT && end > 0; i++) {
        int64_t want = 0;
        for (int from = 0; from < end; from++)
            want += word(from, i);
        EXPECT(ranks[rank].out[i] == want, "scan: element %d of rank %d is wrong", i, rank);
    }
}

/* After a block that is too long, the data from other ranks of its node may be cut off. */
static void check_blocks(const struct rank *rank, enum pl_coll_kind kind)
{
    for (int from = 0; from < ranks_size; from++)
        for (int i = 0; i < length_of(kind, from) && (!rank->want || ranks_node[from] != ranks_node[odd.from]); i++)
            EXPECT(rank->out[rank->displs[from] + i] == (i < given_of(kind, from) ? word(from, i) : -1),
                   "element %d from rank %d is wrong", i, from);
    if (kind == PL_COLL_GATHERV)
        for (int from = 0; from < ranks_size; from++)
            EXPECT(rank->out[rank->displs[from] + rank->counts[from]] == -1, "the gap after block %d", from);
}

static void check_rank(enum pl_coll_kind kind, int rank, int root)
{
    struct rank *r = &ranks[rank];
    if (is_scan(kind))
        check_scan(kind, rank);
    else if (!is_scatter(kind) && (rank == root || is_allgather(kind)))
        check_blocks(r, kind);
    for (int i = 0; is_scatter(kind) && r->coll.recvbuf != MPI_IN_PLACE && i < length_of(kind, rank); i++)
        EXPECT(r->out[i] == (i < given_of(kind, rank) ? word(rank, i) : -1), "scatter: element %d of rank %d is wrong",
               i, rank);
    free(r->in);
    free(r->out);
}

/* A scatter goes by nodes if these have two ranks on average. */
static bool is_by_nodes(const struct nodes *nodes, enum pl_coll_kind kind)
{
    return !nodes->interleaved && (!is_scatter(kind) || ranks_size >= 2 * nodes->count);
}

/* The messages from node to node. */
static int crossings_of(const struct nodes *nodes, enum pl_coll_kind kind, int root)
{
    int sum = nodes->count - 1;
    if (is_scan(kind) && nodes->count > CHAIN)
        for (int distance = 1; distance < nodes->count - 1; distance *= 2)
            sum += nodes->count - 1 - distance;
    for (int i = 0; is_varied(kind) && i < ranks_size; i++)
        sum += given_of(kind, i) >= LONG && ranks_node[i] != ranks_node[root];
    if (!is_allgather(kind))
        return sum;
    for (sum = 0, root = 1; root < nodes->count; root *= 2) /* Bruck's algorithm, or recursive doubling */
        sum += nodes->count;
    return sum;
}

static void run_kind(const struct nodes *nodes, enum pl_coll_kind kind, int root, bool in_place)
{
    for (int rank = 0; rank < ranks_size; rank++)
        describe(kind, rank, root, in_place);
    run_all();
    for (int rank = 0; rank < ranks_size; rank++)
        check_rank(kind, rank, root);
    int want = crossings_of(nodes, kind, root) * (1 + restarts);
    if (is_by_nodes(nodes, kind))
        EXPECT(ranks_crossings == want, "collective %d of %d ranks on %d nodes: %d messages between nodes, not %d",
               kind, ranks_size, nodes->count, ranks_crossings, want);
}

/* Blocking, nonblocking, and persistent ones whose messages depend on what arrives. */
static void check_kind(const struct nodes *nodes, enum pl_coll_kind kind)
{
    for (int form = 0; form < (is_varied(kind) ? 6 : 4); form++) {
        started = form / 2;
        restarts = form / 2 == 2 ? 2 : 0;
        open_nodes(nodes);
        run_kind(nodes, kind, (int)random_below((unsigned)ranks_size), form % 2);
        close_nodes(nodes);
    }
    restarts = 0;
}

/* --- few ranks and many, and amounts that differ ------------------------------------------------------------------ */

static const enum pl_coll_kind kinds[] = { PL_COLL_SCAN,    PL_COLL_EXSCAN,   PL_COLL_GATHER,    PL_COLL_GATHERV,
                                           PL_COLL_SCATTER, PL_COLL_SCATTERV, PL_COLL_ALLGATHER, PL_COLL_ALLGATHERV };
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Up to twelve ranks, placed in many ways. */
START_TEST(test_few)
{
    for (int count = 1; count <= 6; count++)
        for (int draw = 0; draw < 24; draw++) {
            struct nodes nodes = { .count = count, .interleaved = draw % 3 == 2 };
            for (int i = 0, left = 12 - count; i < count; i++) {
                int more = (int)random_below((unsigned)(left < 4 ? left : 4) + 1);
                nodes.size[i] = 1 + more;
                left -= more;
            }
            if (count > 1)
                check_kind(&nodes, kinds[_i]);
        }
}
END_TEST

START_TEST(test_many)
{
    static const int counts[] = { 8, 9, 16, 33, 64 };
    for (int i = 0; i < 5; i++) {
        struct nodes nodes = { .count = counts[i] };
        for (int node = 0; node < counts[i]; node++)
            nodes.size[node] = 2 + (node + 1) % 3;
        check_kind(&nodes, kinds[_i]);
    }
}
END_TEST

static const enum pl_coll_kind varied_kinds[] = { PL_COLL_GATHERV, PL_COLL_SCATTERV };

/* One rank gives, or the root gives one rank, another amount than the other side expects. */
START_TEST(test_varied_unequal)
{
    static const int lengths[] = { 0, 1, 2, 3, LONG - 1, LONG, LONG + 3 };
    enum pl_coll_kind kind = varied_kinds[_i];
    for (int draw = 0; draw < 360; draw++) {
        struct nodes nodes = draw_nodes(draw);
        open_nodes(&nodes);
        int root = (int)random_below((unsigned)ranks_size);
        odd.from = (root + 1 + (int)random_below((unsigned)ranks_size - 1)) % ranks_size;
        odd.given = lengths[random_below(7)];
        int *want = &ranks[kind == PL_COLL_GATHERV ? root : odd.from].want;
        *want = odd.given > length_of(kind, odd.from) ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
        restarts = *want ? 0 : restarts;
        run_kind(&nodes, kind, root, draw % 2);
        *want = MPI_SUCCESS;
        odd.from = -1;
        close_nodes(&nodes);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hierarchy");
    TCase *tcase = unit_case(suite);
    tcase_add_loop_test(tcase, test_few, 0, KINDS);
    tcase_add_loop_test(tcase, test_many, 0, KINDS);
    tcase_add_loop_test(tcase, test_varied_unequal, 0, 2);
    return unit_end(suite);
}
