/* SPDX-License-Identifier: BSD-3-Clause */
/* Process topologies (MPI-5.0 chapter 8): graphs, and distributed graphs with their weights. */
#include "api/comm.h"
#include "api/topology.h"

#include "api/pmpi.h"
#include "core/comm/topology_graph.h"

/* --- arguments ------------------------------------------------------------------------------------------------- */

static const struct pl_topology *arg_graph(struct pl_call *call, MPI_Comm comm)
{
    return pl_arg_topology(call, comm, MPI_GRAPH, "graph");
}

static const struct pl_topology *arg_dist_graph(struct pl_call *call, MPI_Comm comm)
{
    return pl_arg_topology(call, comm, MPI_DIST_GRAPH, "distributed graph");
}

/* An array of MPI_Dist_graph_neighbors, which may hold fewer elements than there are. */
static void arg_any_capacity(struct pl_call *call, const int array[], const char *name, int capacity)
{
    if (capacity < 0)
        pl_call_error(call, MPI_ERR_ARG, "the size of %s is %d; it must not be negative", name, capacity);
    if (capacity > 0)
        pl_arg_output(call, array, name);
}

static int mpi_graph_least(int a, int b)
{
    return a < b ? a : b;
}

/* The arguments of MPI_Graph_create. */
static void arg_nodes(struct pl_call *call, const struct pl_comm *comm, int nnodes, const int indx[], const int edges[])
{
    if (comm && (nnodes < 0 || nnodes > comm->size))
        pl_call_error(call, MPI_ERR_ARG, "nnodes is %d; %s has %d processes", nnodes, pl_comm_label(comm), comm->size);
    if (nnodes > 0)
        pl_arg_output(call, indx, "index");
    for (int i = 0; i < nnodes && !call->err; i++)
        if (indx[i] < pl_graph_first(indx, i))
            pl_call_error(call, MPI_ERR_ARG, "index[%d] is %d, less than the %d before it", i, indx[i],
                          pl_graph_first(indx, i));
    int nedges = !call->err && nnodes > 0 ? indx[nnodes - 1] : 0;
    if (nedges > 0)
        pl_arg_output(call, edges, "edges");
    for (int i = 0; i < nedges && !call->err; i++)
        if (edges[i] < 0 || edges[i] >= nnodes)
            pl_call_error(call, MPI_ERR_ARG, "edges[%d] is %d; the graph has %d nodes", i, edges[i], nnodes);
}

/* Ranks at the ends of edges. */
static void arg_ends(struct pl_call *call, const struct pl_comm *comm, int n, const int ranks[], const char *name)
{
    if (n < 0)
        pl_call_error(call, MPI_ERR_ARG, "the number of %s is %d; it must not be negative", name, n);
    if (n > 0)
        pl_arg_output(call, ranks, name);
    for (int i = 0; i < n && !call->err; i++)
        if (ranks[i] < 0 || ranks[i] >= comm->size)
            pl_call_error(call, MPI_ERR_RANK, "%s[%d] is %d; %s has %d processes", name, i, ranks[i],
                          pl_comm_label(comm), comm->size);
}

/* The weights of n edges, or NULL. */
static const int *arg_weights(struct pl_call *call, int n, const int weights[], const char *name)
{
    if (call->err || n == 0 || weights == MPI_UNWEIGHTED)
        return NULL;
    if (weights == MPI_WEIGHTS_EMPTY)
        pl_call_error(call, MPI_ERR_ARG, "%s is MPI_WEIGHTS_EMPTY, but there are %d edges", name, n);
    pl_arg_output(call, weights, name);
    for (int i = 0; i < n && !call->err; i++)
        if (weights[i] < 0)
            pl_call_error(call, MPI_ERR_ARG, "%s[%d] is %d; it must not be negative", name, i, weights[i]);
    return weights;
}

/* --- graphs ---------------------------------------------------------------------------------------------------- */

