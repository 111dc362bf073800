/* SPDX-License-Identifier: BSD-3-Clause */
/* See reduce.h. */
#include "core/coll/area/reduce.h"

enum { TILE = 8 << 10 }; /* bytes combined at once: they stay in the first-level cache */

/* --- data --------------------------------------------------------------------------------------------------------- */

/* Whole elements that are combined at once, in bytes. */
static inline size_t tile_of(const struct pl_area_call *call, size_t bytes)
{
    size_t each = (size_t)call->coll->recvtype->size;
    return pl_likely(bytes <= TILE) ? bytes : TILE / each * each;
}

/* to = next op own; `next` may be NULL, `own` may be `to`. Copies the result into `also`, too, unless that is NULL. */
static inline void area_reduce_combine(const struct pl_area_call *call, const char *own, const char *next, char *to,
                                       char *also, size_t bytes)
{
    size_t tile = also ? tile_of(call, bytes) : bytes;
    for (size_t at = 0; at < bytes; at += tile) {
        size_t some = pl_least(tile, bytes - at);
        if (next)
            pl_area_reduce_apply(call, next + at, own + at, to + at, some);
        else if (to != own)
            pl_copy_bytes(to + at, own + at, some);
        if (also)
            pl_copy_bytes(also + at, to + at, some);
    }
}

/* The operand of rank i from byte `from` of its slot on. This rank's own operand is read where it was, unless the
 * result goes there. */
static inline const char *operand_of(const struct pl_area_call *call, int i, size_t slot_bytes, size_t from,
                                     const char *own)
{
    bool given = i == call->rank && !pl_coll_in_place(call->coll);
    return given ? own : (const char *)pl_area_read(call->area, i, slot_bytes) + from;
}

/* to = the operands of all ranks, combined in the order of the ranks. */
static inline void combine_all(const struct pl_area_call *call, size_t slot_bytes, size_t from, const char *own,
                               char *to, size_t bytes)
{
    size_t tile = tile_of(call, bytes);
    for (size_t at = 0; at < bytes; at += tile) {
        const char *with = operand_of(call, 0, slot_bytes, from + at, own + at);
        for (int i = 1; i < call->size; i++, with = to + at)
            pl_area_reduce_apply(call, operand_of(call, i, slot_bytes, from + at, own + at), with, to + at,
                                 pl_least(tile, bytes - at));
    }
}

/* --- reductions --------------------------------------------------------------------------------------------------- */

/* Publishes a chunk of this rank's vector, and waits for those of all. */
static int area_publish_input(struct pl_area_call *call, size_t at, size_t bytes)
{
    void *slot;
    int rc = pl_area_reserve(call->area, bytes, &slot);
    if (rc)
        return rc;
    pl_copy_bytes(slot, pl_area_reduce_input(call, at), bytes);
    pl_area_publish(call->area, -1);
    return pl_area_wait_all(call->area, call, bytes);
}

int pl_area_allreduce(struct pl_area_call *call, size_t at, size_t bytes)
{
    int rc = area_publish_input(call, at, bytes);
    if (rc == MPI_SUCCESS)
        combine_all(call, bytes, 0, pl_area_reduce_input(call, at), pl_area_reduce_output(call, at), bytes);
    return rc;
}

/* The part of a chunk that a rank combines: its bytes, and where it begins. */
static size_t area_reduce_part_of(const struct pl_area_call *call, int rank, size_t bytes, size_t *from)
{
    size_t each = (size_t)call->coll->recvtype->size,
           most = (bytes / each + (size_t)call->size - 1) / (size_t)call->size * each;
    *from = pl_least(most * (size_t)rank, bytes);
    return pl_least(most, bytes - *from);
}

