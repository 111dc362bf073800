/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each kind of collective has: its data, its counts, a root, an operation. The choice of algorithms, the
 * collective area, the node hierarchy and statements all read it here.
 */
#ifndef PLENUM_CORE_COLL_TRAITS_H
#define PLENUM_CORE_COLL_TRAITS_H

#include "core/coll/algorithm.h"

/* Which data goes where. A block is what one rank has for another; a vector is of the same length on all ranks. */
enum pl_coll_shape {
    PL_SHAPE_NOTHING,
    PL_SHAPE_VECTOR,
    PL_SHAPE_TO_ROOT,   /* a block of each rank */
    PL_SHAPE_FROM_ROOT, /* a block for each rank */
    PL_SHAPE_TO_ALL,    /* a block of each rank, for all ranks */
    PL_SHAPE_PAIRS,     /* a block of each rank for each rank */
    PL_SHAPE_PARTS,     /* vectors, and a block of the result for each rank */
    PL_SHAPE_NEIGHBORS, /* in neighborhoods: a block of each rank, for its neighbors */
    PL_SHAPE_EDGES,     /* a block for each neighbor */
};

enum pl_coll_counts {
    PL_COUNTS_ONE,     /* all blocks are of the same length */
    PL_COUNTS_PUBLIC,  /* one for each block, and all ranks know all of them */
    PL_COUNTS_PRIVATE, /* one for each block, which only the block's ranks know */
    PL_COUNTS_NONE,
};

struct pl_coll_traits {
    const char *name;     /* "allreduce" */
    const char *variable; /* "coll_allreduce", the configuration variable; NULL: none, in neighborhoods */
    enum pl_coll_shape shape;
    enum pl_coll_counts counts;
    bool root, op; /* has a root; has an operation */
};

extern const struct pl_coll_traits pl_coll_traits[]; /* by enum pl_coll_kind */

static inline bool pl_coll_is_private(enum pl_coll_kind kind)
{
    return pl_coll_traits[kind].counts == PL_COUNTS_PRIVATE;
}

/* The vector, or a block where all are of the same length; without a type: there is none. */
static inline struct pl_block pl_coll_one_block(const struct pl_coll *coll)
{
    const struct pl_coll_traits *traits = &pl_coll_traits[coll->kind];
    bool to_root = traits->shape == PL_SHAPE_TO_ROOT;
    if (traits->counts != PL_COUNTS_ONE)
        return pl_block(NULL, 0, NULL);
    if (to_root || traits->shape == PL_SHAPE_FROM_ROOT)
        return pl_coll_is_root(coll->comm, coll->root) == to_root ? pl_coll_received(coll) : pl_coll_sent(coll);
    return pl_coll_received(coll);
}

/* The longest block where the counts are public: elements. */
MPI_Count pl_coll_longest(const struct pl_coll *coll);

/* The bytes of a block, or the vector, as all ranks know them: of the longest block where the lengths differ, 0 where
 * no rank knows all of them. */
static inline size_t pl_coll_block_bytes(const struct pl_coll *coll)
{
    switch (pl_coll_traits[coll->kind].counts) {
    case PL_COUNTS_ONE: return pl_block_size(pl_coll_one_block(coll));
    case PL_COUNTS_PUBLIC: return (size_t)pl_coll_longest(coll) * (size_t)coll->recvtype->size;
    default: return 0;
    }
}

/* The bytes of one block of each rank. */
size_t pl_coll_blocks_bytes(const struct pl_coll *coll);

#endif
