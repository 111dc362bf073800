/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking collectives in the collective area (area.h): long data in chunks, each of which is an operation on the area.
 *
 * Most are one step: each rank that has data publishes a chunk of it, each rank that wants data waits for it and copies
 * it. So are short reductions. Operands are combined in the order of the ranks, starting with rank 0, on any rank that
 * does it, so that equal input has equal results, to the bit. In long reductions each rank combines a part. Where only
 * one rank wants the result (reduce) or each wants another (scan), the ranks are a chain. Each adds its own operand to
 * what the one before it has published: no rank waits for more than one other, and those in front run ahead.
 *
 * Where not all ranks know how much data there is (gatherv, scatterv, alltoallv), each publishes the amount with its
 * data, or that it is too much and goes by messages.
 *
 * A chunk of each kind: move.c, vary.c, reduce.c.
 */
#include "core/coll/area/collectives.h"

#include "core/coll/agree.h"
#include "core/coll/area/move.h"
#include "core/coll/area/reduce.h"
#include "core/coll/area/tree_coll.h"
#include "core/coll/area/vary.h"
#include "core/coll/rules_file.h"
#include "core/coll/select.h"
#include "core/coll/traits.h"

enum {
    IN_PARTS = 64 << 10, /* bytes that all ranks together read, beyond which each rank combines only a part */
    CACHES = 16 << 20,   /* bytes that all ranks together receive, beyond which they are copied past the caches */
    /* Long chunks need fewer switches between ranks, short ones let the next rank begin earlier. So data that passes
     * from some ranks to others has short chunks; other chunks are as long as a slot allows. */
    CHUNK_PASSED_ON = 64 << 10,
    PAGE = 4 << 10, /* chunks of data that is only moved are whole pages */
};

/* 0 where only some ranks know the amounts: one operation, however much data it has. */
size_t pl_area_bytes(const struct pl_coll *coll)
{
    bool reduces = pl_coll_traits[coll->kind].op;
    if (reduces && (pl_op_is_user(coll->op) || coll->recvtype->size != coll->recvtype->extent))
        return SIZE_MAX;
    return pl_coll_block_bytes(coll);
}

/* For short data, of up to PL_AREA_FLAT ranks. */
static pl_area_chunk *const short_chunks[PL_COLL_KINDS] = {
    [PL_COLL_BARRIER] = pl_area_barrier,
    [PL_COLL_BCAST] = pl_area_bcast,
    [PL_COLL_GATHER] = pl_area_gather,
    [PL_COLL_GATHERV] = pl_area_gatherv,
    [PL_COLL_SCATTER] = pl_area_scatter,
    [PL_COLL_SCATTERV] = pl_area_scatterv,
    [PL_COLL_ALLGATHER] = pl_area_allgather,
    [PL_COLL_ALLGATHERV] = pl_area_allgatherv,
    [PL_COLL_ALLTOALL] = pl_area_alltoall,
    [PL_COLL_ALLTOALLV] = pl_area_alltoallv,
    [PL_COLL_ALLTOALLW] = pl_area_alltoallv,
    [PL_COLL_REDUCE] = pl_area_reduce,
    [PL_COLL_ALLREDUCE] = pl_area_allreduce,
    [PL_COLL_REDUCE_SCATTER_BLOCK] = pl_area_reduce_scatter,
    [PL_COLL_REDUCE_SCATTER] = pl_area_reduce_scatter,
    [PL_COLL_SCAN] = pl_area_chain,
    [PL_COLL_EXSCAN] = pl_area_chain,
};

/* Where the ranks are a tree: which collectives go along it, from how many ranks on and up to how many bytes. A model
 * that counts the lines that move says so (tests/unit/test_area_lines.c, docs/notes/many-cores.md). */
static const struct {
    pl_area_chunk *chunk;
    int few, more;           /* ranks, for data within a line and for longer data; fewer meet each other */
    size_t bytes, far_bytes; /* of up to PL_AREA_FLAT ranks; of more */
} tree_rules[PL_COLL_KINDS] = {
    [PL_COLL_BARRIER] = { pl_area_tree_barrier, 48, 48, 0, 0 },
    [PL_COLL_BCAST] = { pl_area_tree_bcast, 48, 48, SIZE_MAX, SIZE_MAX },
    [PL_COLL_REDUCE] = { pl_area_tree_reduce, 48, PL_AREA_TREE_FROM, 64 << 10, PL_AREA_SHORT },
    [PL_COLL_ALLREDUCE] = { pl_area_tree_allreduce, 48, PL_AREA_TREE_FROM, PL_AREA_SHORT, PL_AREA_SHORT },
};