int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
                     MPI_Comm *comm_graph)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Graph_create);
    call.names = &(const struct pl_arg_names){ .comm = "comm_old" };
    struct pl_comm *c = pl_arg_intracomm(&call, comm_old), *made = NULL;
    arg_nodes(&call, c, nnodes, indx, edges);
    pl_arg_output(&call, comm_graph, "comm_graph");
    pl_comm_begin(&call, c);
    if (!call.err && nnodes > 0)
        call.err = pl_graph_create(c, nnodes, indx, edges, reorder, &made);
    return pl_comm_leave(&call, made, comm_graph);
}

int MPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank)
{
    struct pl_call call = PL_CALL(MPI_Graph_map);
    struct pl_comm *c = pl_arg_intracomm(&call, comm);
    if (nnodes == 0)
        pl_call_error(&call, MPI_ERR_ARG, "nnodes is 0; it must be at least 1");
    arg_nodes(&call, c, nnodes, indx, edges);
    pl_arg_output(&call, newrank, "newrank");
    if (!call.err)
        *newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
    return pl_call_leave(&call);
}

int MPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
    struct pl_call call = PL_CALL(MPI_Graphdims_get);
    const struct pl_topology *topology = arg_graph(&call, comm);
    pl_arg_output(&call, nnodes, "nnodes");
    pl_arg_output(&call, nedges, "nedges");
    if (!call.err) {
        *nnodes = topology->nnodes;
        *nedges = topology->nedges;
    }
    return pl_call_leave(&call);
}

int MPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[])
{
    struct pl_call call = PL_CALL(MPI_Graph_get);
    const struct pl_topology *topology = arg_graph(&call, comm);
    if (topology) {
        pl_arg_capacity(&call, indx, "index", maxindex, topology->nnodes);
        pl_arg_capacity(&call, edges, "edges", maxedges, topology->nedges);
    }
    if (!call.err) {
        pl_copy_ints(indx, topology->index, topology->nnodes);
        pl_copy_ints(edges, topology->edges, topology->nedges);
    }
    return pl_call_leave(&call);
}

int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
    struct pl_call call = PL_CALL(MPI_Graph_neighbors_count);
    const struct pl_topology *topology = arg_graph(&call, comm);
    if (topology)
        pl_arg_node(&call, rank, topology->nnodes, "graph");
    pl_arg_output(&call, nneighbors, "nneighbors");
    if (!call.err)
        *nneighbors = pl_graph_degree(topology->index, rank);
    return pl_call_leave(&call);
}

int MPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    struct pl_call call = PL_CALL(MPI_Graph_neighbors);
    const struct pl_topology *topology = arg_graph(&call, comm);
    if (topology)
        pl_arg_node(&call, rank, topology->nnodes, "graph");
    int n = call.err ? 0 : pl_graph_degree(topology->index, rank);
    pl_arg_capacity(&call, neighbors, "neighbors", maxneighbors, n);
    if (!call.err)
        pl_copy_ints(neighbors, topology->edges + pl_graph_first(topology->index, rank), n);
    return pl_call_leave(&call);
}

/* --- distributed graphs ---------------------------------------------------------------------------------------- */

int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
                                   int outdegree, const int destinations[], const int destweights[], MPI_Info info,
                                   int reorder, MPI_Comm *comm_dist_graph)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Dist_graph_create_adjacent);
    call.names = &(const struct pl_arg_names){ .comm = "comm_old" };
    struct pl_comm *c = pl_arg_intracomm(&call, comm_old), *made = NULL;
    arg_ends(&call, c, indegree, sources, "sources");
    arg_ends(&call, c, outdegree, destinations, "destinations");
    struct pl_adjacency edges = {
        .indegree = indegree,
        .outdegree = outdegree,
        .sources = sources,
        .destinations = destinations,
        .source_weights = arg_weights(&call, indegree, sourceweights, "sourceweights"),
        .dest_weights = arg_weights(&call, outdegree, destweights, "destweights"),
        .weighted = sourceweights != MPI_UNWEIGHTED || destweights != MPI_UNWEIGHTED,
    };
    if (indegree > 0 && outdegree > 0 && !edges.source_weights != !edges.dest_weights)
        pl_call_error(&call, MPI_ERR_ARG,
                      "only one of sourceweights and destweights is MPI_UNWEIGHTED; both must be, or neither");
    struct pl_info *hints = pl_arg_info_or_null(&call, info);
    pl_arg_output(&call, comm_dist_graph, "comm_dist_graph");
    (void)reorder; /* each process knows its own edges only, and keeps its rank */
    pl_comm_begin_anyway(&call, c);
    if (!call.err)
        call.err = pl_dist_graph_adjacent(c, &edges, &made);
    if (!call.err && made)
        call.err = pl_comm_info_set(made, hints);
    return pl_comm_leave(&call, made, comm_dist_graph);
}

