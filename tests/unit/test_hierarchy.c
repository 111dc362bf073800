/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives by a node hierarchy on simulated nodes, blocking and nonblocking: results, and the number of messages
 * from node to node, which has a formula. The ranks are threads that take turns; one that waits lets another run.
 * Messages move when all wait.
 */
#define RANKS_LIMIT 200
#include "ranks.h"

#include <pthread.h>
#include <semaphore.h>

#include "core/coll/hierarchy/hierarchy.h"
#include "core/coll/hierarchy/step.h"
#include "core/job/process.h"

enum { COUNT = 5, LONG = PL_HIERARCHY_BLOCK / 8 + 1, CHAIN = 8 };

struct nodes {
    int count;
    int size[64];     /* ranks of each */
    bool interleaved; /* ranks go round the nodes */
};

/* --- ranks as threads --------------------------------------------------------------------------------------------- */

static struct rank {
    struct pl_coll coll;
    pthread_t thread;
    sem_t go;
    bool done;
    int rc, want; /* error class; the one to expect */
    int64_t *in, *out;
    int in_count; /* words that change from one start to the next */
    MPI_Count counts[RANKS_MAX], counts_in[RANKS_MAX];
    MPI_Aint displs[RANKS_MAX], displs_in[RANKS_MAX];
    MPI_Datatype types[RANKS_MAX];
} ranks[RANKS_MAX];
static sem_t ranks_back;
static bool started; /* nonblocking */
static int restarts; /* of a persistent one, after the first start */
static _Thread_local struct rank *me;

static void let_others(void)
{
    sem_post(&ranks_back);
    sem_wait(&me->go);
}

static int start_and_wait(const struct pl_coll *coll)
{
    struct pl_request *request;
    int rc = pl_coll_start(coll, &request);
    if (rc)
        return rc;
    rc = ranks_wait(request);
    pl_handle_drop(request);
    return rc;
}

/* Each start has other data. */
static int start_again_and_again(const struct pl_coll *coll)
{
    struct pl_request *request;
    int rc = pl_coll_prepare(coll, &request);
    if (rc)
        return rc;
    for (int start = 0; rc == MPI_SUCCESS && start <= restarts; start++) {
        for (int i = 0; i < me->in_count; i++)
            me->in[i] += start > 0;
        rc = request->coll.restart(request);
        rc = rc ? rc : ranks_wait(request);
    }
    pl_handle_drop(request);
    return rc;
}

static void *run_rank(void *rank)
{
    me = rank;
    sem_wait(&me->go);
    me->rc = restarts ? start_again_and_again(&me->coll) : started ? start_and_wait(&me->coll) : pl_coll_run(&me->coll);
    me->done = true;
    sem_post(&ranks_back);
    return NULL;
}

static void run_all(void)
{
    int left = ranks_size;
    sem_init(&ranks_back, 0, 0);
    ranks_crossings = 0;
    for (int i = 0; i < ranks_size; i++) {
        sem_init(&ranks[i].go, 0, 0);
        ranks[i].done = false;
        ck_assert_int_eq(pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]), 0);
    }
    while (left > 0) {
        int shift = (int)random_below((unsigned)ranks_size);
        for (int i = 0; i < ranks_size; i++) {
            struct rank *next = &ranks[(i + shift) % ranks_size];
            if (next->done)
                continue;
            sem_post(&next->go);
            sem_wait(&ranks_back);
            left -= next->done;
        }
        bool moved = false;
        while (ranks_step())
            moved = true;
        EXPECT(moved || left == 0 || message_count > 0, "deadlock: %d ranks wait", left);
    }
    for (int i = 0; i < ranks_size; i++) {
        pthread_join(ranks[i].thread, NULL);
        EXPECT(ranks[i].rc == ranks[i].want, "error %d at rank %d, not %d", ranks[i].rc, i, ranks[i].want);
    }
    EXPECT(message_count == 0, "%d messages are left", message_count);
}

