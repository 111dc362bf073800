/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives by the board that move data. See board.c. */
#include "core/coll/area/data.h"

/* --- data --------------------------------------------------------------------------------------------------------- */

void pl_chunk_walk(struct pl_block block, size_t at, void *packed, size_t bytes, bool pack)
{
    struct pl_cursor cursor;
    pl_cursor_init(&cursor, block.buf, block.count, block.type);
    pl_cursor_seek(&cursor, at);
    if (pack)
        pl_cursor_pack(&cursor, packed, bytes);
    else
        pl_cursor_unpack(&cursor, packed, bytes);
}

/* What goes to a rank, and what comes from one: blocks of one length. */
static inline struct pl_block sent_to(const struct pl_coll *coll, int rank)
{
    return pl_block_slice(pl_coll_sent(coll), rank * coll->sendcount, coll->sendcount);
}

static inline struct pl_block received_from(const struct pl_coll *coll, int rank)
{
    return pl_block_slice(pl_coll_received(coll), rank * coll->recvcount, coll->recvcount);
}

/* Where in a rank's cell the block for another is: the own one has no place there. */
static inline size_t area_move_place_of(int owner, int rank, size_t bytes)
{
    return (size_t)(rank - (rank > owner)) * bytes;
}

/* --- one to all, all to one: a piece of `bytes` bytes from `at` on ------------------------------------------------ */

int pl_area_bcast(struct pl_area_call *call, size_t at, size_t bytes)
{
    struct pl_block data = pl_coll_received(call->coll);
    const void *theirs = NULL;
    void *cell;
    int rc;
    if (call->rank == call->root) {
        if ((rc = pl_area_reserve(call->area, bytes, &cell)) != MPI_SUCCESS)
            return rc;
        pl_chunk_pack(data, at, cell, bytes);
        pl_area_publish(call->area, -1);
    } else if ((rc = pl_area_wait(call->area, call->root, &bytes, &theirs)) == MPI_SUCCESS) {
        pl_chunk_unpack(call, theirs, bytes, data, at);
    }
    return rc;
}

int pl_area_scatter(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    size_t all = bytes * (size_t)(call->size - 1), written = all;
    const void *theirs = NULL;
    void *cell;
    int rc;
    if (call->rank != call->root) {
        if ((rc = pl_area_wait(call->area, call->root, &written, &theirs)) == MPI_SUCCESS && written == all)
            pl_chunk_unpack(call, (const char *)theirs + area_move_place_of(call->root, call->rank, bytes), bytes,
                            pl_coll_received(coll), at);
        return rc;
    }
    if ((rc = pl_area_reserve(call->area, all, &cell)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pl_chunk_pack(sent_to(coll, i), at, (char *)cell + area_move_place_of(call->rank, i, bytes), bytes);
    pl_area_publish(call->area, -1);
    if (coll->recvbuf != MPI_IN_PLACE)
        pl_chunk_keep(call, sent_to(coll, call->rank), pl_coll_received(coll), at, bytes);
    return rc;
}

int pl_area_gather(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    const void *theirs = NULL;
    void *cell;
    int rc = MPI_SUCCESS;
    if (call->rank != call->root) {
        if ((rc = pl_area_reserve(call->area, bytes, &cell)) == MPI_SUCCESS) {
            pl_chunk_pack(pl_coll_sent(coll), at, cell, bytes);
            pl_area_publish(call->area, call->root);
        }
        return rc;
    }
    if (!pl_coll_in_place(coll))
        pl_chunk_keep(call, pl_coll_sent(coll), received_from(coll, call->rank), at, bytes);
    for (int i = 0; rc == MPI_SUCCESS && i < call->size; i++) {
        size_t written = bytes;
        if (i != call->rank && (rc = pl_area_wait(call->area, i, &written, &theirs)) == MPI_SUCCESS)
            pl_chunk_unpack(call, theirs, written, received_from(coll, i), at);
    }
    return rc;
}

/* --- all to all --------------------------------------------------------------------------------------------------- */

int pl_area_barrier(struct pl_area_call *call, size_t at, size_t bytes)
{
    void *cell;
    int rc = pl_area_reserve(call->area, bytes, &cell);
    (void)at;
    if (rc)
        return rc;
    pl_area_publish(call->area, -1);
    return pl_area_wait_all(call->area, bytes);
}

int pl_area_allgather(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    bool in_place = pl_coll_in_place(coll);
    struct pl_block place = received_from(coll, call->rank), own = in_place ? place : pl_coll_sent(coll);
    void *cell;
    int rc = pl_area_reserve(call->area, bytes, &cell);
    if (rc)
        return rc;
    pl_chunk_pack(own, at, cell, bytes);
    pl_area_publish(call->area, -1);
    if (!in_place)
        pl_chunk_keep(call, own, place, at, bytes);
    if ((rc = pl_area_wait_all(call->area, bytes)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pl_chunk_unpack(call, pl_area_read(call->area, i, bytes), bytes, received_from(coll, i), at);
    return rc;
}

int pl_area_alltoall(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    bool in_place = pl_coll_in_place(coll);
    size_t all = bytes * (size_t)(call->size - 1);
    void *cell;
    int rc = pl_area_reserve(call->area, all, &cell);
    if (rc)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pl_chunk_pack(in_place ? received_from(coll, i) : sent_to(coll, i), at,
                          (char *)cell + area_move_place_of(call->rank, i, bytes), bytes);
    pl_area_publish(call->area, -1);
    if (!in_place)
        pl_chunk_keep(call, sent_to(coll, call->rank), received_from(coll, call->rank), at, bytes);
    if ((rc = pl_area_wait_all(call->area, all)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pl_chunk_unpack(call,
                            (const char *)pl_area_read(call->area, i, all) + area_move_place_of(i, call->rank, bytes),
                            bytes, received_from(coll, i), at);
    return rc;
}