/* The sum of the degrees. */
static int arg_degrees(struct pl_call *call, int n, const int degrees[])
{
    int sum = 0;
    if (n > 0)
        pl_arg_output(call, degrees, "degrees");
    for (int i = 0; i < n && !call->err; i++)
        if (degrees[i] < 0)
            pl_call_error(call, MPI_ERR_ARG, "degrees[%d] is %d; it must not be negative", i, degrees[i]);
        else if (__builtin_add_overflow(sum, degrees[i], &sum))
            pl_call_error(call, MPI_ERR_ARG, "the sum of degrees does not fit into an int");
    return sum;
}

int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
                          const int weights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Dist_graph_create);
    call.names = &(const struct pl_arg_names){ .comm = "comm_old" };
    struct pl_comm *c = pl_arg_intracomm(&call, comm_old), *made = NULL;
    arg_ends(&call, c, n, sources, "sources");
    int edges = arg_degrees(&call, n, degrees);
    arg_ends(&call, c, edges, destinations, "destinations");
    const int *weights_used = arg_weights(&call, edges, weights, "weights");
    struct pl_info *hints = pl_arg_info_or_null(&call, info);
    pl_arg_output(&call, comm_dist_graph, "comm_dist_graph");
    (void)reorder;
    pl_comm_begin(&call, c);
    if (!call.err)
        call.err =
            pl_dist_graph_create(c, n, sources, degrees, destinations, weights_used, weights != MPI_UNWEIGHTED, &made);
    if (!call.err && made)
        call.err = pl_comm_info_set(made, hints);
    return pl_comm_leave(&call, made, comm_dist_graph);
}

int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    struct pl_call call = PL_CALL(MPI_Dist_graph_neighbors_count);
    const struct pl_topology *topology = arg_dist_graph(&call, comm);
    pl_arg_output(&call, indegree, "indegree");
    pl_arg_output(&call, outdegree, "outdegree");
    pl_arg_output(&call, weighted, "weighted");
    if (!call.err) {
        *indegree = topology->indegree;
        *outdegree = topology->outdegree;
        *weighted = topology->weighted;
    }
    return pl_call_leave(&call);
}

/* The caller may decline weights with MPI_UNWEIGHTED. They are not written for a graph without weights. */
static bool mpi_graph_wants(const int weights[])
{
    return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}

int MPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
                             int destinations[], int destweights[])
{
    struct pl_call call = PL_CALL(MPI_Dist_graph_neighbors);
    const struct pl_topology *topology = arg_dist_graph(&call, comm);
    arg_any_capacity(&call, sources, "sources", maxindegree);
    arg_any_capacity(&call, destinations, "destinations", maxoutdegree);
    if (call.err)
        return pl_call_leave(&call);
    int in = mpi_graph_least(maxindegree, topology->indegree), out = mpi_graph_least(maxoutdegree, topology->outdegree);
    bool in_weights = topology->weighted && in > 0 && mpi_graph_wants(sourceweights);
    bool out_weights = topology->weighted && out > 0 && mpi_graph_wants(destweights);
    if (in_weights)
        pl_arg_output(&call, sourceweights, "sourceweights");
    if (out_weights)
        pl_arg_output(&call, destweights, "destweights");
    if (!call.err) {
        pl_copy_ints(sources, topology->sources, in);
        pl_copy_ints(destinations, topology->destinations, out);
        pl_copy_ints(sourceweights, topology->source_weights, in_weights ? in : 0);
        pl_copy_ints(destweights, topology->dest_weights, out_weights ? out : 0);
    }
    return pl_call_leave(&call);
}

PL_NAMES_GRAPH(PL_PMPI)
