/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of a communicator on simulated nodes. They are threads that take turns; one that waits lets another run.
 * Messages move when all wait.
 */
#ifndef PLENUM_TESTS_RANKS_ON_NODES_H
#define PLENUM_TESTS_RANKS_ON_NODES_H

#define RANKS_LIMIT 200
#include "ranks.h"

#include <pthread.h>
#include <semaphore.h>

#include "core/coll/hierarchy/hierarchy.h"
#include "core/coll/hierarchy/step.h"
#include "core/job/process.h"

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
    comm->coll.area.none = comm->coll.hierarchy.none = true;
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
        ranks_comm[rank].coll.area.none = true;
        ranks_comm[rank].coll.hierarchy.open = ranks_comm[rank].coll.hierarchy.started = hierarchy_of(nodes, rank);
        ranks_comm[rank].coll.hierarchy.search = PL_HIERARCHY_FOUND;
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
        free(ranks_comm[rank].coll.hierarchy.open);
}

/* --- what the tests draw, and what ranks give --------------------------------------------------------------------- */

enum { COUNT = 5, LONG = PL_HIERARCHY_BLOCK / 8 + 1 /* more than goes through leaders */ };

static inline int64_t word(int rank, int i)
{
    return (int64_t)(rank + 1) * (rank + 3) * 1009 + i;
}

static inline void fill_words(int64_t *at, int count, int rank)
{
    for (int i = 0; i < count; i++)
        at[i] = word(rank, i);
}

static inline struct nodes draw_nodes(int draw)
{
    struct nodes nodes = { .count = 2 + draw % 5, .interleaved = draw % 7 == 6 };
    for (int i = 0; i < nodes.count; i++)
        nodes.size[i] = 1 + (int)random_below(4);
    started = draw % 3 > 0;
    restarts = draw % 3 == 2 ? 2 : 0;
    return nodes;
}

#endif
