/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoallv and alltoallw by a node hierarchy on simulated nodes, with amounts that differ from pair to pair. Checked
 * are the results, also if the two ranks of a pair disagree, and the number of messages from node to node.
 */
#include "ranks_on_nodes.h"

static struct odd {
    int from, to, given; /* what one rank gives another, which expects another amount; -1: there is none */
} odd = { -1, -1, 0 };

/* Some pairs have none, and some have more than goes through the leaders. */
static int length_between(int from, int to)
{
    return (from + to) % 3 == 0 ? 0 : (5 * from + to) % 11 == 3 ? LONG : (from + 2 * to) % 4 + 1;
}

static int64_t word_between(int from, int to, int i)
{
    return word(from * RANKS_MAX + to, i) + restarts;
}

static int given_between(int from, int to)
{
    return from == odd.from && to == odd.to ? odd.given : length_between(from, to);
}

/* A gap follows each block that a rank gets. */
static void describe_pairs(enum pl_coll_kind kind, int rank)
{
    const struct pl_type *type = pl_type_predefined((uintptr_t)MPI_INT64_T);
    struct rank *r = &ranks[rank];
    int unit = kind == PL_COLL_ALLTOALLW ? (int)sizeof *r->in : 1, out = 0, in = 0;
    for (int i = 0; i < ranks_size; i++) {
        r->counts[i] = given_between(rank, i);
        r->counts_in[i] = length_between(i, rank);
        r->displs[i] = out * unit;
        r->displs_in[i] = in * unit;
        r->types[i] = MPI_INT64_T;
        out += (int)r->counts[i];
        in += (int)r->counts_in[i] + 1;
    }
    r->in_count = out;
    r->in = malloc((size_t)(out + 1) * sizeof *r->in);
    r->out = malloc((size_t)in * sizeof *r->out);
    memset(r->out, 0xff, (size_t)in * sizeof *r->out);
    for (int i = 0; i < ranks_size; i++)
        for (int k = 0; k < r->counts[i]; k++)
            r->in[r->displs[i] / unit + k] = word_between(rank, i, k) - restarts;
    r->coll = (struct pl_coll){ .kind = kind,
                                .comm = &ranks_comm[rank],
                                .sendbuf = r->in,
                                .recvbuf = r->out,
                                .sendtype = type,
                                .recvtype = type,
                                .sendcounts.wide = r->counts,
                                .senddispls.wide = r->displs,
                                .recvcounts.wide = r->counts_in,
                                .recvdispls.wide = r->displs_in };
    if (kind == PL_COLL_ALLTOALLW)
        r->coll.sendtypes = r->coll.recvtypes = r->types;
}

static void check_pairs(enum pl_coll_kind kind, int rank)
{
    struct rank *r = &ranks[rank];
    int unit = kind == PL_COLL_ALLTOALLW ? (int)sizeof *r->in : 1;
    for (int from = 0; from < ranks_size; from++) {
        const int64_t *block = r->out + r->displs_in[from] / unit;
        for (int i = 0; i < r->counts_in[from]; i++)
            EXPECT(block[i] == (i < given_between(from, rank) ? word_between(from, rank, i) : -1),
                   "element %d from %d to %d is wrong", i, from, rank);
        EXPECT(block[r->counts_in[from]] == -1, "the gap after block %d", from);
    }
    free(r->in);
    free(r->out);
}

/* One from node to node where there are blocks, and one for each long block. */
static int crossings_of_pairs(const struct nodes *nodes)
{
    bool talk[64][64] = { { false } };
    int sum = 0;
    for (int from = 0; from < ranks_size; from++)
        for (int to = 0; to < ranks_size; to++) {
            int length = ranks_node[from] != ranks_node[to] ? given_between(from, to) : 0;
            sum += length >= LONG;
            talk[ranks_node[from]][ranks_node[to]] |= length > 0;
        }
    for (int from = 0; from < nodes->count; from++)
        for (int to = 0; to < nodes->count; to++)
            sum += talk[from][to];
    return sum;
}

static const enum pl_coll_kind pair_kinds[] = { PL_COLL_ALLTOALLV, PL_COLL_ALLTOALLW };

static void run_pairs(enum pl_coll_kind kind, const struct nodes *nodes)
{
    for (int rank = 0; rank < ranks_size; rank++)
        describe_pairs(kind, rank);
    run_all();
    for (int rank = 0; rank < ranks_size; rank++)
        check_pairs(kind, rank);
    int want = crossings_of_pairs(nodes) * (1 + restarts);
    if (!nodes->interleaved && ranks_size >= 2 * nodes->count)
        EXPECT(ranks_crossings == want, "%d messages between %d nodes, not %d", ranks_crossings, nodes->count, want);
}

START_TEST(test_pairs)
{
    for (int draw = 0; draw < 180; draw++) {
        struct nodes nodes = draw_nodes(draw);
        open_nodes(&nodes);
        run_pairs(pair_kinds[_i], &nodes);
        close_nodes(&nodes);
    }
}
END_TEST

/* One rank gives another one less than that expects, which takes it, or more, which is an error there and nowhere
 * else. Lengths around the limit of what goes through the leaders, but not of 0. */
START_TEST(test_pairs_unequal)
{
    static const int lengths[] = { 1, 2, 3, LONG - 1, LONG, LONG + 3 };
    for (int draw = 0; draw < 360; draw++) {
        struct nodes nodes = draw_nodes(draw);
        open_nodes(&nodes);
        do {
            odd.from = (int)random_below((unsigned)ranks_size);
            odd.to = (int)random_below((unsigned)ranks_size);
        } while (ranks_size > 1 && (odd.from == odd.to || length_between(odd.from, odd.to) == 0));
        odd.given = lengths[random_below(6)];
        if (odd.given > length_between(odd.from, odd.to))
            ranks[odd.to].want = MPI_ERR_TRUNCATE;
        restarts = ranks[odd.to].want ? 0 : restarts;
        run_pairs(pair_kinds[_i], &nodes);
        ranks[odd.to].want = MPI_SUCCESS;
        odd.from = odd.to = -1;
        close_nodes(&nodes);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hierarchy pairs");
    TCase *tcase = unit_case(suite);
    tcase_add_loop_test(tcase, test_pairs, 0, 2);
    tcase_add_loop_test(tcase, test_pairs_unequal, 0, 2);
    return unit_end(suite);
}
