/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual topologies (MPI-5.0 chapter 8): what a communicator knows of its Cartesian grid or graph.
 *
 * A topology is attached while its communicator is made and does not change; duplicates share it. So it is read without
 * a lock. Arguments are checked by the caller.
 */
#ifndef PLENUM_CORE_COMM_TOPOLOGY_H
#define PLENUM_CORE_COMM_TOPOLOGY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/engine/comm.h"

struct pl_topology {
    _Atomic int refs;
    int kind; /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH */

    /* This process's neighbors, in the order of the blocks of neighborhood collectives; MPI_PROC_NULL beyond the border
     * of a grid. Grids and graphs have one list for both. */
    int indegree, outdegree;
    int *sources, *destinations;

    /* MPI_CART */
    int ndims;
    int *dims, *periods, *coords; /* [ndims] */

    /* MPI_GRAPH: all of it, as MPI_Graph_create had it */
    int nnodes, nedges;
    int *index, *edges; /* [nnodes], [nedges] */

    /* MPI_DIST_GRAPH */
    bool weighted;
    int *source_weights, *dest_weights; /* [indegree], [outdegree] */

    int numbers[]; /* what the pointers point to */
};

/* The communicator's topology, NULL: it has none. Borrowed. */
static inline const struct pl_topology *pl_topology_of(const struct pl_comm *comm)
{
    return comm->topology.data;
}

/* Frees a communicator's topology, if it has one. */
void pl_topology_release(struct pl_comm *comm);

/* Gives a duplicate the topology of the original. */
int pl_topology_copy(const struct pl_comm *from, struct pl_comm *to);

/* A topology of this kind with room for `numbers`; NULL: out of memory (recorded). */
struct pl_topology *pl_topology_create(int kind, size_t numbers);

/* Gives a new communicator its topology (stolen). If `topology` is NULL, and if `rc` is an error, frees the
 * communicator and sets *comm to NULL. MPI error class. */
int pl_topology_attach(int rc, struct pl_topology *topology, struct pl_comm **comm);

/* --- grids ------------------------------------------------------------------------------------------------------- */

/* Collective over the parent. *comm is NULL for those outside of the grid, which is not larger than the parent. */
int pl_cart_create(struct pl_comm *parent, int ndims, const int dims[], const int periods[], bool reorder,
                   struct pl_comm **comm);

/* The grids that are left when all dimensions but those with remain[i] != 0 are taken away. Collective. */
int pl_cart_sub(struct pl_comm *parent, const int remain[], struct pl_comm **comm);

/* From rank to coordinates and back; MPI_PROC_NULL: they lie outside, in a dimension that is not periodic. */
void pl_cart_coords(const struct pl_topology *topology, int rank, int coords[]);
int pl_cart_rank(const struct pl_topology *topology, const int coords[]);

/* The rank `disp` steps from this process along a dimension, or MPI_PROC_NULL. */
int pl_cart_shift(const struct pl_topology *topology, int dimension, long long disp);

/* More factors than these cannot all be larger than 1. */
enum { PL_DIMS_MAX = 31 };

/* Writes n > 0 as the product of `count` factors (1 .. PL_DIMS_MAX), in rising order, whose largest and smallest are as
 * close as possible, and of equally close ones the one whose smallest is the largest. */
void pl_dims_balance(int n, int count, int factors[]);

/* --- graphs ------------------------------------------------------------------------------------------------------ */

/* Collective over the parent. *comm is NULL for those outside of the graph. */
int pl_graph_create(struct pl_comm *parent, int nnodes, const int index[], const int edges[], bool reorder,
                    struct pl_comm **comm);

/* A node's neighbors in a graph: how many, and where they begin in edges[]. */
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
int pl_dist_graph_adjacent(struct pl_comm *parent, const struct pl_adjacency *edges, struct pl_comm **comm);

/* Any edges: degrees[i] of them begin at sources[i]. `weights` NULL: none. The ends need not be this process. */
int pl_dist_graph_create(struct pl_comm *parent, int n, const int sources[], const int degrees[],
                         const int destinations[], const int weights[], bool weighted, struct pl_comm **comm);

/* --- reordering -------------------------------------------------------------------------------------------------- */

/* Where a process runs: the node by its lowest rank, and a part of it (package, memory), -1: anywhere on the node. */
struct pl_location {
    int node, part;
};

/*
 * Which node of a graph each of the first `nnodes` processes is to be, so that neighbors are near each other. What
 * counts are the edges between machines, then those between parts of them; without a gain everybody keeps its rank.
 * placed: [nnodes]. MPI_ERR_NO_MEM or success. The same arguments give the same result.
 */
int pl_reorder(int nnodes, const int index[], const int edges[], const struct pl_location where[], int placed[]);

/* The same for a communicator's processes: *node is this one's. Collective over the parent, of all its processes. */
int pl_reorder_comm(struct pl_comm *parent, int nnodes, const int index[], const int edges[], int *node);

#endif
