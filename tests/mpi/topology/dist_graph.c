/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributed graphs (MPI-5.0 sections 8.5.4 and 8.5.5): the same random edges, some of them several times and some
 * from a process to itself, specified by their end points or by any process. Edges have weights or none; arrays for
 * neighbors are too small; a graph has no edges.
 */
#include "mtest.h"
#include "pattern.h"

/* Through variables: the compiler knows that no int is at these addresses. */
static int *volatile unweighted = MPI_UNWEIGHTED, *volatile weights_empty = MPI_WEIGHTS_EMPTY;

struct edge {
    int from, to, weight, by;
};

static int by_all(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(int));
}

/* The process's edges in the order in which the graph gives them, checked against the list as a set. */
static void check_neighbors(MPI_Comm comm, const struct edge *edges, int n, int weighted)
{
    int in, out, has_weights, status, wanted_in = 0, wanted_out = 0;
    CHECK_OK(MPI_Topo_test(comm, &status));
    CHECK(status == MPI_DIST_GRAPH);
    CHECK_OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &has_weights));
    CHECK(!has_weights == !weighted);
    struct edge *own = calloc((size_t)(4 * n + 1), sizeof *own), *wanted = own + 2 * n;
    int *numbers = malloc((size_t)(4 * n + 4) * sizeof *numbers);
    int *sources = numbers, *from_weights = sources + n + 1, *destinations = from_weights + n + 1,
        *to_weights = destinations + n + 1;
    for (int i = 0; i < 4 * n + 4; i++)
        numbers[i] = -1;
    CHECK_OK(MPI_Dist_graph_neighbors(comm, in, sources, from_weights, out, destinations, to_weights));
    CHECK(sources[in] == -1 && destinations[out] == -1);
    CHECK(weighted || (from_weights[0] == -1 && to_weights[0] == -1));
    for (int i = 0; i < in; i++)
        own[i] = (struct edge){ sources[i], mtest_rank, weighted ? from_weights[i] : 0, 0 };
    for (int i = 0; i < out; i++)
        own[n + i] = (struct edge){ mtest_rank, destinations[i], weighted ? to_weights[i] : 0, 0 };
    for (int i = 0; i < n; i++) {
        struct edge edge = { edges[i].from, edges[i].to, weighted ? edges[i].weight : 0, 0 };
        if (edge.to == mtest_rank)
            wanted[wanted_in++] = edge;
        if (edge.from == mtest_rank)
            wanted[n + wanted_out++] = edge;
    }
    CHECK(in == wanted_in && out == wanted_out);
    for (int i = 0; i < 4; i++)
        qsort(own + i * n, (size_t)(i % 2 ? out : in), sizeof *own, by_all);
    CHECK(memcmp(own, wanted, (size_t)(2 * n) * sizeof *own) == 0);

    /* Arrays that are too small get the first edges. The same call gives the same order. */
    int few[4] = { -7, -7, -7, -7 };
    CHECK_OK(MPI_Dist_graph_neighbors(comm, in > 0, &few[0], unweighted, out > 0, &few[2], unweighted));
    CHECK(few[0] == (in > 0 ? sources[0] : -7) && few[1] == -7);
    CHECK(few[2] == (out > 0 ? destinations[0] : -7) && few[3] == -7);
    free(numbers);
    free(own);
}

/* Named by their ends: each process gives its own edges, in order. */
static MPI_Comm create_adjacent(const struct edge *edges, int n, int weighted)
{
    int in = 0, out = 0, *numbers = malloc((size_t)(4 * n + 1) * sizeof *numbers);
    int *sources = numbers, *from = sources + n, *destinations = from + n, *to = destinations + n;
    MPI_Comm comm;
    for (int i = 0; i < n; i++) {
        if (edges[i].to == mtest_rank) {
            sources[in] = edges[i].from;
            from[in++] = edges[i].weight;
        }
        if (edges[i].from == mtest_rank) {
            destinations[out] = edges[i].to;
            to[out++] = edges[i].weight;
        }
    }
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources,
                                            !weighted ? unweighted
                                            : in      ? from
                                                      : weights_empty,
                                            out, destinations,
                                            !weighted ? unweighted
                                            : out     ? to
                                                      : weights_empty,
                                            MPI_INFO_NULL, weighted, &comm));
    free(numbers);
    return comm;
}

