/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives by the board that move data. See board.c. */
#include "core/coll/area/data.h"

/* --- data --------------------------------------------------------------------------------------------------------- */

void pl_piece_walk(struct pl_block block, size_t at, void *packed, size_t bytes, bool pack)
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
static inline size_t place_of(int owner, int rank, size_t bytes)
{
    return (size_t)(rank - (rank > owner)) * bytes;
}

/* --- one to all, all to one: a piece of `bytes` bytes from `at` on ------------------------------------------------ */

int pl_board_bcast(struct pl_board_call *call, size_t at, size_t bytes)
{
    struct pl_block data = pl_coll_received(call->coll);
    const void *theirs = NULL;
    void *cell;
    int rc;
    if (call->rank == call->root) {
        if ((rc = pl_board_put(call->board, bytes, &cell)) != MPI_SUCCESS)
            return rc;
        pl_piece_pack(data, at, cell, bytes);
        pl_board_show(call->board, -1);
    } else if ((rc = pl_board_wait(call->board, call->root, &bytes, &theirs)) == MPI_SUCCESS) {
        pl_piece_unpack(call, theirs, bytes, data, at);
    }
    return rc;
}

int pl_board_scatter(struct pl_board_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    size_t all = bytes * (size_t)(call->size - 1), said = all;
    const void *theirs = NULL;
    void *cell;
    int rc;
    if (call->rank != call->root) {
        if ((rc = pl_board_wait(call->board, call->root, &said, &theirs)) == MPI_SUCCESS && said == all)
            pl_piece_unpack(call, (const char *)theirs + place_of(call->root, call->rank, bytes), bytes,
                            pl_coll_received(coll), at);
        return rc;
    }
    if ((rc = pl_board_put(call->board, all, &cell)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pl_piece_pack(sent_to(coll, i), at, (char *)cell + place_of(call->rank, i, bytes), bytes);
    pl_board_show(call->board, -1);
    if (coll->recvbuf != MPI_IN_PLACE)
        pl_piece_keep(call, sent_to(coll, call->rank), pl_coll_received(coll), at, bytes);
    return rc;
}

int pl_board_gather(struct pl_board_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    const void *theirs = NULL;
    void *cell;
    int rc = MPI_SUCCESS;
    if (call->rank != call->root) {
        if ((rc = pl_board_put(call->board, bytes, &cell)) == MPI_SUCCESS) {
            pl_piece_pack(pl_coll_sent(coll), at, cell, bytes);
            pl_board_show(call->board, call->root);
        }
        return rc;
    }
    if (!pl_coll_in_place(coll))
        pl_piece_keep(call, pl_coll_sent(coll), received_from(coll, call->rank), at, bytes);
    for (int i = 0; rc == MPI_SUCCESS && i < call->size; i++) {
        size_t said = bytes;
        if (i != call->rank && (rc = pl_board_wait(call->board, i, &said, &theirs)) == MPI_SUCCESS)
            pl_piece_unpack(call, theirs, said, received_from(coll, i), at);
    }
    return rc;
}

/* --- all to all --------------------------------------------------------------------------------------------------- */

int pl_board_barrier(struct pl_board_call *call, size_t at, size_t bytes)
{
    void *cell;
    int rc = pl_board_put(call->board, bytes, &cell);
    (void)at;
    if (rc)
        return rc;
    pl_board_show(call->board, -1);
    return pl_board_wait_all(call->board, bytes);
}

int pl_board_allgather(struct pl_board_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    bool in_place = pl_coll_in_place(coll);
    struct pl_block place = received_from(coll, call->rank), own = in_place ? place : pl_coll_sent(coll);
    void *cell;
    int rc = pl_board_put(call->board, bytes, &cell);
    if (rc)
        return rc;
    pl_piece_pack(own, at, cell, bytes);
    pl_board_show(call->board, -1);
    if (!in_place)
        pl_piece_keep(call, own, place, at, bytes);
    if ((rc = pl_board_wait_all(call->board, bytes)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pl_piece_unpack(call, pl_board_read(call->board, i, bytes), bytes, received_from(coll, i), at);
    return rc;
}

int pl_board_alltoall(struct pl_board_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    bool in_place = pl_coll_in_place(coll);
    size_t all = bytes * (size_t)(call->size - 1);
    void *cell;
    int rc = pl_board_put(call->board, all, &cell);
    if (rc)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pl_piece_pack(in_place ? received_from(coll, i) : sent_to(coll, i), at,
                          (char *)cell + place_of(call->rank, i, bytes), bytes);
    pl_board_show(call->board, -1);
    if (!in_place)
        pl_piece_keep(call, sent_to(coll, call->rank), received_from(coll, call->rank), at, bytes);
    if ((rc = pl_board_wait_all(call->board, all)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pl_piece_unpack(call, (const char *)pl_board_read(call->board, i, all) + place_of(i, call->rank, bytes),
                            bytes, received_from(coll, i), at);
    return rc;
}
