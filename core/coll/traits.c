/* SPDX-License-Identifier: BSD-3-Clause */
/* What each kind of collective has: the table. */
#include "core/coll/traits.h"

#define NAMED(text) .name = (text), .variable = "coll_" text

const struct pl_coll_traits pl_coll_traits[] = {
    [PL_COLL_BARRIER] = { NAMED("barrier"), .shape = PL_SHAPE_NOTHING, .counts = PL_COUNTS_NONE },
    [PL_COLL_BCAST] = { NAMED("bcast"), .shape = PL_SHAPE_VECTOR, .root = true },
    [PL_COLL_GATHER] = { NAMED("gather"), .shape = PL_SHAPE_TO_ROOT, .root = true },
    [PL_COLL_GATHERV] = { NAMED("gatherv"), .shape = PL_SHAPE_TO_ROOT, .counts = PL_COUNTS_PRIVATE, .root = true },
    [PL_COLL_SCATTER] = { NAMED("scatter"), .shape = PL_SHAPE_FROM_ROOT, .root = true },
    [PL_COLL_SCATTERV] = { NAMED("scatterv"), .shape = PL_SHAPE_FROM_ROOT, .counts = PL_COUNTS_PRIVATE, .root = true },
    [PL_COLL_ALLGATHER] = { NAMED("allgather"), .shape = PL_SHAPE_TO_ALL },
    [PL_COLL_ALLGATHERV] = { NAMED("allgatherv"), .shape = PL_SHAPE_TO_ALL, .counts = PL_COUNTS_PUBLIC },
    [PL_COLL_ALLTOALL] = { NAMED("alltoall"), .shape = PL_SHAPE_PAIRS },
    [PL_COLL_ALLTOALLV] = { NAMED("alltoallv"), .shape = PL_SHAPE_PAIRS, .counts = PL_COUNTS_PRIVATE },
    [PL_COLL_ALLTOALLW] = { NAMED("alltoallw"), .shape = PL_SHAPE_PAIRS, .counts = PL_COUNTS_PRIVATE },
    [PL_COLL_REDUCE] = { NAMED("reduce"), .shape = PL_SHAPE_VECTOR, .root = true, .op = true },
    [PL_COLL_ALLREDUCE] = { NAMED("allreduce"), .shape = PL_SHAPE_VECTOR, .op = true },
    [PL_COLL_REDUCE_SCATTER_BLOCK] = { NAMED("reduce_scatter_block"), .shape = PL_SHAPE_PARTS, .op = true },
    [PL_COLL_REDUCE_SCATTER] = { NAMED("reduce_scatter"), .shape = PL_SHAPE_PARTS, .counts = PL_COUNTS_PUBLIC,
                                 .op = true },
    [PL_COLL_SCAN] = { NAMED("scan"), .shape = PL_SHAPE_VECTOR, .op = true },
    [PL_COLL_EXSCAN] = { NAMED("exscan"), .shape = PL_SHAPE_VECTOR, .op = true },
    [PL_COLL_NEIGHBOR_ALLGATHER] = { "neighbor_allgather", .shape = PL_SHAPE_NEIGHBORS, .counts = PL_COUNTS_PRIVATE },
    [PL_COLL_NEIGHBOR_ALLGATHERV] = { "neighbor_allgatherv", .shape = PL_SHAPE_NEIGHBORS, .counts = PL_COUNTS_PRIVATE },
    [PL_COLL_NEIGHBOR_ALLTOALL] = { "neighbor_alltoall", .shape = PL_SHAPE_EDGES, .counts = PL_COUNTS_PRIVATE },
    [PL_COLL_NEIGHBOR_ALLTOALLV] = { "neighbor_alltoallv", .shape = PL_SHAPE_EDGES, .counts = PL_COUNTS_PRIVATE },
    [PL_COLL_NEIGHBOR_ALLTOALLW] = { "neighbor_alltoallw", .shape = PL_SHAPE_EDGES, .counts = PL_COUNTS_PRIVATE },
};

MPI_Count pl_coll_longest(const struct pl_coll *coll)
{
    MPI_Count longest = 0;
    for (int i = 0; i < coll->comm->size; i++)
        longest = pl_count_at(coll->recvcounts, i) > longest ? pl_count_at(coll->recvcounts, i) : longest;
    return longest;
}

size_t pl_coll_blocks_bytes(const struct pl_coll *coll)
{
    if (pl_coll_traits[coll->kind].counts == PL_COUNTS_PUBLIC)
        return pl_counts_sum(coll->recvcounts, coll->comm->size) * (size_t)coll->recvtype->size;
    return (size_t)coll->comm->size * pl_coll_block_bytes(coll);
}
