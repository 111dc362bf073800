/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian grids. See topology_cart.h. */
#include "core/comm/topology_cart.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/comm/create.h"
#include "core/comm/topology_reorder.h"

void pl_cart_coords(const struct pl_topology *topology, int rank, int coords[])
{
    for (int i = topology->ndims - 1; i >= 0; i--) {
        coords[i] = rank % topology->dims[i];
        rank /= topology->dims[i];
    }
}

/* A coordinate that may lie outside: wrapped where the dimension is periodic, else -1. */
static int cart_wrap(const struct pl_topology *topology, int dimension, long long coordinate)
{
    int extent = topology->dims[dimension];
    if (topology->periods[dimension])
        coordinate = (coordinate % extent + extent) % extent;
    return 0 <= coordinate && coordinate < extent ? (int)coordinate : -1;
}

int pl_cart_rank(const struct pl_topology *topology, const int coords[])
{
    int rank = 0;
    for (int i = 0; i < topology->ndims; i++) {
        int coordinate = cart_wrap(topology, i, coords[i]);
        if (coordinate < 0)
            return MPI_PROC_NULL;
        rank = rank * topology->dims[i] + coordinate;
    }
    return rank;
}

int pl_cart_shift(const struct pl_topology *topology, int dimension, long long disp)
{
    int shifted = cart_wrap(topology, dimension, topology->coords[dimension] + disp), rank = 0;
    if (shifted < 0)
        return MPI_PROC_NULL;
    for (int i = 0; i < topology->ndims; i++)
        rank = rank * topology->dims[i] + (i == dimension ? shifted : topology->coords[i]);
    return rank;
}

/* The topology of the process with this rank in the grid. */
static struct pl_topology *cart_make_topology(int ndims, const int dims[], const int periods[], int rank)
{
    struct pl_topology *topology = pl_topology_create(MPI_CART, (size_t)ndims * 5);
    if (!topology)
        return NULL;
    topology->ndims = ndims;
    topology->dims = topology->numbers;
    topology->periods = topology->dims + ndims;
    topology->coords = topology->periods + ndims;
    topology->sources = topology->destinations = topology->coords + ndims;
    topology->indegree = topology->outdegree = 2 * ndims;
    for (int i = 0; i < ndims; i++) {
        topology->dims[i] = dims[i];
        topology->periods[i] = periods[i] != 0;
    }
    pl_cart_coords(topology, rank, topology->coords);
    for (int i = 0; i < ndims; i++) {
        topology->sources[2 * i] = pl_cart_shift(topology, i, -1);
        topology->sources[2 * i + 1] = pl_cart_shift(topology, i, 1);
    }
    return topology;
}

/* Makes the communicator of the processes that have a node in a grid; the others get NULL. */
static int cart_make_comm(struct pl_comm *parent, int color, int node, int ndims, const int dims[], const int periods[],
                          struct pl_comm **comm)
{
    int nodes = 1, rc = pl_comm_split(parent, node == MPI_UNDEFINED ? MPI_UNDEFINED : color, node, comm);
    if (rc || !*comm)
        return rc;
    for (int i = 0; i < ndims; i++)
        nodes *= dims[i];
    if ((*comm)->size != nodes)
        rc = pl_fail(MPI_ERR_OTHER, "creating the grid failed on another process");
    return pl_topology_attach(rc, cart_make_topology(ndims, dims, periods, (*comm)->rank), comm);
}

/* --- reordering: the grid as a graph ------------------------------------------------------------------------------ */

static int cart_reorder(struct pl_comm *parent, int ndims, const int dims[], const int periods[], int nodes, int *node)
{
    int *index = pl_malloc((size_t)nodes * sizeof *index),
        *edges = pl_malloc(((size_t)nodes * 2 * (size_t)ndims + 1) * sizeof *edges);
    struct pl_topology *topology = cart_make_topology(ndims, dims, periods, 0);
    int count = 0, rc = MPI_ERR_NO_MEM;
    if (!index || !edges || !topology) {
        pl_fail_memory("the order of a grid's processes");
        goto out;
    }
    for (int rank = 0; rank < nodes; rank++) {
        pl_cart_coords(topology, rank, topology->coords);
        for (int i = 0; i < 2 * ndims; i++) {
            int neighbor = pl_cart_shift(topology, i / 2, i % 2 ? 1 : -1);
            if (neighbor != MPI_PROC_NULL)
                edges[count++] = neighbor;
        }
        index[rank] = count;
    }
    rc = MPI_SUCCESS;
out:
    /* A process without memory must not leave the others waiting. */
    rc = rc ? (pl_reorder_comm(parent, 0, NULL, NULL, node), rc) : pl_reorder_comm(parent, nodes, index, edges, node);
    free(topology);
    free(edges);
    free(index);
    return rc;
}

int pl_cart_create(struct pl_comm *parent, int ndims, const int dims[], const int periods[], bool reorder,
                   struct pl_comm **comm)
{
    int nodes = 1, rc = MPI_SUCCESS;
    for (int i = 0; i < ndims; i++)
        nodes *= dims[i];
    int node = parent->rank < nodes ? parent->rank : MPI_UNDEFINED;
    *comm = NULL;
    if (reorder && nodes > 2)
        rc = cart_reorder(parent, ndims, dims, periods, nodes, &node);
    int made = cart_make_comm(parent, 0, rc ? MPI_UNDEFINED : node, ndims, dims, periods, comm);
    return rc ? rc : made;
}

int pl_cart_sub(struct pl_comm *parent, const int remain[], struct pl_comm **comm)
{
    const struct pl_topology *whole = pl_topology_of(parent);
    int *dims = pl_malloc(((size_t)whole->ndims * 2 + 1) * sizeof *dims), *periods = dims + whole->ndims;
    int ndims = 0, color = 0, rc;
    *comm = NULL;
    if (!dims) {
        pl_comm_split(parent, MPI_UNDEFINED, 0, comm);
        return pl_fail_memory("the dimensions of a subgrid");
    }
    for (int i = 0; i < whole->ndims; i++) {
        if (remain[i]) {
            dims[ndims] = whole->dims[i];
            periods[ndims++] = whole->periods[i];
        } else {
            color = color * whole->dims[i] + whole->coords[i];
        }
    }
    rc = cart_make_comm(parent, color, parent->rank, ndims, dims, periods, comm);
    free(dims);
    return rc;
}
