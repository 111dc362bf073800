/* SPDX-License-Identifier: BSD-3-Clause */
/* What the collectives by the board share: a call, and moving its data. See board.c. */
#ifndef PLENUM_CORE_COLL_AREA_COLLECTIVES_H
#define PLENUM_CORE_COLL_AREA_COLLECTIVES_H

#include <string.h>

#include "core/coll/area/slots.h"
#include "core/coll/algorithm.h"

/* A collective under way. */
struct pl_board_call {
    struct pl_board *board;
    const struct pl_coll *coll;
    int rank, size, root;
    size_t bytes; /* alike on all: of the vector in bcast, reduce, allreduce and scans, else of the longest block */
    size_t last;  /* of the piece before, if its parts have yet to be told */
    bool much;    /* more than the caches hold comes in */
    uint64_t elsewhere; /* members whose data was too much for a cell: it goes by messages now */
};

/* The bytes of a call, as above; SIZE_MAX: not for the board. */
size_t pl_board_bytes(const struct pl_coll *coll);

/* Are there rules of the user's, who knows better? */
bool pl_coll_has_rules(enum pl_coll_kind kind);

/* Does a piece of `bytes` bytes, from the `at`-th on: one operation of the board, but for its end. */
typedef int pl_board_piece(struct pl_board_call *call, size_t at, size_t bytes);
pl_board_piece pl_board_barrier, pl_board_bcast, pl_board_gather, pl_board_scatter, pl_board_allgather,
    pl_board_alltoall;
pl_board_piece pl_board_gatherv, pl_board_scatterv, pl_board_allgatherv, pl_board_alltoallv;
pl_board_piece pl_board_reduce, pl_board_allreduce, pl_board_allreduce_in_parts, pl_board_reduce_scatter,
    pl_board_chain;

/* The messages of a call whose data was partly `elsewhere`. */
int pl_board_by_messages(const struct pl_board_call *call);

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