/* --- nodes -------------------------------------------------------------------------------------------------------- */

static struct pl_group node_groups[64];
static uint64_t members[64][RANKS_MAX];
static struct pl_group leader_group;
static uint64_t leaders[64];

static void place_ranks(const struct nodes *nodes)
{
    int placed[64] = { 0 }, rank = 0;
    for (int round = 0; rank < ranks_size; round++)
        for (int node = 0; node < nodes->count; node++)
            for (; placed[node] < nodes->size[node] && (!nodes->interleaved || placed[node] <= round); rank++) {
                ranks_node[rank] = node;
                members[node][placed[node]++] = (uint64_t)rank;
            }
    for (int node = 0; node < nodes->count; node++) {
        leaders[node] = members[node][0];
        node_groups[node] = (struct pl_group){ .size = placed[node], .list = members[node] };
    }
    leader_group = (struct pl_group){ .size = nodes->count, .list = leaders };
}

static struct pl_comm *open_part(int rank, int part, struct pl_group *group)
{
    struct pl_comm *comm = &ranks_parts[rank][part];
    *comm = (struct pl_comm){ .obj.predefined = true, .instance = &ranks_instance[rank], .group = group };
    comm->rank = pl_group_find(group, (uint64_t)rank);
    comm->size = group->size;
    comm->coll.no_area = comm->coll.no_hierarchy = true;
    pl_list_init(&comm->requests.spares);
    pl_list_init(&comm->coll.persistent);
    return comm;
}

static struct pl_hierarchy *hierarchy_of(const struct nodes *nodes, int rank)
{
    struct pl_hierarchy *made = calloc(1, sizeof *made + (RANKS_MAX + 1) * sizeof *made->runs);
    int node = ranks_node[rank];
    made->node = node;
    for (int i = 0; i < ranks_size; i++)
        if (i == 0 || ranks_node[i] != ranks_node[i - 1])
            made->runs[made->run_count++] = (struct pl_hierarchy_run){ i, ranks_node[i] };
    made->runs[made->run_count].rank = ranks_size;
    made->contiguous = made->run_count == nodes->count;
    if (nodes->size[node] > 1)
        made->here = open_part(rank, RANKS_HERE, &node_groups[node]);
    if (leaders[node] == (uint64_t)rank)
        made->leaders = open_part(rank, RANKS_LEADERS, &leader_group);
    return made;
}

static void open_nodes(const struct nodes *nodes)
{
    int size = 0;
    for (int i = 0; i < nodes->count; i++)
        size += nodes->size[i];
    ranks_open(size);
    place_ranks(nodes);
    for (int rank = 0; rank < size; rank++) {
        ranks_comm[rank].coll.no_area = true;
        ranks_comm[rank].coll.hierarchy = ranks_comm[rank].coll.started_hierarchy = hierarchy_of(nodes, rank);
        ranks_comm[rank].coll.search = PL_HIERARCHY_FOUND;
    }
    ranks_let_others = let_others;
    ranks_strict = false;         /* the receiver of amounts and blocks knows only the most that may come */
    pl_process.identity.size = 2; /* of which one is on this node: there is a network */
    pl_process.identity.local_size = 1;
}

static void close_nodes(const struct nodes *nodes)
{
    for (int node = 0; node < nodes->count; node++)
        free(node_groups[node].index);
    free(leader_group.index);
    for (int rank = 0; rank < ranks_size; rank++)
        free(ranks_comm[rank].coll.hierarchy);
}

/* --- one collective ----------------------------------------------------------------------------------------------- */

static int64_t word(int rank, int i)
{
    return (int64_t)(rank + 1) * (rank + 3) * 1009 + i;
}

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
    int from, to, given; /* what one rank gives another, which expects another amount; -1: there is none */
} odd = { -1, -1, 0 };

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

