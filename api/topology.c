/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process topologies. Built: MPI_Dims_create, MPI_Topo_test, the maps, and the refusal of queries about a topology
 * that a communicator does not have. Creation is not built, and says so.
 */
#include <string.h>

#include "api/call.h"
#include "api/pmpi.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* --- MPI_Dims_create ------------------------------------------------------------------------------------------- */

/* More factors than these cannot all be larger than 1. */
enum { FACTORS_MAX = 31 };

/* base^exponent <= limit? */
static bool power_fits(int base, int exponent, int limit)
{
    while (exponent-- > 0)
        limit /= base;
    return limit >= 1;
}

/* The largest integer whose power fits. */
static int root_of(int n, int degree)
{
    int low = 1, high = n;

    while (low < high) {
        int middle = high - (high - low) / 2;
        if (power_fits(middle, degree, n))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Writes n as a product of `count` factors from low to high, in rising order. False: there is none. */
static bool split(int n, int count, int low, int high, int factors[])
{
    if (count == 1) {
        factors[0] = n;
        return low <= n && n <= high;
    }
    if (power_fits(high, count, n - 1)) /* all of them `high` is too little */
        return false;
    for (int f = root_of(n, count); f >= low; f--) {
        if (n % f == 0 && split(n / f, count - 1, f, high, factors + 1)) {
            factors[0] = f;
            return true;
        }
    }
    return false;
}

/*
 * Writes n as the product of `count` factors, in rising order, whose largest and smallest are as close as possible,
 * and of equally close ones the one whose smallest is the largest. The largest is never below the root, so that a
 * smallest one which is farther than the best distance below the root ends the search.
 */
static void balance(int n, int count, int factors[])
{
    int root = root_of(n, count), trial[FACTORS_MAX];
    int distance = n; /* of the best so far; n: none yet */

    if (count == 1) {
        factors[0] = n;
        return;
    }
    for (int low = root; low >= 1 && root - low < distance; low--) {
        if (n % low != 0)
            continue;
        trial[0] = low;
        while (distance > 0 && split(n / low, count - 1, low, distance < n ? low + distance - 1 : n, trial + 1)) {
            memcpy(factors, trial, (size_t)count * sizeof *factors);
            distance = factors[count - 1] - low;
        }
    }
}

/* Number of dimensions to choose; what is left of nnodes for them goes to *nodes. */
static int arg_dims(struct pl_call *call, int nnodes, int ndims, const int dims[], int *nodes)
{
    int free = 0;

    *nodes = nnodes;
    for (int i = 0; i < ndims && !call->err; i++) {
        if (dims[i] < 0)
            pl_call_error(call, MPI_ERR_DIMS, "dims[%d] is %d", i, dims[i]);
        else if (dims[i] == 0)
            free++;
        else if (*nodes % dims[i] != 0)
            pl_call_error(call, MPI_ERR_DIMS, "%d nodes are not a multiple of the dimensions given", nnodes);
        else
            *nodes /= dims[i];
    }
    return free;
}

int MPI_Dims_create(int nnodes, int ndims, int dims[])
{
    struct pl_call call = PL_CALL(MPI_Dims_create);
    int nodes, factors[FACTORS_MAX];

    if (nnodes < 1)
        pl_call_error(&call, MPI_ERR_ARG, "nnodes is %d", nnodes);
    if (ndims < 0)
        pl_call_error(&call, MPI_ERR_DIMS, "ndims is %d", ndims);
    if (ndims > 0)
        pl_arg_output(&call, dims, "dims");
    int left = call.err ? 0 : arg_dims(&call, nnodes, ndims, dims, &nodes);
    if (!call.err && left > 0) {
        int count = left < FACTORS_MAX ? left : FACTORS_MAX;
        balance(nodes, count, factors);
        for (int i = 0; i < ndims; i++)
            if (dims[i] == 0)
                dims[i] = count > 0 ? factors[--count] : 1;
    }
    return pl_call_leave(&call);
}

/* --- maps: without a reason to reorder, a process keeps its rank ------------------------------------------------ */

int MPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    struct pl_call call = PL_CALL(MPI_Cart_map);
    struct pl_comm *c = pl_arg_intracomm(&call, comm);
    MPI_Count nodes = 1;

    pl_arg_output(&call, newrank, "newrank");
    if (ndims < 0)
        pl_call_error(&call, MPI_ERR_DIMS, "ndims is %d", ndims);
    for (int i = 0; i < ndims && !call.err; i++) {
        nodes *= dims[i];
        if (dims[i] < 1)
            pl_call_error(&call, MPI_ERR_DIMS, "dims[%d] is %d", i, dims[i]);
        else if (nodes > c->size)
            pl_call_error(&call, MPI_ERR_DIMS, "the grid is larger than %s of %d processes", pl_comm_label(c), c->size);
    }
    if (!call.err)
        *newrank = c->rank < nodes ? c->rank : MPI_UNDEFINED;
    return pl_call_leave(&call);
}

int MPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank)
{
    struct pl_call call = PL_CALL(MPI_Graph_map);
    struct pl_comm *c = pl_arg_intracomm(&call, comm);

    pl_arg_output(&call, newrank, "newrank");
    if (c && (nnodes < 1 || nnodes > c->size))
        pl_call_error(&call, MPI_ERR_ARG, "nnodes is %d, %s has %d processes", nnodes, pl_comm_label(c), c->size);
    if (!call.err)
        *newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
    return pl_call_leave(&call);
}

