/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives by the board whose blocks have different lengths, for which one operation of the board is enough. A cell
 * with blocks for several ranks says first where each of them ends. Who has more than fits into a cell says only that,
 * and what it has goes by messages once the operation has ended: in an alltoall everything, since all have seen it.
 *
 * The lengths of an allgather are known to all: it goes in pieces, of which a rank with a short block has its part.
 */
#include "core/coll/area/data.h"

static inline uint64_t bit_of(int rank)
{
    return (uint64_t)1 << rank;
}

/* Room for what this rank says; NULL if that is too much, which is noted. */
static inline int area_vary_put(struct pl_area_call *call, size_t bytes, void **cell)
{
    bool fits = bytes <= PL_AREA_MAX;
    int rc = pl_area_reserve(call->area, fits ? bytes : 0, cell);
    if (__builtin_expect(!fits, 0)) {
        call->area->slots[call->rank].bytes = PL_AREA_ELSEWHERE;
        call->elsewhere |= bit_of(call->rank);
        *cell = NULL;
    }
    return rc;
}

/* --- one block ---------------------------------------------------------------------------------------------------- */

/* What one rank says, into a block. */
static inline int area_vary_take(struct pl_area_call *call, int from, const void *data, size_t bytes,
                                 struct pl_block block)
{
    size_t room = pl_block_size(block);
    if (__builtin_expect(bytes > room, 0))
        return pl_area_fail_amount(from, bytes, room);
    if (bytes > 0)
        pl_chunk_unpack(call, data, bytes, block, 0);
    return MPI_SUCCESS;
}

int pl_area_gatherv(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    struct pl_block own = pl_coll_sent(coll);
    const void *theirs;
    void *cell;
    int rc = MPI_SUCCESS;
    (void)at, (void)bytes;
    if (call->rank != call->root) {
        size_t all = pl_block_size(own);
        if ((rc = area_vary_put(call, all, &cell)) != MPI_SUCCESS)
            return rc;
        if (cell)
            pl_chunk_pack(own, 0, cell, all);
        pl_area_publish(call->area, call->root);
        return rc;
    }
    if (!pl_coll_in_place(coll))
        pl_chunk_keep(call, own, pl_recv_block(coll, call->rank), 0, SIZE_MAX);
    for (int i = 0; rc == MPI_SUCCESS && i < call->size; i++) {
        size_t written = PL_AREA_ELSEWHERE;
        if (i == call->rank || (rc = pl_area_wait(call->area, i, &written, &theirs)) != MPI_SUCCESS)
            continue;
        if (written == PL_AREA_ELSEWHERE)
            call->elsewhere |= bit_of(i);
        else
            rc = area_vary_take(call, i, theirs, written, pl_recv_block(coll, i));
    }
    return rc;
}

/* --- a block for each --------------------------------------------------------------------------------------------- */

/* What is before the blocks: where each ends, but the owner's, which has no place there. */
static inline size_t head_of(const struct pl_area_call *call)
{
    return (size_t)(call->size - 1) * sizeof(uint32_t);
}

typedef struct pl_block blocks_of(const struct pl_coll *coll, int rank);

static inline size_t length_of(const struct pl_area_call *call, blocks_of *block)
{
    size_t all = head_of(call);
    for (int i = 0; i < call->size && all <= PL_AREA_MAX; i++)
        all += i == call->rank ? 0 : pl_block_size(block(call->coll, i));
    return all;
}

static inline int put_each(struct pl_area_call *call, blocks_of *block)
{
    void *cell = NULL;
    int rc = area_vary_put(call, length_of(call, block), &cell);
    if (rc || !cell)
        return rc;
    char *data = (char *)cell + head_of(call);
    uint32_t *end = cell, at = 0;
    for (int i = 0; i < call->size; i++) {
        if (i == call->rank)
            continue;
        struct pl_block each = block(call->coll, i);
        size_t bytes = pl_block_size(each);
        if (bytes > 0)
            pl_chunk_pack(each, 0, data + at, bytes);
        *end++ = at += (uint32_t)bytes;
    }
    return MPI_SUCCESS;
}

/* The block for this rank of a cell with `said` bytes. Others' memory is not believed. */
static inline int take_own(struct pl_area_call *call, int from, const void *cell, size_t written)
{
    int place = call->rank - (call->rank > from);
    const uint32_t *ends = cell;
    size_t head = head_of(call);
    if (__builtin_expect(written < head, 0))
        return pl_area_fail_amount(from, written, head);
    uint32_t begin = place > 0 ? ends[place - 1] : 0, end = ends[place];
    if (__builtin_expect(begin > end || end > written - head, 0))
        return pl_area_fail_amount(from, written, head + end);
    struct pl_block block =
        call->coll->kind == PL_COLL_SCATTERV ? pl_coll_received(call->coll) : pl_recv_block(call->coll, from);
    return area_vary_take(call, from, (const char *)cell + head + begin, end - begin, block);
}

