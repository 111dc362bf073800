/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs: those that every process knows whole, and distributed ones, of which each knows its own edges.
 *
 * The edges of a distributed graph that anybody may name travel to both of their ends. Both get them in the order of
 * the ranks that named them and then as they were listed, so that several edges between the same two processes have
 * the same order at both, which is how neighborhood collectives pair them.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/comm/create.h"
#include "core/comm/topology.h"

/* --- known to all ------------------------------------------------------------------------------------------------- */

static struct pl_topology *make_graph(int nnodes, const int index[], const int edges[], int rank)
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
        rc = pl_fail(MPI_ERR_OTHER, "another process could not take part in the graph");
    return pl_topology_attach(rc, make_graph(nnodes, index, edges, (*comm)->rank), comm);
}

/* --- distributed: own edges --------------------------------------------------------------------------------------- */

static int *graph_put(int *to, const int *from, int n)
{
    if (n > 0 && from)
        memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

static struct pl_topology *make_adjacency(const struct pl_adjacency *edges)
{
    int in = edges->indegree, out = edges->outdegree;
    struct pl_topology *topology = pl_topology_create(MPI_DIST_GRAPH, 2 * ((size_t)in + (size_t)out));
    if (!topology)
        return NULL;
    topology->indegree = in;
    topology->outdegree = out;
    topology->weighted = edges->weighted;
    topology->sources = graph_put(topology->numbers, edges->sources, in);
    topology->source_weights = graph_put(topology->sources + in, edges->source_weights, in);
    topology->destinations = graph_put(topology->source_weights + in, edges->destinations, out);
    topology->dest_weights = graph_put(topology->destinations + out, edges->dest_weights, out);
    return topology;
}

int pl_dist_graph_adjacent(struct pl_comm *parent, const struct pl_adjacency *edges, struct pl_comm **comm)
{
    int rc = pl_comm_create_members(parent, parent->group, comm);
    return rc ? rc : pl_topology_attach(rc, make_adjacency(edges), comm);
}

/* --- distributed: anybody's edges --------------------------------------------------------------------------------- */

/* An edge on its way to its ends. */
struct edge {
    int source, destination, weight;
};

/* Edges for every rank, one after the other, and how many each gets. */
struct parcel {
    int *counts, *places; /* [comm size] */
    struct edge *edges;
    int total;
};

static void free_parcel(struct parcel *parcel)
{
    free(parcel->counts);
    free(parcel->edges);
}

/* From counts to places, and memory for the edges. */
static int lay_out(struct parcel *parcel, int size)
{
    long long total = 0;
    for (int i = 0; i < size; i++) {
        parcel->places[i] = (int)total;
        total += parcel->counts[i];
    }
    if (total > INT32_MAX)
        return pl_fail(MPI_ERR_ARG, "a process has %lld edges of the graph, allowed are %d", total, INT32_MAX);
    parcel->total = (int)total;
    parcel->edges = pl_malloc(((size_t)total + 1) * sizeof *parcel->edges);
    return parcel->edges ? MPI_SUCCESS : pl_fail_memory("the edges of a graph");
}

static int make_parcel(struct parcel *parcel, int size)
{
    *parcel = (struct parcel){ .counts = pl_calloc(2 * (size_t)size, sizeof(int)) };
    if (!parcel->counts)
        return pl_fail_memory("the edges of a graph");
    parcel->places = parcel->counts + size;
    return MPI_SUCCESS;
}

/* Puts each edge into the parcel of both of its ends, once if they are the same. */
static int graph_pack(struct parcel *parcel, int size, int n, const int sources[], const int degrees[],
                      const int destinations[], const int weights[])
{
    for (int i = 0, e = 0; i < n; i++)
        for (int k = 0; k < degrees[i]; k++, e++) {
            parcel->counts[sources[i]]++;
            parcel->counts[destinations[e]] += destinations[e] != sources[i];
        }
    int rc = lay_out(parcel, size);
    for (int i = 0, e = 0; !rc && i < n; i++)
        for (int k = 0; k < degrees[i]; k++, e++) {
            struct edge edge = { sources[i], destinations[e], weights ? weights[e] : 0 };
            parcel->edges[parcel->places[edge.source]++] = edge;
            if (edge.destination != edge.source)
                parcel->edges[parcel->places[edge.destination]++] = edge;
        }
    for (int i = 0; !rc && i < size; i++)
        parcel->places[i] -= parcel->counts[i];
    return rc;
}

/* Nobody goes on when one has failed. With *weighted, processes that have edges must agree on it, and decide for those
 * that have none. `weighted` NULL: no matter. */
static int graph_agree(struct pl_comm *parent, int failed, bool has_edges, bool *weighted)
{
    bool asks = weighted && has_edges;
    int own[3] = { failed != 0, asks && *weighted, asks && !*weighted }, all[3];
    int rc =
        pl_allreduce(parent, own, all, 3, pl_type_predefined((uintptr_t)MPI_INT), pl_op_predefined((uintptr_t)MPI_SUM));
    if (rc || failed)
        return failed ? failed : rc;
    if (all[0])
        return pl_fail(MPI_ERR_OTHER, "another process could not take part in the graph");
    if (all[1] && all[2])
        return pl_fail(MPI_ERR_ARG, "%d processes give weights and %d give MPI_UNWEIGHTED; all must do the same",
                       all[1], all[2]);
    if (weighted && all[1] + all[2] > 0)
        *weighted = all[1] > 0;
    return MPI_SUCCESS;
}

static int graph_exchange(struct pl_comm *parent, const struct parcel *out, struct parcel *in)
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
    int rc = pl_coll_run(&counts);
    int failed = rc ? rc : lay_out(in, parent->size);
    rc = graph_agree(parent, failed, false, NULL);
    if (rc)
        return rc;
    MPI_Count *sizes = pl_malloc(4 * (size_t)parent->size * sizeof *sizes);
    if (!sizes)
        return pl_fail_memory("the edges of a graph");
    MPI_Aint *places = (MPI_Aint *)(sizes + 2 * parent->size);
    for (int i = 0; i < parent->size; i++) {
        sizes[i] = out->counts[i] * (MPI_Count)sizeof(struct edge);
        sizes[parent->size + i] = in->counts[i] * (MPI_Count)sizeof(struct edge);
        places[i] = out->places[i] * (MPI_Aint)sizeof(struct edge);
        places[parent->size + i] = in->places[i] * (MPI_Aint)sizeof(struct edge);
    }
    struct pl_coll edges = {
        .kind = PL_COLL_ALLTOALLV,
        .comm = parent,
        .sendbuf = out->edges,
        .recvbuf = in->edges,
        .sendtype = PL_TYPE_BYTE,
        .recvtype = PL_TYPE_BYTE,
        .sendcounts.wide = sizes,
        .recvcounts.wide = sizes + parent->size,
        .senddispls.wide = places,
        .recvdispls.wide = places + parent->size,
    };
    rc = pl_coll_run(&edges);
    free(sizes);
    return rc;
}

/* From the edges that came to those of this process. */
static int make_from(const struct parcel *in, bool weighted, struct pl_comm **comm)
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
    int rc = pl_topology_attach(MPI_SUCCESS, make_adjacency(&own), comm);
    free(lists);
    return rc;
}

int pl_dist_graph_create(struct pl_comm *parent, int n, const int sources[], const int degrees[],
                         const int destinations[], const int weights[], bool weighted, struct pl_comm **comm)
{
    struct parcel out, in = { 0 };
    *comm = NULL;
    int rc = make_parcel(&out, parent->size);
    if (!rc)
        rc = make_parcel(&in, parent->size);
    if (!rc)
        rc = graph_pack(&out, parent->size, n, sources, degrees, destinations, weights);
    rc = graph_agree(parent, rc, out.total > 0, &weighted);
    if (!rc)
        rc = graph_exchange(parent, &out, &in);
    if (!rc)
        rc = pl_comm_create_members(parent, parent->group, comm);
    if (!rc)
        rc = make_from(&in, weighted, comm);
    free_parcel(&in);
    free_parcel(&out);
    return rc;
}
