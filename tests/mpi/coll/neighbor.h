/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of neighborhood collectives share: communicators with topologies of all kinds. For each, a process
 * knows its neighbors, and which of its sender's messages arrives on which edge, so that it knows what to expect.
 */
#ifndef PLENUM_TESTS_NEIGHBOR_H
#define PLENUM_TESTS_NEIGHBOR_H

#include "mtest.h"
#include "pattern.h"

struct hood {
    MPI_Comm comm;
    int number; /* of this hood in hood_each(), on all processes */
    int rank, in, out;
    int *sources, *destinations;
    int *slots; /* [in]: the number of the edge at its sender */
};

/* Through variables: the compiler knows that no int is at these addresses. */
static int *volatile unweighted = MPI_UNWEIGHTED;

/* Edge k from one process to another is the one at index k of its edges to that one. */
static inline void hood_match(struct hood *hood)
{
    int size, most, *all;
    CHECK_OK(MPI_Comm_size(hood->comm, &size));
    CHECK_OK(MPI_Allreduce(&hood->out, &most, 1, MPI_INT, MPI_MAX, hood->comm));
    int *own = malloc((size_t)(most + 1) * sizeof *own);
    all = malloc((size_t)size * (size_t)(most + 1) * sizeof *all);
    for (int i = 0; i <= most; i++)
        own[i] = i < hood->out ? hood->destinations[i] : -1;
    CHECK_OK(MPI_Allgather(own, most + 1, MPI_INT, all, most + 1, MPI_INT, hood->comm));
    for (int k = 0; k < hood->in; k++) {
        int before = 0, slot = -1;
        for (int i = 0; i < k; i++)
            before += hood->sources[i] == hood->sources[k];
        for (int i = 0; i <= most && before >= 0; i++)
            if (all[hood->sources[k] * (most + 1) + i] == hood->rank && before-- == 0)
                slot = i;
        CHECK(slot >= 0);
        hood->slots[k] = slot;
    }
    free(all);
    free(own);
}

static inline struct hood hood_make(MPI_Comm comm, int in, int out)
{
    struct hood hood = { .comm = comm, .in = in, .out = out };
    CHECK_OK(MPI_Comm_rank(comm, &hood.rank));
    hood.sources = malloc((size_t)(in + 1) * sizeof *hood.sources);
    hood.destinations = malloc((size_t)(out + 1) * sizeof *hood.destinations);
    hood.slots = malloc((size_t)(in + 1) * sizeof *hood.slots);
    return hood;
}

static inline void hood_free(struct hood *hood)
{
    free(hood->sources);
    free(hood->destinations);
    free(hood->slots);
    CHECK_OK(MPI_Comm_free(&hood->comm));
}

/* A grid: what is sent in one direction arrives from the other. False: this process is outside. */
static inline int hood_cart(struct hood *hood, int ndims, const int dims[], const int periods[])
{
    MPI_Comm comm;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm));
    if (comm == MPI_COMM_NULL)
        return 0;
    *hood = hood_make(comm, 2 * ndims, 2 * ndims);
    for (int i = 0; i < ndims; i++)
        CHECK_OK(MPI_Cart_shift(comm, i, 1, &hood->sources[2 * i], &hood->sources[2 * i + 1]));
    memcpy(hood->destinations, hood->sources, (size_t)(2 * ndims) * sizeof(int));
    for (int k = 0; k < 2 * ndims; k++)
        hood->slots[k] = k ^ 1;
    return 1;
}

/* A ring whose processes are neighbors of themselves and, every second pair of them, twice. */
static inline void hood_graph(struct hood *hood)
{
    int n = mtest_size, count = 0, *indx = malloc((size_t)n * 6 * sizeof *indx), *edges = indx + n, in;
    MPI_Comm comm;
    for (int i = 0; i < n; i++) {
        int next = (i + 1) % n, last = (i + n - 1) % n;
        edges[count++] = next;
        edges[count++] = i;
        edges[count++] = last;
        if (i % 2 == 0 && next != 0)
            edges[count++] = next;
        if (i % 2 == 1)
            edges[count++] = last;
        indx[i] = count;
    }
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, n, indx, edges, 0, &comm));
    CHECK_OK(MPI_Graph_neighbors_count(comm, mtest_rank, &in));
    *hood = hood_make(comm, in, in);
    CHECK_OK(MPI_Graph_neighbors(comm, mtest_rank, in, hood->sources));
    memcpy(hood->destinations, hood->sources, (size_t)in * sizeof(int));
    hood_match(hood);
    free(indx);
}

/* Random edges, some several times. */
static inline void hood_dist_graph(struct hood *hood, uint64_t seed)
{
    int n = 3 * mtest_size, count = 0, in, out, weighted, *lists = malloc((size_t)(3 * n) * sizeof *lists);
    MPI_Comm comm;
    for (int i = 0; i < n; i++) {
        int from = (int)(pattern_random(&seed) % (unsigned)mtest_size),
            to = (int)(pattern_random(&seed) % (unsigned)mtest_size);
        if (i % mtest_size == mtest_rank) {
            lists[count] = from;
            lists[n + count] = to;
            lists[2 * n + count++] = 1;
        }
    }
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, count, lists, lists + 2 * n, lists + n, unweighted, MPI_INFO_NULL, 0,
                                   &comm));
    CHECK_OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
    *hood = hood_make(comm, in, out);
    CHECK_OK(MPI_Dist_graph_neighbors(comm, in, hood->sources, unweighted, out, hood->destinations, unweighted));
    hood_match(hood);
    free(lists);
}

/* Does `act` in grids of all kinds, in a graph and in some distributed graphs. */
static inline void hood_each(void (*act)(struct hood *hood))
{
    static const int shapes[][3] = { { 0, 1, 1 }, { 1, 0, 1 }, { 2, 0, 1 }, { 1, 1, 1 },
                                     { 2, 2, 1 }, { 0, 0, 0 }, { 2, 1, 2 } };
    struct hood hood;
    int number = 0;
    for (int i = 0; i < (int)(sizeof shapes / sizeof shapes[0]); i++)
        for (int mask = 0; mask < 8; mask++) {
            int dims[3], periods[3] = { mask & 1, mask >> 1 & 1, mask >> 2 & 1 }, given = 1, free_dims = 0;
            memcpy(dims, shapes[i], sizeof dims);
            for (int k = 0; k < 3; k++) {
                given *= dims[k] ? dims[k] : 1;
                free_dims += dims[k] == 0;
            }
            number++;
            if (given > mtest_size)
                continue;
            if (free_dims)
                CHECK_OK(MPI_Dims_create(mtest_size / given * given, 3, dims));
            if (!hood_cart(&hood, 3, dims, periods))
                continue;
            hood.number = number;
            act(&hood);
            hood_free(&hood);
        }
    if (hood_cart(&hood, 0, NULL, NULL)) {
        hood.number = number;
        act(&hood);
        hood_free(&hood);
    }
    hood_graph(&hood);
    hood.number = number;
    act(&hood);
    hood_free(&hood);
    for (int i = 0; i < 4; i++) {
        hood_dist_graph(&hood, 77 + (uint64_t)i);
        hood.number = ++number;
        act(&hood);
        hood_free(&hood);
    }
}

#endif