/* Each rank combines a part of the chunk and publishes it with the next chunk; `bytes` is 0 after the last one. */
int pl_area_allreduce_in_parts(struct pl_area_call *call, size_t at, size_t bytes)
{
    size_t last = call->last, from, own = area_reduce_part_of(call, call->rank, last, &from),
           longest = area_reduce_part_of(call, 0, last, &(size_t){ 0 });
    size_t all = bytes + longest;
    char *result = pl_area_reduce_output(call, at - last);
    void *slot;
    int rc = pl_area_reserve(call->area, all, &slot);
    if (rc)
        return rc;
    pl_copy_bytes(slot, pl_area_reduce_input(call, at), bytes);
    pl_copy_bytes((char *)slot + bytes, result + from, own);
    pl_area_publish(call->area, -1);
    if ((rc = pl_area_wait_all(call->area, call, all)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; last > 0 && i < call->size; i++) {
        own = area_reduce_part_of(call, i, last, &from);
        if (i != call->rank)
            pl_copy_bytes(result + from, (const char *)pl_area_read(call->area, i, all) + bytes, own);
    }
    own = area_reduce_part_of(call, call->rank, bytes, &from);
    combine_all(call, all, from, pl_area_reduce_input(call, at + from), pl_area_reduce_output(call, at + from), own);
    call->last = bytes;
    return rc;
}

/* A chunk of every block. */
int pl_area_reduce_scatter(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    size_t each = (size_t)coll->recvtype->size, all = bytes * (size_t)call->size, begin = 0, own = 0, own_bytes = 0;
    bool in_place = pl_coll_in_place(coll);
    void *slot;
    int rc = pl_area_reserve(call->area, all, &slot);
    if (rc)
        return rc;
    for (int i = 0; i < call->size; i++) {
        bool counts = coll->kind == PL_COLL_REDUCE_SCATTER;
        size_t length = (size_t)(counts ? pl_count_at(coll->recvcounts, i) : coll->recvcount) * each;
        size_t some = at < length ? pl_least(bytes, length - at) : 0;
        if (i == call->rank) {
            own = begin;
            own_bytes = some;
        }
        if (i != call->rank || in_place)
            pl_copy_bytes((char *)slot + (size_t)i * bytes, pl_area_reduce_input(call, begin + at), some);
        begin += length;
    }
    pl_area_publish(call->area, -1);
    rc = pl_area_wait_all(call->area, call, all);
    if (rc == MPI_SUCCESS)
        combine_all(call, all, bytes * (size_t)call->rank, pl_area_reduce_input(call, own + at),
                    pl_area_reduce_output(call, at), own_bytes);
    return rc;
}

/* Waits for what another rank gives: as many bytes as this rank has, else MPI_ERR_TRUNCATE. */
static inline int area_reduce_wait(const struct pl_area_call *call, int rank, size_t bytes, const void **data)
{
    size_t written = bytes;
    int rc = pl_area_wait(call, rank, &written, data);
    if (pl_unlikely(rc == MPI_SUCCESS && written != bytes))
        return pl_area_fail_amount(call->area, rank, written, bytes);
    return rc;
}

/* The root publishes nothing: with MPI_IN_PLACE its slot keeps its operand while the result is written over it. */
int pl_area_reduce(struct pl_area_call *call, size_t at, size_t bytes)
{
    bool gives = call->rank != call->root;
    const void *data = NULL;
    void *slot;
    int rc = MPI_SUCCESS;
    if (gives || pl_coll_in_place(call->coll)) {
        if ((rc = pl_area_reserve(call->area, bytes, &slot)) != MPI_SUCCESS)
            return rc;
        pl_copy_bytes(slot, pl_area_reduce_input(call, at), bytes);
    }
    if (gives) {
        pl_area_publish(call->area, call->root);
        return rc;
    }
    for (int i = 0; rc == MPI_SUCCESS && i < call->size; i++)
        if (i != call->rank)
            rc = area_reduce_wait(call, i, bytes, &data);
    if (rc == MPI_SUCCESS)
        combine_all(call, bytes, 0, pl_area_reduce_input(call, at), pl_area_reduce_output(call, at), bytes);
    return rc;
}

/* Reduce and the scans: the chain ends at the root, or at the last rank. */
int pl_area_chain(struct pl_area_call *call, size_t at, size_t bytes)
{
    enum pl_coll_kind kind = call->coll->kind;
    int rank = call->rank, to_rank = rank + 1 < call->size ? rank + 1 : 0,
        from_rank = (rank > 0 ? rank : call->size) - 1, end = kind == PL_COLL_REDUCE ? call->root : call->size - 1;
    bool first = from_rank == end, last = rank == end;
    const void *before = NULL;
    char *to = pl_area_reduce_output(call, at);
    void *slot = NULL;
    int rc = last ? MPI_SUCCESS : pl_area_reserve(call->area, bytes, &slot);
    if (rc == MPI_SUCCESS && !first)
        rc = area_reduce_wait(call, from_rank, bytes, &before);
    if (rc)
        return rc;
    if (kind == PL_COLL_SCAN || (kind == PL_COLL_REDUCE && last))
        area_reduce_combine(call, pl_area_reduce_input(call, at), before, to, slot, bytes);
    else if (!last)
        area_reduce_combine(call, pl_area_reduce_input(call, at), before, slot, NULL, bytes);
    if (!last)
        pl_area_publish(call->area, to_rank);
    if (kind == PL_COLL_EXSCAN && !first)
        pl_copy_bytes(to, before, bytes);
    return rc;
}