static bool goes_along_tree(const struct pl_area *area, enum pl_coll_kind kind, size_t bytes)
{
    int from = bytes <= PL_AREA_SMALL ? tree_rules[kind].few : tree_rules[kind].more;
    return area->trees != PL_TREE_NONE && tree_rules[kind].chunk &&
           (area->trees == PL_TREE_ALWAYS || area->size >= from) &&
           bytes <= (area->size <= PL_AREA_FLAT ? tree_rules[kind].bytes : tree_rules[kind].far_bytes);
}

/* For data of any length. */
static pl_area_chunk *area_chunk_of(const struct pl_area_call *call)
{
    enum pl_coll_kind kind = call->coll->kind;
    if (goes_along_tree(call->area, kind, call->bytes))
        return tree_rules[kind].chunk;
    if (kind == PL_COLL_REDUCE && call->bytes > PL_AREA_SHORT)
        return pl_area_chain;
    if (kind == PL_COLL_ALLREDUCE && call->size > 2 && call->bytes * (size_t)call->size > IN_PARTS)
        return pl_area_allreduce_in_parts;
    return short_chunks[kind];
}

/* The length of all chunks of long data except the last one: as equal as may be. */
static size_t area_chunk_length(const struct pl_area_call *call)
{
    const struct pl_coll_traits *traits = &pl_coll_traits[call->coll->kind];
    size_t each = traits->op ? (size_t)call->coll->recvtype->size : PAGE;
    size_t size = (size_t)call->size, parts = 1, taken = 1; /* a slot has `parts` parts, a chunk is `taken` of them */
    if (call->coll->kind == PL_COLL_ALLREDUCE)
        parts = (taken = size) + 1;
    else if (traits->shape == PL_SHAPE_FROM_ROOT || traits->shape == PL_SHAPE_PAIRS)
        parts = size - 1;
    else if (traits->shape == PL_SHAPE_PARTS)
        parts = size;
    else if (traits->shape != PL_SHAPE_TO_ALL)
        parts = call->size <= PL_AREA_FLAT ? PL_AREA_MAX / CHUNK_PASSED_ON : PL_AREA_MAX / PL_AREA_SHORT;
    size_t most = PL_AREA_MAX / parts / each * each * taken, chunks = (call->bytes + most - 1) / most;
    return ((call->bytes + chunks - 1) / chunks + each - 1) / each * each;
}

static bool exceeds_caches(const struct pl_area_call *call)
{
    enum pl_coll_shape shape = pl_coll_traits[call->coll->kind].shape;
    return (shape == PL_SHAPE_TO_ALL || shape == PL_SHAPE_PAIRS) &&
           pl_coll_blocks_bytes(call->coll) > CACHES / (size_t)call->size;
}

/* Long data that is only moved begins in a slot at the same place of a line as in this rank's memory. That is most
 * likely the place in the others', too, as malloc() returns long blocks 16 bytes behind the start of a page. Copies
 * between other places take longer, up to a quarter where the target is a few bytes ahead of the source in its page. */
static uint32_t area_shift_of(const struct pl_coll *coll)
{
    const void *data = coll->sendbuf && !pl_coll_in_place(coll) ? coll->sendbuf : coll->recvbuf;
    bool moves = !pl_coll_traits[coll->kind].op;
    return moves ? (uint32_t)((uintptr_t)data & (PL_CACHE_LINE - _Alignof(max_align_t))) : 0;
}

/* Does a setting demand an algorithm of messages? */
static bool is_configured(enum pl_coll_kind kind)
{
    return pl_coll_forced(kind) || (pl_coll_is_private(kind) && pl_coll_has_rules(kind));
}

/* The kinds that the area does, and how it does them. */
static uint32_t area_choose_chunks(struct pl_area *area)
{
    uint32_t kinds = 0;
    for (int kind = 0; kind < PL_COLL_KINDS; kind++) {
        area->chunk[kind] = goes_along_tree(area, kind, 0) ? tree_rules[kind].chunk
                            : area->size <= PL_AREA_FLAT   ? short_chunks[kind]
                                                           : NULL;
        if (area->chunk[kind] && !is_configured(kind))
            kinds |= (uint32_t)1 << kind;
    }
    return kinds;
}

