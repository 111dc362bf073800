/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs, replicated and distributed. See topology_graph.h. */
#include "core/comm/topology_graph.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/comm/create.h"
#include "core/comm/topology_reorder.h"

/* --- replicated --------------------------------------------------------------------------------------------------- */

static struct pl_topology *graph_make_topology(int nnodes, const int index[], const int edges[], int rank)
{
    int nedges = index[nnodes - 1];
    struct pl_topology *topology = pl_topology_create(MPI_GRAPH, (size_t)nnodes + (size_t)nedges);
    if (!topology)
        return NULL;
    topology->nnodes = nnodes;
    topology->nedges = nedges;
    topology->index = topology->numbers;
    topology->edges = topology->index + nnodes;
    memcpy(topology->index, index, (size_t)nnodes * sizeof *index);
    if (nedges > 0)
        memcpy(topology->edges, edges, (size_t)nedges * sizeof *edges);
    topology->indegree = topology->outdegree = pl_graph_degree(index, rank);
    topology->sources = topology->destinations = topology->edges + pl_graph_first(index, rank);
    return topology;
}

int pl_graph_create(struct pl_comm *parent, int nnodes, const int index[], const int edges[], bool reorder,
                    struct pl_comm **comm)
{
    int node = parent->rank < nnodes ? parent->rank : MPI_UNDEFINED, rc = MPI_SUCCESS;
    *comm = NULL;
    if (reorder && nnodes > 2)
        rc = pl_reorder_comm(parent, nnodes, index, edges, &node);
    int made = pl_comm_split(parent, rc || node == MPI_UNDEFINED ? MPI_UNDEFINED : 0, node, comm);
    if (rc || made || !*comm)
        return rc ? rc : made;
    if ((*comm)->size != nnodes)
        rc = pl_fail(MPI_ERR_OTHER, "creating the graph failed on another process");
    return pl_topology_attach(rc, graph_make_topology(nnodes, index, edges, (*comm)->rank), comm);
}

/* --- distributed: each process names its own edges ---------------------------------------------------------------- */

