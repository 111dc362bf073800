/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs: those that every process knows whole, and distributed ones, of which each process knows its own edges.
 *
 * The edges of pl_dist_graph_create() travel to both of their ends. Both get them in the order of the ranks that named
 * them, then as listed. So several edges between two processes have the same order at both, by which neighborhood
 * collectives pair them.
 */
#ifndef PLENUM_CORE_COMM_TOPOLOGY_GRAPH_H
#define PLENUM_CORE_COMM_TOPOLOGY_GRAPH_H

#include "core/comm/topology.h"

/* Collective over the parent. *comm is NULL for processes outside the graph. */
int pl_graph_create(struct pl_comm *parent, int nnodes, const int index[], const int edges[], bool reorder,
                    struct pl_comm **comm);

/* A node's neighbors in a graph: where they begin in edges[], and their number. */
static inline int pl_graph_first(const int index[], int node)
{
    return node > 0 ? index[node - 1] : 0;
}
static inline int pl_graph_degree(const int index[], int node)
{
    return index[node] - pl_graph_first(index, node);
}

/* The edges that end and begin at this process. Weights are NULL where there are none: in all processes or in none. */
struct pl_adjacency {
    int indegree, outdegree;
    const int *sources, *source_weights, *destinations, *dest_weights;
    bool weighted;
};

/* Collective over the parent, as the next. */
int pl_dist_graph_adjacent(struct pl_comm *parent, const struct pl_adjacency *edges, struct pl_comm **comm);

/* Any edges: degrees[i] of them begin at sources[i]. `weights` NULL: none. The ends need not be this process. */
int pl_dist_graph_create(struct pl_comm *parent, int n, const int sources[], const int degrees[],
                         const int destinations[], const int weights[], bool weighted, struct pl_comm **comm);

#endif
