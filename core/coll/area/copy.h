/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of a block's data into a slot and out of one. See area.h. */
#ifndef PLENUM_CORE_COLL_AREA_COPY_H
#define PLENUM_CORE_COLL_AREA_COPY_H

#include "core/base/nt_copy.h"
#include "core/coll/area/call.h"

/* Where a block's data lies if it is one run; else NULL. */
static inline char *pl_area_one_run(struct pl_block block)
{
    bool one = block.type->dense || (block.type->solid && block.count == 1);
    return one ? pl_address(block.buf, block.type->true_lb) : NULL;
}

/* Packs or unpacks a block of several runs. */
void pl_area_pack_runs(struct pl_block block, size_t at, void *packed, size_t bytes, bool pack);

/* Packs `bytes` bytes of a block from byte `at` on; fewer if the block ends before, since receivers may expect more. */
static inline void pl_area_pack(struct pl_block block, size_t at, void *to, size_t bytes)
{
    const char *run = pl_area_one_run(block);
    size_t end = pl_block_size(block);
    if (run)
        pl_copy_bytes(to, run + at, at < end ? pl_least(bytes, end - at) : 0);
    else
        pl_area_pack_runs(block, at, to, bytes, true);
}

static inline void pl_area_copy(const struct pl_area_call *call, void *to, const void *from, size_t bytes)
{
    if (call->exceeds_caches)
        pl_nt_copy(to, from, bytes);
    else
        pl_copy_bytes(to, from, bytes);
}

static inline void pl_area_unpack(const struct pl_area_call *call, const void *from, size_t bytes,
                                  struct pl_block block, size_t at)
{
    char *run = pl_area_one_run(block);
    if (run)
        pl_area_copy(call, run + at, from, bytes);
    else
        pl_area_pack_runs(block, at, (void *)from, bytes, false);
}

/* Copies the block from this rank to itself a chunk at a time: memcpy() then takes half the time of a megabyte at
 * once. */
static inline void pl_area_copy_own(const struct pl_area_call *call, struct pl_block from, struct pl_block to,
                                    size_t at, size_t bytes)
{
    const char *source = pl_area_one_run(from);
    char *target = pl_area_one_run(to);
    size_t end = pl_least(pl_block_size(from), pl_block_size(to));
    if (source && target)
        pl_area_copy(call, target + at, source + at, at < end ? pl_least(bytes, end - at) : 0);
    else if (at == 0)
        pl_type_copy(from.buf, from.count, from.type, to.buf, to.count, to.type);
}

#endif