int pl_area_scatterv(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    const void *theirs = NULL;
    size_t written = PL_AREA_ELSEWHERE;
    int rc;
    (void)at, (void)bytes;
    if (call->rank == call->root) {
        if ((rc = put_each(call, pl_send_block)) != MPI_SUCCESS)
            return rc;
        pl_area_publish(call->area, -1);
        if (coll->recvbuf != MPI_IN_PLACE && !call->elsewhere)
            pl_chunk_keep(call, pl_send_block(coll, call->rank), pl_coll_received(coll), 0, SIZE_MAX);
        return rc;
    }
    if ((rc = pl_area_wait(call->area, call->root, &written, &theirs)) != MPI_SUCCESS)
        return rc;
    if (written != PL_AREA_ELSEWHERE)
        return take_own(call, call->root, theirs, written);
    call->elsewhere |= bit_of(call->root);
    return rc;
}

int pl_area_alltoallv(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    bool in_place = pl_coll_in_place(coll);
    int rc = put_each(call, in_place ? pl_recv_block : pl_send_block);
    (void)at, (void)bytes;
    if (rc)
        return rc;
    pl_area_publish(call->area, -1);
    if (!in_place && !call->elsewhere)
        pl_chunk_keep(call, pl_send_block(coll, call->rank), pl_recv_block(coll, call->rank), 0, SIZE_MAX);
    if ((rc = pl_area_wait_all(call->area, PL_AREA_ANY)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (call->area->slots[i].bytes >= PL_AREA_ELSEWHERE)
            call->elsewhere |= bit_of(i);
    for (int i = 0; rc == MPI_SUCCESS && !call->elsewhere && i < call->size; i++) {
        size_t written = call->area->slots[i].bytes;
        if (i != call->rank)
            rc = take_own(call, i, pl_area_read(call->area, i, written), written);
    }
    return rc;
}

int __attribute__((cold)) pl_area_by_messages(const struct pl_area_call *call)
{
    const struct pl_coll *coll = call->coll;
    struct pl_schedule schedule;
    /* A number that all know, and that is no other message's for a long time. */
    pl_schedule_init(&schedule, coll->comm, (pl_area_count(coll->comm) ^ PL_NONBLOCKING_TAGS / 2) & INT32_MAX);
    if (coll->kind == PL_COLL_GATHERV && call->rank == call->root) {
        for (int i = 0; i < call->size; i++)
            if (call->elsewhere & bit_of(i))
                pl_schedule_recv(&schedule, pl_recv_block(coll, i), i);
    } else {
        pl_coll_select(coll)->append(&schedule, coll);
    }
    int rc = pl_schedule_run(&schedule);
    pl_schedule_fini(&schedule);
    return rc;
}

/* --- all to all, in pieces ---------------------------------------------------------------------------------------- */

/* How much of a block belongs to the piece of `bytes` bytes from `at` on. */
static inline size_t area_vary_part_of(struct pl_block block, size_t at, size_t bytes)
{
    size_t all = pl_block_size(block);
    return at < all ? pl_least(bytes, all - at) : 0;
}

int pl_area_allgatherv(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    bool in_place = pl_coll_in_place(coll);
    struct pl_block place = pl_recv_block(coll, call->rank), own = in_place ? place : pl_coll_sent(coll);
    size_t mine = area_vary_part_of(own, at, bytes);
    void *cell;
    int rc = pl_area_reserve(call->area, mine, &cell);
    if (rc)
        return rc;
    if (mine > 0)
        pl_chunk_pack(own, at, cell, mine);
    pl_area_publish(call->area, -1);
    if (!in_place)
        pl_chunk_keep(call, own, place, at, bytes);
    rc = pl_area_wait_all(call->area, PL_AREA_ANY);
    for (int i = 0; rc == MPI_SUCCESS && i < call->size; i++) {
        struct pl_block block = pl_recv_block(coll, i);
        size_t written = call->area->slots[i].bytes, room = area_vary_part_of(block, at, bytes);
        if (i == call->rank || written == 0)
            continue;
        if (written > room)
            rc = pl_area_fail_amount(i, written, room);
        else
            pl_chunk_unpack(call, pl_area_read(call->area, i, written), written, block, at);
    }
    return rc;
}
