/* SPDX-License-Identifier: BSD-3-Clause */
/* Process topologies (MPI-5.0 chapter 8): grids, and what they share with graphs (graph.c). */
#include "api/topology.h"

#include "api/comm.h"
#include "api/pmpi.h"
#include "core/comm/topology_cart.h"
#include "core/comm/topology_dims.h"

/* --- shared with graphs ---------------------------------------------------------------------------------------- */

const struct pl_topology *pl_arg_topology(struct pl_call *call, MPI_Comm comm, int kind, const char *name)
{
    struct pl_comm *c = pl_arg_comm(call, comm);
    if (!c)
        return NULL;
    if (c->topology.kind != kind)
        pl_call_error(call, MPI_ERR_TOPOLOGY, "%s has no %s topology", pl_comm_label(c), name);
    return call->err ? NULL : pl_topology_of(c);
}

void pl_arg_capacity(struct pl_call *call, const int array[], const char *name, int capacity, int needed)
{
    if (!call->err && capacity < needed)
        pl_call_error(call, MPI_ERR_ARG, "%s has %d elements; %d are needed", name, capacity, needed);
    if (needed > 0)
        pl_arg_output(call, array, name);
}

void pl_arg_node(struct pl_call *call, int rank, int nodes, const char *what)
{
    if (rank < 0 || rank >= nodes)
        pl_call_error(call, MPI_ERR_RANK, "rank %d is not in the %s of %d processes", rank, what, nodes);
}

int MPI_Topo_test(MPI_Comm comm, int *status)
{
    struct pl_call call = PL_CALL(MPI_Topo_test);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    pl_arg_output(&call, status, "status");
    if (!call.err)
        *status = c->topology.kind;
    return pl_call_leave(&call);
}

/* --- grids ----------------------------------------------------------------------------------------------------- */

static const struct pl_topology *arg_cart(struct pl_call *call, MPI_Comm comm)
{
    return pl_arg_topology(call, comm, MPI_CART, "Cartesian");
}

/* A grid, which must not have more nodes than the communicator. */
static void arg_grid(struct pl_call *call, const struct pl_comm *comm, int ndims, const int dims[], const int periods[])
{
    MPI_Count nodes = 1;
    if (ndims < 0)
        pl_call_error(call, MPI_ERR_DIMS, "ndims is %d; it must not be negative", ndims);
    if (ndims > 0) {
        pl_arg_output(call, dims, "dims");
        pl_arg_output(call, periods, "periods");
    }
    for (int i = 0; i < ndims && !call->err; i++) {
        nodes *= dims[i];
        if (dims[i] < 1)
            pl_call_error(call, MPI_ERR_DIMS, "dims[%d] is %d; it must be at least 1", i, dims[i]);
        else if (nodes > comm->size)
            pl_call_error(call, MPI_ERR_DIMS, "dims[%d] is %d: the grid is larger than %s of %d processes", i, dims[i],
                          pl_comm_label(comm), comm->size);
    }
}

/* The number of dimensions to choose; *nodes is nnodes divided by the given ones. */
static int arg_dims(struct pl_call *call, int nnodes, int ndims, const int dims[], int *nodes)
{
    int free = 0;
    *nodes = nnodes;
    for (int i = 0; i < ndims && !call->err; i++) {
        if (dims[i] < 0)
            pl_call_error(call, MPI_ERR_DIMS, "dims[%d] is %d; it must not be negative", i, dims[i]);
        else if (dims[i] == 0)
            free++;
        else if (*nodes % dims[i] != 0)
            pl_call_error(call, MPI_ERR_DIMS,
                          "dims[%d] is %d: nnodes, %d, is not a multiple of the product of the given dimensions", i,
                          dims[i], nnodes);
        else
            *nodes /= dims[i];
    }
    return free;
}

int MPI_Dims_create(int nnodes, int ndims, int dims[])
{
    struct pl_call call = PL_CALL(MPI_Dims_create);
    int nodes, factors[PL_DIMS_MAX];
    if (nnodes < 1)
        pl_call_error(&call, MPI_ERR_ARG, "nnodes is %d; it must be positive", nnodes);
    if (ndims < 0)
        pl_call_error(&call, MPI_ERR_DIMS, "ndims is %d", ndims);
    if (ndims > 0)
        pl_arg_output(&call, dims, "dims");
    int left = call.err ? 0 : arg_dims(&call, nnodes, ndims, dims, &nodes);
    if (!call.err && left > 0) {
        int count = left < PL_DIMS_MAX ? left : PL_DIMS_MAX;
        pl_dims_balance(nodes, count, factors);
        for (int i = 0; i < ndims; i++)
            if (dims[i] == 0)
                dims[i] = count > 0 ? factors[--count] : 1;
    }
    return pl_call_leave(&call);
}

int MPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                    MPI_Comm *comm_cart)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Cart_create);
    call.names = &(const struct pl_arg_names){ .comm = "comm_old" };
    struct pl_comm *c = pl_arg_intracomm(&call, comm_old), *made = NULL;
    arg_grid(&call, c, ndims, dims, periods);
    pl_arg_output(&call, comm_cart, "comm_cart");
    pl_comm_begin(&call, c);
    if (!call.err)
        call.err = pl_cart_create(c, ndims, dims, periods, reorder, &made);
    return pl_comm_leave(&call, made, comm_cart);
}

int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Cart_sub);
    const struct pl_topology *topology = arg_cart(&call, comm);
    struct pl_comm *made = NULL;
    if (topology && topology->ndims > 0)
        pl_arg_output(&call, remain_dims, "remain_dims");
    pl_arg_output(&call, newcomm, "newcomm");
    pl_comm_begin(&call, call.object);
    if (!call.err)
        call.err = pl_cart_sub(call.object, remain_dims, &made);
    return pl_comm_leave(&call, made, newcomm);
}

/* A process knows no reason to reorder without the others: it keeps its rank. */
int MPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    struct pl_call call = PL_CALL(MPI_Cart_map);
    struct pl_comm *c = pl_arg_intracomm(&call, comm);
    arg_grid(&call, c, ndims, dims, periods);
    pl_arg_output(&call, newrank, "newrank");
    if (call.err)
        return pl_call_leave(&call);
    int nodes = 1;
    for (int i = 0; i < ndims; i++)
        nodes *= dims[i];
    *newrank = c->rank < nodes ? c->rank : MPI_UNDEFINED;
    return pl_call_leave(&call);
}

int MPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
    struct pl_call call = PL_CALL(MPI_Cartdim_get);
    const struct pl_topology *topology = arg_cart(&call, comm);
    pl_arg_output(&call, ndims, "ndims");
    if (!call.err)
        *ndims = topology->ndims;
    return pl_call_leave(&call);
}

int MPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    struct pl_call call = PL_CALL(MPI_Cart_get);
    const struct pl_topology *topology = arg_cart(&call, comm);
    int n = topology ? topology->ndims : 0;
    pl_arg_capacity(&call, dims, "dims", maxdims, n);
    pl_arg_capacity(&call, periods, "periods", maxdims, n);
    pl_arg_capacity(&call, coords, "coords", maxdims, n);
    if (!call.err) {
        pl_copy_ints(dims, topology->dims, n);
        pl_copy_ints(periods, topology->periods, n);
        pl_copy_ints(coords, topology->coords, n);
    }
    return pl_call_leave(&call);
}

int MPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
    struct pl_call call = PL_CALL(MPI_Cart_coords);
    const struct pl_topology *topology = arg_cart(&call, comm);
    if (topology) {
        pl_arg_node(&call, rank, ((struct pl_comm *)call.object)->size, "grid");
        pl_arg_capacity(&call, coords, "coords", maxdims, topology->ndims);
    }
    if (!call.err)
        pl_cart_coords(topology, rank, coords);
    return pl_call_leave(&call);
}

int MPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
    struct pl_call call = PL_CALL(MPI_Cart_rank);
    const struct pl_topology *topology = arg_cart(&call, comm);
    if (topology && topology->ndims > 0)
        pl_arg_output(&call, coords, "coords");
    pl_arg_output(&call, rank, "rank");
    for (int i = 0; !call.err && i < topology->ndims; i++)
        if (!topology->periods[i] && (coords[i] < 0 || coords[i] >= topology->dims[i]))
            pl_call_error(&call, MPI_ERR_ARG, "coords[%d] is %d, the dimension has %d processes and is not periodic", i,
                          coords[i], topology->dims[i]);
    if (!call.err)
        *rank = pl_cart_rank(topology, coords);
    return pl_call_leave(&call);
}

int MPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{
    struct pl_call call = PL_CALL(MPI_Cart_shift);
    const struct pl_topology *topology = arg_cart(&call, comm);
    if (topology && (direction < 0 || direction >= topology->ndims))
        pl_call_error(&call, MPI_ERR_DIMS, "direction is %d, the grid has %d dimensions", direction, topology->ndims);
    pl_arg_output(&call, rank_source, "rank_source");
    pl_arg_output(&call, rank_dest, "rank_dest");
    if (!call.err) {
        *rank_source = pl_cart_shift(topology, direction, -(long long)disp);
        *rank_dest = pl_cart_shift(topology, direction, disp);
    }
    return pl_call_leave(&call);
}

PL_NAMES_TOPOLOGY(PL_PMPI)
