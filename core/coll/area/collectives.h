/* SPDX-License-Identifier: BSD-3-Clause */
/* What the collectives by the board share: a call, and moving its data. See board.c. */
#ifndef PLENUM_CORE_COLL_AREA_COLLECTIVES_H
#define PLENUM_CORE_COLL_AREA_COLLECTIVES_H

#include <string.h>

#include "core/coll/algorithm.h"
#include "core/coll/area/slots.h"

/* A collective under way. */
struct pl_area_call {
    struct pl_area *area;
    const struct pl_coll *coll;
    int rank, size, root;
    size_t bytes; /* alike on all: of the vector in bcast, reduce, allreduce and scans, else of the longest block */
    size_t last;  /* of the piece before, if its parts have yet to be told */
    bool much;    /* more than the caches hold comes in */
    uint64_t elsewhere; /* members whose data was too much for a cell: it goes by messages now */
};

/* The bytes of a call, as above; SIZE_MAX: not for the board. */
size_t pl_area_bytes(const struct pl_coll *coll);

/* Are there rules of the user's, who knows better? */
bool pl_coll_has_rules(enum pl_coll_kind kind);

/* Does a piece of `bytes` bytes, from the `at`-th on: one operation of the board, but for its end. */
typedef int pl_area_chunk(struct pl_area_call *call, size_t at, size_t bytes);
pl_area_chunk pl_area_barrier, pl_area_bcast, pl_area_gather, pl_area_scatter, pl_area_allgather, pl_area_alltoall;
pl_area_chunk pl_area_gatherv, pl_area_scatterv, pl_area_allgatherv, pl_area_alltoallv;
pl_area_chunk pl_area_reduce, pl_area_allreduce, pl_area_allreduce_in_parts, pl_area_reduce_scatter, pl_area_chain;

/* The messages of a call whose data was partly `elsewhere`. */
int pl_area_by_messages(const struct pl_area_call *call);

static inline size_t pl_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Often it is one number. Buffers of no bytes may be NULL. */
static inline void pl_copy_bytes(void *to, const void *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes > 0)
        memcpy(to, from, bytes);
}

#endif