/* --- queries --------------------------------------------------------------------------------------------------- */

int MPI_Topo_test(MPI_Comm comm, int *status)
{
    struct pl_call call = PL_CALL(MPI_Topo_test);
    struct pl_comm *c = pl_arg_comm(&call, comm);

    pl_arg_output(&call, status, "status");
    if (!call.err)
        *status = c->topology;
    return pl_call_leave(&call);
}

/* The end of a query: MPI_ERR_TOPOLOGY if the communicator has not this topology, which none has. */
static int query(struct pl_call *call, MPI_Comm comm, int topology, const char *name)
{
    struct pl_comm *c = pl_arg_comm(call, comm);

    if (c && c->topology != topology)
        pl_call_error(call, MPI_ERR_TOPOLOGY, "%s has no %s topology", pl_comm_label(c), name);
    return pl_call_unsupported(call);
}

int MPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
    struct pl_call call = PL_CALL(MPI_Cart_coords);

    return query(&call, comm, MPI_CART, "Cartesian");
}

int MPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    struct pl_call call = PL_CALL(MPI_Cart_get);

    return query(&call, comm, MPI_CART, "Cartesian");
}

int MPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
    struct pl_call call = PL_CALL(MPI_Cart_rank);

    return query(&call, comm, MPI_CART, "Cartesian");
}

int MPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{
    struct pl_call call = PL_CALL(MPI_Cart_shift);

    return query(&call, comm, MPI_CART, "Cartesian");
}

int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL(MPI_Cart_sub);

    return query(&call, comm, MPI_CART, "Cartesian");
}

int MPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
    struct pl_call call = PL_CALL(MPI_Cartdim_get);

    return query(&call, comm, MPI_CART, "Cartesian");
}

int MPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
                             int destinations[], int destweights[])
{
    struct pl_call call = PL_CALL(MPI_Dist_graph_neighbors);

    return query(&call, comm, MPI_DIST_GRAPH, "distributed graph");
}

int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    struct pl_call call = PL_CALL(MPI_Dist_graph_neighbors_count);

    return query(&call, comm, MPI_DIST_GRAPH, "distributed graph");
}

int MPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[])
{
    struct pl_call call = PL_CALL(MPI_Graph_get);

    return query(&call, comm, MPI_GRAPH, "graph");
}

int MPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    struct pl_call call = PL_CALL(MPI_Graph_neighbors);

    return query(&call, comm, MPI_GRAPH, "graph");
}

int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
    struct pl_call call = PL_CALL(MPI_Graph_neighbors_count);

    return query(&call, comm, MPI_GRAPH, "graph");
}

int MPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
    struct pl_call call = PL_CALL(MPI_Graphdims_get);

    return query(&call, comm, MPI_GRAPH, "graph");
}

/* --- creation -------------------------------------------------------------------------------------------------- */

int MPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                    MPI_Comm *comm_cart)
{
    struct pl_call call = PL_CALL(MPI_Cart_create);

    pl_arg_intracomm(&call, comm_old);
    return pl_call_unsupported(&call);
}

int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
                          const int weights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
    struct pl_call call = PL_CALL(MPI_Dist_graph_create);

    pl_arg_intracomm(&call, comm_old);
    return pl_call_unsupported(&call);
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
                                   int outdegree, const int destinations[], const int destweights[], MPI_Info info,
                                   int reorder, MPI_Comm *comm_dist_graph)
{
    struct pl_call call = PL_CALL(MPI_Dist_graph_create_adjacent);

    pl_arg_intracomm(&call, comm_old);
    return pl_call_unsupported(&call);
}

int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
                     MPI_Comm *comm_graph)
{
    struct pl_call call = PL_CALL(MPI_Graph_create);

    pl_arg_intracomm(&call, comm_old);
    return pl_call_unsupported(&call);
}

PL_NAMES_TOPOLOGY(PL_PMPI)
