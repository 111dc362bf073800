/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual topologies (MPI-5.0 chapter 8): what a communicator knows of its Cartesian grid (topology_cart.h) or graph
 * (topology_graph.h).
 *
 * A topology is attached while its communicator is made and does not change; duplicates share it. So it is read without
 * a lock. Here and in the other topology headers the caller checks the arguments.
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
     * of a grid. Grids and graphs have one list for both directions. */
    int indegree, outdegree;
    int *sources, *destinations;

    /* MPI_CART */
    int ndims;
    int *dims, *periods, *coords; /* [ndims] */

    /* MPI_GRAPH: all of it, as given to MPI_Graph_create */
    int nnodes, nedges;
    int *index, *edges; /* [nnodes], [nedges] */

    /* MPI_DIST_GRAPH */
    bool weighted;
    int *source_weights, *dest_weights; /* [indegree], [outdegree] */

    int numbers[]; /* the memory of the arrays above */
};

/* The communicator's topology, or NULL. Borrowed. */
static inline const struct pl_topology *pl_topology_of(const struct pl_comm *comm)
{
    return comm->topology.data;
}

/* Frees a communicator's topology, if it has one. */
void pl_topology_release(struct pl_comm *comm);

/* Gives a duplicate the topology of the original. */
int pl_topology_copy(const struct pl_comm *from, struct pl_comm *to);

/* A topology of this kind with space for `numbers`; NULL: out of memory (recorded). */
struct pl_topology *pl_topology_create(int kind, size_t numbers);

/* Gives a new communicator its topology (stolen). If `topology` is NULL, or `rc` is an error, frees the communicator
 * and sets *comm to NULL. MPI error class. */
int pl_topology_attach(int rc, struct pl_topology *topology, struct pl_comm **comm);

#endif
