/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reordering distributes the nodes of a graph over the places where processes run, so that few edges lead from one
 * place to another. It fills one place after the other by growth: next is the node with the most neighbors in the
 * place. Of equals it takes the one that was reached first, which grows blocks, or the lowest, which grows rows. The
 * better of the two results is used, if it is better than the ranks as they are.
 */
#include "core/comm/topology_reorder.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/comm/hw.h"
#include "core/comm/topology_graph.h"
#include "core/comm/topology_hw.h"
#include "core/object/plugin.h"

enum { BETWEEN_MACHINES = 100, BETWEEN_PARTS = 1 };

static int reorder_distance(struct pl_location a, struct pl_location b)
{
    return a.node != b.node ? BETWEEN_MACHINES : a.part != b.part ? BETWEEN_PARTS : 0;
}

/* A graph whose nodes are to be placed, and where processes run. */
struct reorder_graph {
    int nnodes;
    const int *index, *edges;        /* as in MPI_Graph_create */
    const struct pl_location *where; /* [nnodes], of processes */
};

/* The cost of all edges if node i is at where[process[i]]. */
static long long reorder_cost(const struct reorder_graph *graph, const int process[])
{
    const int *index = graph->index, *edges = graph->edges;
    const struct pl_location *where = graph->where;
    long long sum = 0;
    for (int i = 0; i < graph->nnodes; i++)
        for (int e = pl_graph_first(index, i); e < index[i]; e++)
            sum += reorder_distance(where[process[i]], where[process[edges[e]]]);
    return sum;
}

/* The state of a node. Steps count the nodes that have been taken, that is, have a process. */
struct state {
    bool taken;
    int neighbors;    /* in the place that is being filled */
    int reached_here; /* the step that made it a neighbor of that place */
    int reached;      /* the step that made it a neighbor of any taken node */
};

static bool reorder_earlier(const struct state *a, const struct state *b)
{
    return a->reached_here != b->reached_here ? a->reached_here < b->reached_here : a->reached < b->reached;
}

static int reorder_next_node(int nnodes, const struct state state[], bool blocks)
{
    int best = -1;
    for (int i = 0; i < nnodes; i++)
        if (!state[i].taken &&
            (best < 0 || state[i].neighbors > state[best].neighbors ||
             (blocks && state[i].neighbors == state[best].neighbors && reorder_earlier(&state[i], &state[best]))))
            best = i;
    return best;
}

/* A process, to be sorted by place. */
struct candidate {
    struct pl_location where;
    int process;
};

static int candidate_compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->where.node != y->where.node)
        return x->where.node < y->where.node ? -1 : 1;
    if (x->where.part != y->where.part)
        return x->where.part < y->where.part ? -1 : 1;
    return x->process - y->process;
}

/* Memory for the search: all [nnodes]. */
struct work {
    struct candidate *candidates;
    struct state *state;
    int *order;   /* the processes, those of one place together */
    int *process; /* of each node */
};

/* Finds work->process from work->order. */
static void reorder_grow(const struct reorder_graph *graph, bool blocks, const struct work *work)
{
    const int *index = graph->index, *order = work->order, nnodes = graph->nnodes;
    struct state *state = work->state;
    for (int i = 0; i < nnodes; i++)
        state[i] = (struct state){ .reached = INT32_MAX };
    for (int i = 0; i < nnodes; i++) {
        bool first = i == 0 || reorder_distance(graph->where[order[i]], graph->where[order[i - 1]]) > 0;
        for (int k = 0; first && k < nnodes; k++) {
            state[k].neighbors = 0;
            state[k].reached_here = INT32_MAX;
        }
        int node = reorder_next_node(nnodes, state, blocks);
        work->process[node] = order[i];
        state[node].taken = true;
        for (int e = pl_graph_first(index, node); e < index[node]; e++) {
            struct state *neighbor = &state[graph->edges[e]];
            if (neighbor->neighbors++ == 0)
                neighbor->reached_here = i;
            if (neighbor->reached > i)
                neighbor->reached = i;
        }
    }
}

static void reorder_search(const struct reorder_graph *graph, const struct work *work, long long best, int placed[])
{
    int nnodes = graph->nnodes;
    for (int i = 0; i < nnodes; i++)
        work->candidates[i] = (struct candidate){ graph->where[i], i };
    qsort(work->candidates, (size_t)nnodes, sizeof *work->candidates, candidate_compare);
    for (int i = 0; i < nnodes; i++)
        work->order[i] = work->candidates[i].process;
    for (int blocks = 0; blocks < 2; blocks++) {
        reorder_grow(graph, blocks, work);
        long long now = reorder_cost(graph, work->process);
        if (now >= best)
            continue;
        best = now;
        for (int i = 0; i < nnodes; i++)
            placed[work->process[i]] = i;
    }
}

int pl_reorder(int nnodes, const int index[], const int edges[], const struct pl_location where[], int placed[])
{
    const struct reorder_graph graph = { nnodes, index, edges, where };
    for (int i = 0; i < nnodes; i++)
        placed[i] = i;
    long long now = reorder_cost(&graph, placed);
    if (now == 0)
        return MPI_SUCCESS;
    size_t n = (size_t)nnodes;
    struct work work = {
        .candidates = pl_malloc(n * sizeof *work.candidates),
        .state = pl_malloc(n * sizeof *work.state),
        .order = pl_malloc(n * sizeof *work.order),
        .process = pl_malloc(n * sizeof *work.process),
    };
    bool made = work.candidates && work.state && work.order && work.process;
    if (made)
        reorder_search(&graph, &work, now, placed);
    free(work.candidates);
    free(work.state);
    free(work.order);
    free(work.process);
    return made ? MPI_SUCCESS : pl_fail_memory("the order of a graph's processes");
}

/* --- where processes run ------------------------------------------------------------------------------------------ */

/* The part of the machine that this process is bound to, or -1. */
static int reorder_own_part(void)
{
    enum { INDEX_BITS = 12 };
    const struct pl_topology_ops *topology = pl_plugin_load("hwloc", PL_TOPOLOGY_SYMBOL);
    if (!topology)
        return -1;
    int package = topology->index("Package"), memory = topology->index("NUMANode");
    return package < 0 && memory < 0 ? -1 : (package < 0 ? 0 : package) << INDEX_BITS | (memory < 0 ? 0 : memory);
}

int pl_reorder_comm(struct pl_comm *parent, int nnodes, const int index[], const int edges[], int *node)
{
    struct pl_location own = { .part = reorder_own_part() };
    struct pl_location *where = pl_malloc((size_t)parent->size * sizeof *where);
    int *placed = pl_malloc(((size_t)nnodes + 1) * sizeof *placed);
    int rc = where && placed ? pl_comm_node_color(parent, &own.node)
                             : pl_fail_memory("the locations of a graph's processes");
    if (!rc)
        rc = pl_allgather(parent, &own, sizeof own, PL_TYPE_BYTE, where, sizeof own, PL_TYPE_BYTE);
    if (!rc)
        rc = pl_reorder(nnodes, index, edges, where, placed);
    if (!rc && parent->rank < nnodes)
        *node = placed[parent->rank];
    free(placed);
    free(where);
    return rc;
}
