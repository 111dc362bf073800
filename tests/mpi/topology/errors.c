/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of the topology functions, each with its class. Nothing hangs, and no communicator is created. */
#include "mtest.h"

/* Through variables: the compiler knows that no int is at these addresses. */
static int *volatile unweighted = MPI_UNWEIGHTED, *volatile weights_empty = MPI_WEIGHTS_EMPTY;

#define BAD ((MPI_Comm)(uintptr_t)0x12345670)

static void bad_grids(MPI_Comm world)
{
    MPI_Comm made = BAD;
    int one[1] = { 1 }, zero[1] = { 0 }, rank;
    int many[2] = { mtest_size, 2 }, huge[3] = { 1 << 30, 1 << 30, 1 << 30 };
    CHECK_CLASS(MPI_Cart_create(MPI_COMM_NULL, 1, one, one, 0, &made), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Cart_create(world, -1, one, one, 0, &made), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_create(world, 1, zero, one, 0, &made), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_create(world, 2, many, many, 0, &made), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_create(world, 3, huge, huge, 0, &made), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_create(world, 1, NULL, one, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_create(world, 1, one, NULL, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_create(world, 1, one, one, 0, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_map(world, 1, zero, one, &rank), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_map(world, 1, one, one, NULL), MPI_ERR_ARG);
    CHECK(made == BAD);
}

static void bad_graphs(MPI_Comm world)
{
    MPI_Comm made = BAD;
    int indx[2] = { 1, 2 }, falling[2] = { 1, 0 }, edges[2] = { 0, 0 }, outside[2] = { 0, 2 }, below[2] = { 0, -1 },
        rank;
    CHECK_CLASS(MPI_Graph_create(world, -1, indx, edges, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(world, mtest_size + 1, indx, edges, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(world, 1, NULL, edges, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(world, 1, indx, NULL, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(world, 1, indx, outside + 1, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(world, 1, indx, edges, 0, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_map(world, 0, indx, edges, &rank), MPI_ERR_ARG);
    if (mtest_size > 1) {
        CHECK_CLASS(MPI_Graph_create(world, 2, falling, edges, 0, &made), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Graph_create(world, 2, indx, below, 0, &made), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Graph_create(world, 2, indx, outside, 0, &made), MPI_ERR_ARG);
    }
    CHECK(made == BAD);
}

static void bad_dist_graphs(MPI_Comm world)
{
    MPI_Comm made = BAD;
    int own[1] = { mtest_rank }, outside[1] = { mtest_size }, one[1] = { 1 }, negative[1] = { -1 };
    int *huge = (int[3]){ INT32_MAX, INT32_MAX, 2 }; /* 0 if the sum wraps around */
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, -1, own, one, 0, NULL, one, MPI_INFO_NULL, 0, &made),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, 1, NULL, one, 0, NULL, one, MPI_INFO_NULL, 0, &made),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, 1, outside, one, 0, NULL, one, MPI_INFO_NULL, 0, &made),
                MPI_ERR_RANK);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, 1, own, NULL, 0, NULL, one, MPI_INFO_NULL, 0, &made),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, 1, own, negative, 0, NULL, one, MPI_INFO_NULL, 0, &made),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, 1, own, weights_empty, 0, NULL, one, MPI_INFO_NULL, 0, &made),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, 1, own, unweighted, 1, own, one, MPI_INFO_NULL, 0, &made),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create(world, -1, own, one, own, one, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create(world, 1, outside, one, own, one, MPI_INFO_NULL, 0, &made), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Dist_graph_create(world, 1, own, negative, own, one, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create(world, 1, own, NULL, own, one, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create(world, 1, own, one, NULL, one, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create(world, 1, own, one, outside, one, MPI_INFO_NULL, 0, &made), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Dist_graph_create(world, 1, own, one, own, negative, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create(world, 3, (int[3]){ 0, 0, 0 }, huge, own, one, MPI_INFO_NULL, 0, &made),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create(world, 1, own, one, own, one, (MPI_Info)(uintptr_t)0x12345670, 0, &made),
                MPI_ERR_INFO);
    CHECK_CLASS(MPI_Dist_graph_create(world, 1, own, one, own, one, MPI_INFO_NULL, 0, NULL), MPI_ERR_ARG);

    /* Some give weights and some do not: an error everywhere. */
    if (mtest_size > 1)
        CHECK_CLASS(MPI_Dist_graph_create(world, 1, own, one, own, mtest_rank ? unweighted : one, MPI_INFO_NULL, 0,
                                          &made),
                    MPI_ERR_ARG);
    CHECK(made == BAD);
}

/* Queries of a topology that the communicator does not have. */
static void no_topology(MPI_Comm comm, int has)
{
    int n, m, w, some[8];
    MPI_Comm made = BAD;
    if (has != MPI_CART) {
        CHECK_CLASS(MPI_Cartdim_get(comm, &n), MPI_ERR_TOPOLOGY);
        CHECK_CLASS(MPI_Cart_get(comm, 8, some, some, some), MPI_ERR_TOPOLOGY);
        CHECK_CLASS(MPI_Cart_rank(comm, some, &n), MPI_ERR_TOPOLOGY);
        CHECK_CLASS(MPI_Cart_coords(comm, 0, 8, some), MPI_ERR_TOPOLOGY);
        CHECK_CLASS(MPI_Cart_shift(comm, 0, 1, &n, &m), MPI_ERR_TOPOLOGY);
        CHECK_CLASS(MPI_Cart_sub(comm, some, &made), MPI_ERR_TOPOLOGY);
    }
    if (has != MPI_GRAPH) {
        CHECK_CLASS(MPI_Graphdims_get(comm, &n, &m), MPI_ERR_TOPOLOGY);
        CHECK_CLASS(MPI_Graph_get(comm, 8, 8, some, some), MPI_ERR_TOPOLOGY);
        CHECK_CLASS(MPI_Graph_neighbors_count(comm, 0, &n), MPI_ERR_TOPOLOGY);
        CHECK_CLASS(MPI_Graph_neighbors(comm, 0, 8, some), MPI_ERR_TOPOLOGY);
    }
    if (has != MPI_DIST_GRAPH) {
        CHECK_CLASS(MPI_Dist_graph_neighbors_count(comm, &n, &m, &w), MPI_ERR_TOPOLOGY);
        CHECK_CLASS(MPI_Dist_graph_neighbors(comm, 8, some, some, 8, some, some), MPI_ERR_TOPOLOGY);
    }
    CHECK(made == BAD);
}

static void bad_questions(MPI_Comm world)
{
    MPI_Comm cart, graph, dist;
    int dims[2] = { mtest_size, 1 }, periods[2] = { 0, 1 }, n, m, some[8], beside[2] = { mtest_size, 0 };
    int *indx = calloc((size_t)mtest_size, sizeof *indx), edges[1] = { 0 };
    indx[mtest_size - 1] = 1;
    CHECK_OK(MPI_Cart_create(world, 2, dims, periods, 0, &cart));
    CHECK_CLASS(MPI_Cart_get(cart, 1, some, some, some), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_get(cart, 2, NULL, some, some), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_coords(cart, mtest_size, 2, some), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Cart_coords(cart, -1, 2, some), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Cart_coords(cart, 0, 1, some), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_rank(cart, beside, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_rank(cart, NULL, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_shift(cart, 2, 1, &n, &m), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_shift(cart, -1, 1, &n, &m), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_shift(cart, 0, 1, NULL, &m), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_sub(cart, NULL, &dist), MPI_ERR_ARG);
    no_topology(cart, MPI_CART);
    CHECK_OK(MPI_Graph_create(world, mtest_size, indx, edges, 0, &graph));
    CHECK_CLASS(MPI_Graph_get(graph, mtest_size, 0, indx, some), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_neighbors_count(graph, mtest_size, &n), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Graph_neighbors(graph, mtest_size - 1, 0, some), MPI_ERR_ARG);
    no_topology(graph, MPI_GRAPH);
    CHECK_OK(MPI_Dist_graph_create_adjacent(world, 0, NULL, unweighted, 0, NULL, unweighted, MPI_INFO_NULL, 0, &dist));
    CHECK_CLASS(MPI_Dist_graph_neighbors(dist, -1, some, some, 0, some, some), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_neighbors(dist, 0, some, some, 1, NULL, some), MPI_ERR_ARG);
    no_topology(dist, MPI_DIST_GRAPH);
    CHECK_CLASS(MPI_Topo_test(dist, NULL), MPI_ERR_ARG);
    CHECK_OK(MPI_Comm_free(&dist));
    n = m = mtest_rank;
    CHECK_OK(MPI_Dist_graph_create_adjacent(world, 1, &n, &m, 1, &n, &m, MPI_INFO_NULL, 0, &dist));
    CHECK_CLASS(MPI_Dist_graph_neighbors(dist, 1, some, NULL, 1, some, some), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_neighbors(dist, 1, some, some, 1, some, NULL), MPI_ERR_ARG);
    CHECK_OK(MPI_Comm_free(&dist));
    CHECK_OK(MPI_Comm_free(&graph));
    CHECK_OK(MPI_Comm_free(&cart));
    free(indx);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm world;
    int status;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)); /* MPI_COMM_NULL's */
    bad_grids(world);
    bad_graphs(world);
    bad_dist_graphs(world);
    no_topology(world, MPI_UNDEFINED);
    CHECK_OK(MPI_Topo_test(world, &status));
    CHECK(status == MPI_UNDEFINED);
    bad_questions(world);
    CHECK_OK(MPI_Comm_free(&world));
    MTEST_END;
}
