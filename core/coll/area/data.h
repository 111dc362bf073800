/* SPDX-License-Identifier: BSD-3-Clause */
/* Data of a collective into a cell of the board and out of one. See board.c. */
#ifndef PLENUM_CORE_COLL_AREA_DATA_H
#define PLENUM_CORE_COLL_AREA_DATA_H

#include "core/base/nt_copy.h"
#include "core/coll/area/collectives.h"
#include "core/datatype/cursor.h"

static inline char *pl_chunk_direct(struct pl_block block)
{
    bool direct = block.type->dense || (block.type->solid && block.count == 1);
    return direct ? pl_address(block.buf, block.type->true_lb) : NULL;
}

/* Packs or unpacks where data lies in several runs. */
void pl_chunk_walk(struct pl_block block, size_t at, void *packed, size_t bytes, bool pack);

/* Moves packed bytes of a block from the `at`-th on; no more than there are: the receiver may take fewer. */
static inline void pl_chunk_pack(struct pl_block block, size_t at, void *to, size_t bytes)
{
    const char *direct = pl_chunk_direct(block);
    size_t end = pl_block_size(block);
    if (direct)
        pl_copy_bytes(to, direct + at, at < end ? pl_least(bytes, end - at) : 0);
    else
        pl_chunk_walk(block, at, to, bytes, true);
}

static inline void pl_chunk_take(const struct pl_area_call *call, void *to, const void *from, size_t bytes)
{
    if (call->much)
        pl_nt_copy(to, from, bytes);
    else
        pl_copy_bytes(to, from, bytes);
}

static inline void pl_chunk_unpack(const struct pl_area_call *call, const void *from, size_t bytes,
                                   struct pl_block block, size_t at)
{
    char *direct = pl_chunk_direct(block);
    if (direct)
        pl_chunk_take(call, direct + at, from, bytes);
    else
        pl_chunk_walk(block, at, (void *)from, bytes, false);
}

/* The own part of what comes in: a piece at a time, which memcpy() does twice as fast as a megabyte at once. */
static inline void pl_chunk_keep(const struct pl_area_call *call, struct pl_block from, struct pl_block to, size_t at,
                                 size_t bytes)
{
    const char *source = pl_chunk_direct(from);
    char *target = pl_chunk_direct(to);
    size_t end = pl_least(pl_block_size(from), pl_block_size(to));
    if (source && target)
        pl_chunk_take(call, target + at, source + at, at < end ? pl_least(bytes, end - at) : 0);
    else if (at == 0)
        pl_type_copy(from.buf, from.count, from.type, to.buf, to.count, to.type);
}

#endif
