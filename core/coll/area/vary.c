/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of different lengths take one operation. A slot with blocks for several ranks first says where each of them
 * ends. A rank whose data does not fit into a slot publishes only that, and messages bring its data after the
 * operation: in an alltoall the data of all ranks, since all have seen it.
 *
 * The lengths of an allgather are known to all ranks: it takes chunks, in which a rank with a short block has less.
 */
#include "core/coll/area/vary.h"

#include "core/coll/area/copy.h"
#include "core/coll/schedule_run.h"
#include "core/coll/select.h"

static inline uint64_t rank_bit(int rank)
{
    return (uint64_t)1 << rank;
}

/* Space for this rank's data; NULL if it does not fit into a slot, which is noted. */
static inline int area_vary_reserve(struct pl_area_call *call, size_t bytes, void **slot)
{
    bool fits = bytes <= PL_AREA_MAX;
    int rc = pl_area_reserve(call->area, fits ? bytes : 0, slot);
    if (pl_unlikely(!fits)) {
        call->area->slots[call->rank].bytes = PL_AREA_ELSEWHERE;
        call->elsewhere |= rank_bit(call->rank);
        *slot = NULL;
    }
    return rc;
}

/* --- one block ---------------------------------------------------------------------------------------------------- */

/* Data of one rank into a block. */
static inline int area_vary_unpack(struct pl_area_call *call, int from, const void *data, size_t bytes,
                                   struct pl_block block)
{
    size_t most = pl_block_size(block);
    if (pl_unlikely(bytes > most))
        return pl_area_fail_amount(call->area, from, bytes, most);
    if (bytes > 0)
        pl_area_unpack(call, data, bytes, block, 0);
    return MPI_SUCCESS;
}

int pl_area_gatherv(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    struct pl_block own = pl_coll_sent(coll);
    const void *data;
    void *slot;
    int rc = MPI_SUCCESS;
    (void)at, (void)bytes;
    if (call->rank != call->root) {
        size_t all = pl_block_size(own);
        if ((rc = area_vary_reserve(call, all, &slot)) != MPI_SUCCESS)
            return rc;
        if (slot)
            pl_area_pack(own, 0, slot, all);
        pl_area_publish(call->area, call->root);
        return rc;
    }
    if (!pl_coll_in_place(coll))
        pl_area_copy_own(call, own, pl_recv_block(coll, call->rank), 0, SIZE_MAX);
    for (int i = 0; rc == MPI_SUCCESS && i < call->size; i++) {
        size_t written = PL_AREA_ELSEWHERE;
        if (i == call->rank || (rc = pl_area_wait(call, i, &written, &data)) != MPI_SUCCESS)
            continue;
        if (written == PL_AREA_ELSEWHERE)
            call->elsewhere |= rank_bit(i);
        else
            rc = area_vary_unpack(call, i, data, written, pl_recv_block(coll, i));
    }
    return rc;
}

/* --- a block for each --------------------------------------------------------------------------------------------- */

/* The bytes before the blocks, which say where each ends. A slot has no block for its owner. */
static inline size_t area_head_bytes(const struct pl_area_call *call)
{
    return (size_t)(call->size - 1) * sizeof(uint32_t);
}

typedef struct pl_block blocks_of(const struct pl_coll *coll, int rank);

static inline size_t area_blocks_bytes(const struct pl_area_call *call, blocks_of *block)
{
    size_t all = area_head_bytes(call);
    for (int i = 0; i < call->size && all <= PL_AREA_MAX; i++)
        all += i == call->rank ? 0 : pl_block_size(block(call->coll, i));
    return all;
}

static inline int area_pack_blocks(struct pl_area_call *call, blocks_of *block)
{
    void *slot = NULL;
    int rc = area_vary_reserve(call, area_blocks_bytes(call, block), &slot);
    if (rc || !slot)
        return rc;
    char *data = (char *)slot + area_head_bytes(call);
    uint32_t *end = slot, at = 0;
    for (int i = 0; i < call->size; i++) {
        if (i == call->rank)
            continue;
        struct pl_block each = block(call->coll, i);
        size_t bytes = pl_block_size(each);
        if (bytes > 0)
            pl_area_pack(each, 0, data + at, bytes);
        *end++ = at += (uint32_t)bytes;
    }
    return MPI_SUCCESS;
}