static void fill_words(int64_t *at, int count, int rank)
{
    for (int i = 0; i < count; i++)
        at[i] = word(rank, i);
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

/* --- whole results ------------------------------------------------------------------------------------------------ */

/* All ranks get the same, or the root does: the sum of all ranks, or the words of the root. */
static void describe_whole(enum pl_coll_kind kind, int rank, int root)
{
    const struct pl_type *type = pl_type_predefined((uintptr_t)MPI_INT64_T);
    struct rank *r = &ranks[rank];
    bool gives = kind != PL_COLL_BCAST || rank == root;
    r->in = calloc(COUNT, sizeof *r->in);
    r->out = calloc(COUNT, sizeof *r->out);
    fill_words(gives && kind == PL_COLL_BCAST ? r->out : r->in, COUNT, rank);
    r->coll = (struct pl_coll){ .kind = kind,
                                .comm = &ranks_comm[rank],
                                .sendbuf = r->in,
                                .recvbuf = r->out,
                                .recvcount = COUNT,
                                .recvtype = type,
                                .root = root,
                                .op = kind >= PL_COLL_REDUCE ? pl_op_predefined((uintptr_t)MPI_SUM) : NULL };
    if (!gives)
        memset(r->out, 0xff, COUNT * sizeof *r->out);
}

static void check_whole(enum pl_coll_kind kind, int rank, int root)
{
    struct rank *r = &ranks[rank];
    bool gets = kind == PL_COLL_BCAST || kind == PL_COLL_ALLREDUCE || (kind == PL_COLL_REDUCE && rank == root);
    for (int i = 0; i < COUNT && gets; i++) {
        int64_t want = kind == PL_COLL_BCAST ? word(root, i) : 0;
        for (int from = 0; kind != PL_COLL_BCAST && from < ranks_size; from++)
            want += word(from, i);
        EXPECT(r->out[i] == want, "collective %d: element %d of rank %d is wrong", kind, i, rank);
    }
    free(r->in);
    free(r->out);
}

/* --- blocks from each rank to each -------------------------------------------------------------------------------- */

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

static struct nodes draw_nodes(int draw)
{
    struct nodes nodes = { .count = 2 + draw % 5, .interleaved = draw % 7 == 6 };
    for (int i = 0; i < nodes.count; i++)
        nodes.size[i] = 1 + (int)random_below(4);
    started = draw % 3 > 0;
    restarts = draw % 3 == 2 ? 2 : 0;
    return nodes;
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

/* --- a model of many ranks: the steps of all of them are appended and counted, not run ---------------------------- */

struct model {
    long messages, crossings; /* in all; from node to node */
    int waits;                /* of the rank that waits most often */
};

static void model_add(struct model *model, const struct pl_schedule *schedule, int rank, int ranks_each)
{
    int waits = 0;
    for (int i = 0; i < schedule->count; i++) {
        const struct pl_step *step = &schedule->steps[i];
        waits += step->kind == PL_STEP_WAIT;
        model->messages += step->kind == PL_STEP_SEND;
        model->crossings += step->kind == PL_STEP_SEND && step->peer / ranks_each != rank / ranks_each;
    }
    model->waits = waits > model->waits ? waits : model->waits;
}

/* Messages among all ranks, as selected for their number; the root is rank 0. */
static struct model model_of(enum pl_coll_kind kind, int size, int ranks_each)
{
    static struct pl_comm comm;
    static struct pl_schedule schedule;
    struct pl_group group = { .size = size, .stride = 1 };
    struct model model = { 0 };
    int64_t in[COUNT] = { 0 }, out[COUNT];
    comm = (struct pl_comm){ .obj.predefined = true, .size = size, .group = &group };
    for (comm.rank = 0; comm.rank < size; comm.rank++) {
        struct pl_coll coll = { .kind = kind,
                                .comm = &comm,
                                .sendbuf = in,
                                .recvbuf = out,
                                .recvcount = COUNT,
                                .recvtype = pl_type_predefined((uintptr_t)MPI_INT64_T),
                                .op = kind >= PL_COLL_REDUCE ? pl_op_predefined((uintptr_t)MPI_SUM) : NULL };
        pl_schedule_init(&schedule, &comm, 0);
        pl_coll_append(&schedule, &coll);
        ck_assert_int_eq(schedule.broken, MPI_SUCCESS);
        model_add(&model, &schedule, comm.rank, ranks_each);
        pl_schedule_fini(&schedule);
    }
    return model;
}

static const enum pl_coll_kind wholes[] = { PL_COLL_BARRIER, PL_COLL_BCAST, PL_COLL_REDUCE, PL_COLL_ALLREDUCE };
enum { WHOLES = sizeof wholes / sizeof *wholes };

/* What is run has as many messages between nodes as the model has for one rank on each node. */
START_TEST(test_model)
{
    static const int counts[] = { 2, 3, 5, 8, 13, 33, 64 };
    for (int turn = 0; turn < 14; turn++) {
        int i = turn / 2;
        struct nodes nodes = { .count = counts[i], .interleaved = i % 2 };
        started = turn % 2;
        for (int node = 0; node < counts[i]; node++)
            nodes.size[node] = 2 + node % 2;
        open_nodes(&nodes);
        int root = (int)random_below((unsigned)ranks_size);
        for (int rank = 0; rank < ranks_size; rank++)
            describe_whole(wholes[_i], rank, root);
        run_all();
        for (int rank = 0; rank < ranks_size; rank++)
            check_whole(wholes[_i], rank, root);
        close_nodes(&nodes);
        long want = model_of(wholes[_i], counts[i], 1).crossings;
        EXPECT(ranks_crossings == want, "collective %d on %d nodes: %d messages between nodes, not %ld", wholes[_i],
               counts[i], ranks_crossings, want);
    }
}
END_TEST

static void expect_model(const struct model *got, const struct model *want)
{
    EXPECT(got->messages == want->messages && got->crossings == want->crossings && got->waits == want->waits,
           "{ %ld, %ld, %d }", got->messages, got->crossings, got->waits);
}

/* 98,304 ranks on 1,024 nodes: what docs/notes/network.md says. */
START_TEST(test_model_large)
{
    enum { NODES = 1024, EACH = 96 };
    static const struct {
        struct model all, among;
    } expected[WHOLES] = {
        { { 1671168, 1113088, 17 }, { 10240, 10240, 10 } },
        { { 98303, 1791, 1 }, { 1023, 1023, 1 } },
        { { 98303, 1791, 17 }, { 1023, 1023, 10 } },
        { { 1114112, 688128, 18 }, { 10240, 10240, 10 } },
    };
    pl_process.identity.size = 2; /* of which one is on this node: there is a network */
    pl_process.identity.local_size = 1;
    struct model all = model_of(wholes[_i], NODES * EACH, EACH), among = model_of(wholes[_i], NODES, 1);
    expect_model(&all, &expected[_i].all);
    expect_model(&among, &expected[_i].among);
}
END_TEST

/* --- all of it ---------------------------------------------------------------------------------------------------- */

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

int main(void)
{
    Suite *suite = suite_create("hierarchy");
    TCase *tcase = unit_case(suite);
    tcase_add_loop_test(tcase, test_few, 0, KINDS);
    tcase_add_loop_test(tcase, test_many, 0, KINDS);
    tcase_add_loop_test(tcase, test_pairs, 0, 2);
    tcase_add_loop_test(tcase, test_pairs_unequal, 0, 2);
    tcase_add_loop_test(tcase, test_varied_unequal, 0, 2);
    tcase_add_loop_test(tcase, test_model, 0, WHOLES);
    tcase_add_loop_test(tcase, test_model_large, 0, WHOLES);
    return unit_end(suite);
}