/* The area of a communicator that has had none so far. The checking mode has none: its fast path (api/coll_fast.h)
 * would not check. */
static struct pl_area *find_area(const struct pl_coll *coll, int *rc)
{
    struct pl_comm *comm = coll->comm;
    struct pl_area *area;
    *rc = MPI_SUCCESS;
    if (coll->kind >= PL_COLL_KINDS || comm->size < 2 || pl_comm_is_inter(comm) || is_configured(coll->kind) ||
        pl_coll_agreeing)
        return NULL;
    size_t bytes = pl_area_bytes(coll);
    if (bytes == SIZE_MAX || (bytes > PL_AREA_SHORT && pl_coll_has_rules(coll->kind)))
        return NULL;
    const void *named = comm->coll.named;
    comm->coll.named = named ? named : coll; /* not the collectives that make the area */
    *rc = pl_area_get(comm, pl_coll_depends_on_order(coll), &area);
    comm->coll.named = named;
    if (area)
        comm->coll.area.kinds = area_choose_chunks(area);
    return area;
}

static PL_NOINLINE int area_run_chunks(struct pl_area_call *call)
{
    size_t most = call->bytes <= PL_AREA_SHORT ? call->bytes : area_chunk_length(call), at = 0;
    int rc;
    pl_area_chunk *run = area_chunk_of(call);
    call->exceeds_caches = exceeds_caches(call);
    call->area->shift = area_shift_of(call->coll);
    do {
        size_t some = pl_least(most, call->bytes - at);
        rc = run(call, at, some);
        pl_area_end(call->area);
        at += some;
    } while (rc == MPI_SUCCESS && (at < call->bytes || call->last > 0));
    call->area->shift = 0;
    return rc;
}

/* Ranks that take the data in different chunks do different numbers of operations, and wait for each other in vain. A
 * chunk may have a part for each rank. */
static PL_COLD void area_tell_amounts(const struct pl_area_call *call)
{
    size_t wrong = call->area->wrong;
    if (call->bytes > PL_AREA_SHORT || wrong > PL_AREA_SHORT / (size_t)call->size)
        pl_coll_tell_amounts(call->area->comm);
}

int pl_coll_run_in_area(const struct pl_coll *coll, size_t bytes)
{
    struct pl_comm *comm = coll->comm;
    struct pl_area_call call = { comm->coll.area.open, coll, comm->rank, comm->size, coll->root, bytes, 0, false, 0 };
    int rc;
    if (pl_likely(bytes <= PL_AREA_SHORT / PL_AREA_FLAT)) {
        rc = call.area->chunk[coll->kind](&call, 0, bytes);
        pl_area_end(call.area);
    } else {
        rc = area_run_chunks(&call);
    }
    pl_comm_count_area(comm);
    if (pl_unlikely(rc == MPI_ERR_TRUNCATE) && !pl_coll_is_private(coll->kind))
        area_tell_amounts(&call);
    return pl_unlikely(call.elsewhere != 0) && rc == MPI_SUCCESS ? pl_area_by_messages(&call) : rc;
}

/* Beyond PL_AREA_FLAT ranks there are no long rings. */
static bool area_takes_long(const struct pl_area *area, enum pl_coll_kind kind, size_t bytes)
{
    return area->size <= PL_AREA_FLAT || goes_along_tree(area, kind, bytes);
}

bool pl_coll_try_area(const struct pl_coll *coll, int *rc)
{
    struct pl_comm *comm = coll->comm;
    if (pl_unlikely(!comm->coll.area.open) && !find_area(coll, rc))
        return *rc != MPI_SUCCESS;
    size_t bytes = comm->coll.area.kinds >> coll->kind & 1 ? pl_area_bytes(coll) : SIZE_MAX;
    if (pl_unlikely(bytes > PL_AREA_SHORT) && (bytes == SIZE_MAX || pl_coll_has_rules(coll->kind) ||
                                               !area_takes_long(comm->coll.area.open, coll->kind, bytes)))
        return false;
    *rc = pl_coll_run_in_area(coll, bytes);
    return true;
}