static int *graph_copy_numbers(int *to, const int *from, int n)
{
    if (n > 0 && from)
        memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

static struct pl_topology *graph_make_adjacency(const struct pl_adjacency *edges)
{
    int in = edges->indegree, out = edges->outdegree;
    struct pl_topology *topology = pl_topology_create(MPI_DIST_GRAPH, 2 * ((size_t)in + (size_t)out));
    if (!topology)
        return NULL;
    topology->indegree = in;
    topology->outdegree = out;
    topology->weighted = edges->weighted;
    topology->sources = graph_copy_numbers(topology->numbers, edges->sources, in);
    topology->source_weights = graph_copy_numbers(topology->sources + in, edges->source_weights, in);
    topology->destinations = graph_copy_numbers(topology->source_weights + in, edges->destinations, out);
    topology->dest_weights = graph_copy_numbers(topology->destinations + out, edges->dest_weights, out);
    return topology;
}

int pl_dist_graph_adjacent(struct pl_comm *parent, const struct pl_adjacency *edges, struct pl_comm **comm)
{
    int rc = pl_comm_create_members(parent, parent->group, comm);
    return rc ? rc : pl_topology_attach(rc, graph_make_adjacency(edges), comm);
}

/* --- distributed: each process names any edges -------------------------------------------------------------------- */

/* An edge on its way to its ends. */
struct edge {
    int source, destination, weight;
};

/* Edges for, or from, all ranks. */
struct parcel {
    int *counts, *offsets; /* [comm size] */
    struct edge *edges;
    int total;
};

static void parcel_fini(struct parcel *parcel)
{
    free(parcel->counts);
    free(parcel->edges);
}

/* Allocates the edges, and sets the offsets by the counts. */
static int parcel_allocate(struct parcel *parcel, int size)
{
    long long total = 0;
    for (int i = 0; i < size; i++) {
        parcel->offsets[i] = (int)total;
        total += parcel->counts[i];
    }
    if (total > INT32_MAX)
        return pl_fail(MPI_ERR_ARG, "a process has %lld edges of the graph; at most %d are allowed", total, INT32_MAX);
    parcel->total = (int)total;
    parcel->edges = pl_malloc(((size_t)total + 1) * sizeof *parcel->edges);
    return parcel->edges ? MPI_SUCCESS : pl_fail_memory("the edges of a graph");
}

static int parcel_init(struct parcel *parcel, int size)
{
    *parcel = (struct parcel){ .counts = pl_calloc(2 * (size_t)size, sizeof(int)) };
    if (!parcel->counts)
        return pl_fail_memory("the edges of a graph");
    parcel->offsets = parcel->counts + size;
    return MPI_SUCCESS;
}

/* Adds each edge for both of its ends, once if they are the same. */
static int parcel_pack(struct parcel *parcel, int size, int n, const int sources[], const int degrees[],
                       const int destinations[], const int weights[])
{
    for (int i = 0, e = 0; i < n; i++)
        for (int k = 0; k < degrees[i]; k++, e++) {
            parcel->counts[sources[i]]++;
            parcel->counts[destinations[e]] += destinations[e] != sources[i];
        }
    int rc = parcel_allocate(parcel, size);
    for (int i = 0, e = 0; !rc && i < n; i++)
        for (int k = 0; k < degrees[i]; k++, e++) {
            struct edge edge = { sources[i], destinations[e], weights ? weights[e] : 0 };
            parcel->edges[parcel->offsets[edge.source]++] = edge;
            if (edge.destination != edge.source)
                parcel->edges[parcel->offsets[edge.destination]++] = edge;
        }
    for (int i = 0; !rc && i < size; i++)
        parcel->offsets[i] -= parcel->counts[i];
    return rc;
}

/* Fails on all processes if one has failed. Processes that have edges must agree on *weighted, and decide for those
 * without edges. `weighted` may be NULL. */
static int graph_agree(struct pl_comm *parent, int failed, bool has_edges, bool *weighted)
{
    bool asks = weighted && has_edges;
    int own[3] = { failed != 0, asks && *weighted, asks && !*weighted }, all[3];
    int rc =
        pl_allreduce(parent, own, all, 3, pl_type_predefined((uintptr_t)MPI_INT), pl_op_predefined((uintptr_t)MPI_SUM));
    if (rc || failed)
        return failed ? failed : rc;
    if (all[0])
        return pl_fail(MPI_ERR_OTHER, "creating the graph failed on another process");
    if (all[1] && all[2])
        return pl_fail(MPI_ERR_ARG, "%d processes give weights and %d give MPI_UNWEIGHTED; all must do the same",
                       all[1], all[2]);
    if (weighted && all[1] + all[2] > 0)
        *weighted = all[1] > 0;
    return MPI_SUCCESS;
}

static int graph_exchange_counts(struct pl_comm *parent, const struct parcel *out, struct parcel *in)
{
    const struct pl_type *number = pl_type_predefined((uintptr_t)MPI_INT);
    struct pl_coll counts = {
        .kind = PL_COLL_ALLTOALL,
        .comm = parent,
        .sendbuf = out->counts,
        .recvbuf = in->counts,
        .sendcount = 1,
        .recvcount = 1,
        .sendtype = number,
        .recvtype = number,
    };
    return pl_coll_run(&counts);
}

static int graph_exchange_edges(struct pl_comm *parent, const struct parcel *out, const struct parcel *in)
{
    size_t size = (size_t)parent->size;
    MPI_Count *sizes = pl_malloc(4 * size * sizeof *sizes);
    if (!sizes)
        return pl_fail_memory("the edges of a graph");
    MPI_Aint *offsets = (MPI_Aint *)(sizes + 2 * size);
    for (size_t i = 0; i < size; i++) {
        sizes[i] = out->counts[i] * (MPI_Count)sizeof(struct edge);
        sizes[size + i] = in->counts[i] * (MPI_Count)sizeof(struct edge);
        offsets[i] = out->offsets[i] * (MPI_Aint)sizeof(struct edge);
        offsets[size + i] = in->offsets[i] * (MPI_Aint)sizeof(struct edge);
    }
    struct pl_coll edges = {
        .kind = PL_COLL_ALLTOALLV,
        .comm = parent,
        .sendbuf = out->edges,
        .recvbuf = in->edges,
        .sendtype = PL_TYPE_BYTE,
        .recvtype = PL_TYPE_BYTE,
        .sendcounts.wide = sizes,
        .recvcounts.wide = sizes + size,
        .senddispls.wide = offsets,
        .recvdispls.wide = offsets + size,
    };
    int rc = pl_coll_run(&edges);
    free(sizes);
    return rc;
}

static int graph_exchange(struct pl_comm *parent, const struct parcel *out, struct parcel *in)
{
    int rc = graph_exchange_counts(parent, out, in);
    rc = graph_agree(parent, rc ? rc : parcel_allocate(in, parent->size), false, NULL);
    return rc ? rc : graph_exchange_edges(parent, out, in);
}

/* Attaches the edges that have arrived. */
static int graph_attach_received(const struct parcel *in, bool weighted, struct pl_comm **comm)
{
    size_t stride = (size_t)in->total + 1;
    int rank = (*comm)->rank, *lists = pl_malloc(4 * stride * sizeof *lists);
    if (!lists) {
        pl_fail_memory("the edges of a graph");
        return pl_topology_attach(MPI_ERR_NO_MEM, NULL, comm);
    }
    struct pl_adjacency own = {
        .sources = lists,
        .source_weights = lists + stride,
        .destinations = lists + 2 * stride,
        .dest_weights = lists + 3 * stride,
        .weighted = weighted,
    };
    for (int i = 0; i < in->total; i++) {
        const struct edge *edge = &in->edges[i];
        if (edge->destination == rank) {
            lists[own.indegree] = edge->source;
            lists[stride + (size_t)own.indegree++] = edge->weight;
        }
        if (edge->source == rank) {
            lists[2 * stride + (size_t)own.outdegree] = edge->destination;
            lists[3 * stride + (size_t)own.outdegree++] = edge->weight;
        }
    }
    int rc = pl_topology_attach(MPI_SUCCESS, graph_make_adjacency(&own), comm);
    free(lists);
    return rc;
}

int pl_dist_graph_create(struct pl_comm *parent, int n, const int sources[], const int degrees[],
                         const int destinations[], const int weights[], bool weighted, struct pl_comm **comm)
{
    struct parcel out, in = { 0 };
    *comm = NULL;
    int rc = parcel_init(&out, parent->size);
    if (!rc)
        rc = parcel_init(&in, parent->size);
    if (!rc)
        rc = parcel_pack(&out, parent->size, n, sources, degrees, destinations, weights);
    rc = graph_agree(parent, rc, out.total > 0, &weighted);
    if (!rc)
        rc = graph_exchange(parent, &out, &in);
    if (!rc)
        rc = pl_comm_create_members(parent, parent->group, comm);
    if (!rc)
        rc = graph_attach_received(&in, weighted, comm);
    parcel_fini(&in);
    parcel_fini(&out);
    return rc;
}
