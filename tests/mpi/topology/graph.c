/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs that every process knows completely (MPI-5.0 section 8.5.3): rings with loops and double edges, fewer nodes
 * than processes, no edges at all. A duplicate has the topology of its original, also a nonblocking one; a split
 * communicator has no topology.
 */
#include "mtest.h"

/* Node i: itself, its neighbors in the ring, and the next one once more. */
static int build(int nnodes, int indx[], int edges[])
{
    int count = 0;
    for (int i = 0; i < nnodes; i++) {
        edges[count++] = i;
        edges[count++] = (i + 1) % nnodes;
        edges[count++] = (i + nnodes - 1) % nnodes;
        if (i % 2 == 0)
            edges[count++] = (i + 1) % nnodes;
        indx[i] = count;
    }
    return count;
}

static void check_graph(MPI_Comm comm, int nnodes, const int indx[], const int edges[])
{
    int nedges = indx[nnodes - 1], nodes_got, edges_got, status, size;
    int *index2 = malloc((size_t)(nnodes + nedges + 1) * sizeof *index2), *edges2 = index2 + nnodes;
    CHECK_OK(MPI_Topo_test(comm, &status));
    CHECK(status == MPI_GRAPH);
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Graphdims_get(comm, &nodes_got, &edges_got));
    CHECK(nodes_got == nnodes && edges_got == nedges && size == nnodes);
    CHECK_OK(MPI_Graph_get(comm, nnodes, nedges, index2, edges2));
    CHECK(memcmp(index2, indx, (size_t)nnodes * sizeof *indx) == 0);
    CHECK(nedges == 0 || memcmp(edges2, edges, (size_t)nedges * sizeof *edges) == 0);
    for (int i = 0; i < nnodes; i++) {
        int first = i ? indx[i - 1] : 0, count = -1;
        CHECK_OK(MPI_Graph_neighbors_count(comm, i, &count));
        CHECK(count == indx[i] - first);
        CHECK_OK(MPI_Graph_neighbors(comm, i, count, edges2));
        CHECK(count == 0 || memcmp(edges2, edges + first, (size_t)count * sizeof *edges) == 0);
    }
    free(index2);
}

static void check_copies(MPI_Comm comm, int nnodes, const int indx[], const int edges[])
{
    MPI_Comm copy, later, part;
    MPI_Request request;
    int status;
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    CHECK_OK(MPI_Comm_idup(copy, &later, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_split(later, 0, 0, &part));
    CHECK_OK(MPI_Topo_test(part, &status));
    CHECK(status == MPI_UNDEFINED);
    CHECK_OK(MPI_Comm_free(&part));
    check_graph(copy, nnodes, indx, edges);
    CHECK_OK(MPI_Comm_free(&copy));
    check_graph(later, nnodes, indx, edges);
    CHECK_OK(MPI_Comm_free(&later));
}

static void check(int nnodes, const int indx[], const int edges[], int reorder)
{
    MPI_Comm comm;
    int mapped;
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, nnodes, indx, edges, reorder, &comm));
    CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, nnodes, indx, edges, &mapped));
    CHECK((comm == MPI_COMM_NULL) == (mtest_rank >= nnodes));
    CHECK(mapped == (mtest_rank < nnodes ? mtest_rank : MPI_UNDEFINED));
    if (comm == MPI_COMM_NULL)
        return;
    check_graph(comm, nnodes, indx, edges);
    check_copies(comm, nnodes, indx, edges);
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int *indx = calloc((size_t)mtest_size * 5, sizeof *indx), *edges = indx + mtest_size;
    MPI_Comm none;
    build(mtest_size, indx, edges);
    check(mtest_size, indx, edges, 0);
    check(mtest_size, indx, edges, 1);
    if (mtest_size > 1) {
        build(mtest_size - 1, indx, edges);
        check(mtest_size - 1, indx, edges, 1);
    }
    memset(indx, 0, (size_t)mtest_size * sizeof *indx);
    check(mtest_size, indx, edges, 0);
    check(mtest_size, indx, NULL, 0);
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &none));
    CHECK(none == MPI_COMM_NULL);
    free(indx);
    MTEST_END;
}