/* Unpacks the block for this rank of a slot with `written` bytes. Another rank's memory is not trusted. */
static inline int area_unpack_own(struct pl_area_call *call, int from, const void *slot, size_t written)
{
    int index = call->rank - (call->rank > from);
    const uint32_t *ends = slot;
    size_t head = area_head_bytes(call);
    if (pl_unlikely(written < head || written > PL_AREA_MAX))
        return pl_area_fail_amount(call->area, from, written, head);
    uint32_t begin = index > 0 ? pl_read_shared(&ends[index - 1]) : 0, end = pl_read_shared(&ends[index]);
    if (pl_unlikely(begin > end || end > written - head))
        return pl_area_fail_amount(call->area, from, written, head + end);
    struct pl_block block =
        call->coll->kind == PL_COLL_SCATTERV ? pl_coll_received(call->coll) : pl_recv_block(call->coll, from);
    return area_vary_unpack(call, from, (const char *)slot + head + begin, end - begin, block);
}

int pl_area_scatterv(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    const void *data = NULL;
    size_t written = PL_AREA_ELSEWHERE;
    int rc;
    (void)at, (void)bytes;
    if (call->rank == call->root) {
        if ((rc = area_pack_blocks(call, pl_send_block)) != MPI_SUCCESS)
            return rc;
        pl_area_publish(call->area, -1);
        if (coll->recvbuf != MPI_IN_PLACE && !call->elsewhere)
            pl_area_copy_own(call, pl_send_block(coll, call->rank), pl_coll_received(coll), 0, SIZE_MAX);
        return rc;
    }
    if ((rc = pl_area_wait(call, call->root, &written, &data)) != MPI_SUCCESS)
        return rc;
    if (written != PL_AREA_ELSEWHERE)
        return area_unpack_own(call, call->root, data, written);
    call->elsewhere |= rank_bit(call->root);
    return rc;
}

int pl_area_alltoallv(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    bool in_place = pl_coll_in_place(coll);
    int rc = area_pack_blocks(call, in_place ? pl_recv_block : pl_send_block);
    (void)at, (void)bytes;
    if (rc)
        return rc;
    pl_area_publish(call->area, -1);
    if (!in_place && !call->elsewhere)
        pl_area_copy_own(call, pl_send_block(coll, call->rank), pl_recv_block(coll, call->rank), 0, SIZE_MAX);
    if ((rc = pl_area_wait_all(call->area, call, PL_AREA_ANY)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (pl_area_written(call->area, i) >= PL_AREA_ELSEWHERE)
            call->elsewhere |= rank_bit(i);
    for (int i = 0; rc == MPI_SUCCESS && !call->elsewhere && i < call->size; i++) {
        size_t written = pl_least(pl_area_written(call->area, i), PL_AREA_ELSEWHERE);
        if (i != call->rank)
            rc = area_unpack_own(call, i, pl_area_read(call->area, i, written), written);
    }
    return rc;
}

PL_COLD int pl_area_by_messages(const struct pl_area_call *call)
{
    const struct pl_coll *coll = call->coll;
    struct pl_schedule schedule;
    /* A tag that all ranks know, and that no other message has for a long time. */
    pl_schedule_init(&schedule, coll->comm, pl_comm_tag(PL_AREA_TAGS, (uint32_t)pl_area_count(coll->comm)));
    if (coll->kind == PL_COLL_GATHERV && call->rank == call->root) {
        for (int i = 0; i < call->size; i++)
            if (call->elsewhere & rank_bit(i))
                pl_schedule_recv(&schedule, pl_recv_block(coll, i), i);
    } else {
        pl_coll_append(&schedule, coll);
    }
    int rc = pl_schedule_run(&schedule);
    pl_schedule_fini(&schedule);
    return rc;
}

/* --- all to all, in chunks ---------------------------------------------------------------------------------------- */

/* How much of a block belongs to the chunk of `bytes` bytes from `at` on. */
static inline size_t area_chunk_part(struct pl_block block, size_t at, size_t bytes)
{
    size_t all = pl_block_size(block);
    return at < all ? pl_least(bytes, all - at) : 0;
}

int pl_area_allgatherv(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    bool in_place = pl_coll_in_place(coll);
    struct pl_block result = pl_recv_block(coll, call->rank), own = in_place ? result : pl_coll_sent(coll);
    size_t mine = area_chunk_part(own, at, bytes);
    void *slot;
    int rc = pl_area_reserve(call->area, mine, &slot);
    if (rc)
        return rc;
    if (mine > 0)
        pl_area_pack(own, at, slot, mine);
    pl_area_publish(call->area, -1);
    if (!in_place)
        pl_area_copy_own(call, own, result, at, bytes);
    rc = pl_area_wait_all(call->area, call, PL_AREA_ANY);
    for (int i = 0; rc == MPI_SUCCESS && i < call->size; i++) {
        struct pl_block block = pl_recv_block(coll, i);
        size_t written = pl_area_written(call->area, i), most = area_chunk_part(block, at, bytes);
        if (i == call->rank || written == 0)
            continue;
        if (written > most)
            rc = pl_area_fail_amount(call->area, i, written, most);
        else
            pl_area_unpack(call, pl_area_read(call->area, i, written), written, block, at);
    }
    return rc;
}