/* Any process specifies an edge; some processes specify none. */
static MPI_Comm create(const struct edge *edges, int n, int weighted)
{
    int count = 0, *numbers = malloc((size_t)(4 * n + 1) * sizeof *numbers);
    int *sources = numbers, *degrees = sources + n, *destinations = degrees + n, *weights = destinations + n;
    MPI_Comm comm;
    for (int i = 0; i < n; i++)
        if (edges[i].by == mtest_rank) {
            sources[count] = edges[i].from;
            degrees[count] = 1;
            destinations[count] = edges[i].to;
            weights[count++] = edges[i].weight;
        }
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, count, sources, degrees, destinations,
                                   !weighted ? unweighted
                                   : count   ? weights
                                             : weights_empty,
                                   MPI_INFO_NULL, 0, &comm));
    free(numbers);
    return comm;
}

/* One process names all edges, sorted by their source. */
static MPI_Comm create_by_one(const struct edge *edges, int n)
{
    int by = mtest_size - 1, count = 0, *numbers = malloc((size_t)(2 * n + 2 * mtest_size) * sizeof *numbers);
    int *sources = numbers, *degrees = sources + mtest_size, *destinations = degrees + mtest_size,
        *weights = destinations + n;
    MPI_Comm comm;
    for (int rank = 0; rank < mtest_size; rank++) {
        sources[rank] = rank;
        degrees[rank] = 0;
        for (int i = 0; i < n; i++)
            if (edges[i].from == rank) {
                degrees[rank]++;
                weights[count] = edges[i].weight;
                destinations[count++] = edges[i].to;
            }
    }
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, mtest_rank == by ? mtest_size : 0, sources, degrees, destinations,
                                   weights, MPI_INFO_NULL, 1, &comm));
    free(numbers);
    return comm;
}

static void check(const struct edge *edges, int n)
{
    for (int weighted = 0; weighted < 2; weighted++) {
        MPI_Comm comms[2] = { create_adjacent(edges, n, weighted), create(edges, n, weighted) }, copy;
        for (int i = 0; i < 2; i++) {
            /* If no process specifies an edge, MPI_Dist_graph_create has only the argument to go by. */
            check_neighbors(comms[i], edges, n, weighted);
            CHECK_OK(MPI_Comm_dup(comms[i], &copy));
            CHECK_OK(MPI_Comm_free(&comms[i]));
            check_neighbors(copy, edges, n, weighted);
            CHECK_OK(MPI_Comm_free(&copy));
        }
    }
    MPI_Comm comm = create_by_one(edges, n);
    check_neighbors(comm, edges, n, 1);
    CHECK_OK(MPI_Comm_free(&comm));
}

/* Processes that name no edges do not say whether there are weights: those with edges do. */
static void silent(void)
{
    int sources[] = { 0 }, degrees[] = { 2 }, destinations[] = { mtest_size - 1, 0 }, weights[] = { 70, 80 };
    struct edge edges[] = { { 0, mtest_size - 1, 70, 0 }, { 0, 0, 80, 0 } };
    for (int weighted = 0; weighted < 2; weighted++) {
        MPI_Comm comm;
        int *others = weighted ? unweighted : weights_empty, n = mtest_rank == 0;
        CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations,
                                       !n         ? others
                                       : weighted ? weights
                                                  : unweighted,
                                       MPI_INFO_NULL, 0, &comm));
        check_neighbors(comm, edges, 2, weighted);
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    uint64_t state = 4711;
    int n = 4 * mtest_size;
    struct edge *edges = malloc((size_t)n * sizeof *edges);
    for (int time = 0; time < 5; time++) {
        for (int i = 0; i < n; i++)
            edges[i] = (struct edge){
                (int)(pattern_random(&state) % (unsigned)mtest_size),
                (int)(pattern_random(&state) % (unsigned)mtest_size),
                (int)(pattern_random(&state) % 1000),
                (int)(pattern_random(&state) % (unsigned)mtest_size),
            };
        check(edges, time == 0 ? 0 : n);
    }
    free(edges);
    silent();
    MTEST_END;
}
