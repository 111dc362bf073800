/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short collectives by the board (core/board.h). Reductions combine in the order of the ranks, starting with rank 0, on
 * whichever rank it is done: equal input has equal results, to the bit.
 */
#include "core/board.h"

#include <string.h>

#include "core/collectives/algorithm.h"
#include "core/config.h"

/* Bytes that all ranks together read, beyond which messages that share the work are faster. */
enum { MUCH = 32 << 10 };

/* The bytes that a rank puts into its cell, alike on all ranks; SIZE_MAX: not for the board. */
static size_t reduction_bytes(const struct pl_coll *coll)
{
    const struct pl_type *type = coll->recvtype;
    MPI_Count count = coll->recvcount;
    if (coll->op->user || coll->op->user_c || type->size != type->extent)
        return SIZE_MAX;
    if (coll->kind == PL_COLL_REDUCE_SCATTER_BLOCK)
        count *= coll->comm->size;
    if (coll->kind == PL_COLL_REDUCE_SCATTER) {
        count = 0;
        for (int i = 0; i < coll->comm->size; i++)
            count += pl_count_at(coll->recvcounts, i);
    }
    return count > PL_BOARD_BYTES ? SIZE_MAX : (size_t)count * (size_t)type->size;
}

static size_t block_bytes(MPI_Count count, const struct pl_type *type, int times)
{
    return count > PL_BOARD_BYTES || type->size > PL_BOARD_BYTES ? SIZE_MAX
                                                                 : (size_t)count * (size_t)type->size * (size_t)times;
}

static size_t cell_bytes(const struct pl_coll *coll)
{
    const struct pl_comm *comm = coll->comm;
    bool root = comm->rank == coll->root;
    switch (coll->kind) {
    case PL_COLL_BARRIER: return 0;
    case PL_COLL_BCAST: return block_bytes(coll->recvcount, coll->recvtype, 1);
    case PL_COLL_GATHER:
        return root ? block_bytes(coll->recvcount, coll->recvtype, 1) : block_bytes(coll->sendcount, coll->sendtype, 1);
    case PL_COLL_SCATTER:
        return root ? block_bytes(coll->sendcount, coll->sendtype, comm->size)
                    : block_bytes(coll->recvcount, coll->recvtype, comm->size);
    case PL_COLL_ALLGATHER: return block_bytes(coll->recvcount, coll->recvtype, 1);
    case PL_COLL_ALLTOALL: return block_bytes(coll->recvcount, coll->recvtype, comm->size);
    case PL_COLL_REDUCE:
    case PL_COLL_ALLREDUCE:
    case PL_COLL_REDUCE_SCATTER:
    case PL_COLL_REDUCE_SCATTER_BLOCK:
    case PL_COLL_SCAN:
    case PL_COLL_EXSCAN: return reduction_bytes(coll);
    default: return SIZE_MAX; /* not all know alike how much it is */
    }
}

/* Only some ranks read a whole cell of each. */
static bool is_read_by_all(enum pl_coll_kind kind)
{
    return kind == PL_COLL_ALLGATHER || kind == PL_COLL_ALLREDUCE || kind == PL_COLL_SCAN || kind == PL_COLL_EXSCAN;
}

static bool is_reduction(enum pl_coll_kind kind)
{
    return kind >= PL_COLL_REDUCE;
}

/* --- the parts ---------------------------------------------------------------------------------------------------- */

static inline void *pack(void *to, struct pl_block block)
{
    struct pl_cursor cursor;
    pl_cursor_init(&cursor, block.buf, block.count, block.type);
    return (char *)to + pl_cursor_pack(&cursor, to, cursor.total);
}

static inline void unpack(const void *from, size_t bytes, struct pl_block block)
{
    struct pl_cursor cursor;
    pl_cursor_init(&cursor, block.buf, block.count, block.type);
    if (bytes)
        pl_cursor_unpack(&cursor, from, bytes);
}

/* Combines `count` elements from `offset` on of the cells of ranks 0 to `last`. */
static void combine(struct pl_board *board, const struct pl_coll *coll, size_t bytes, int last, size_t offset,
                    MPI_Count count, void *result)
{
    if (count == 0)
        return;
    memcpy(result, (const char *)pl_board_read(board, 0, bytes) + offset, (size_t)count * (size_t)coll->recvtype->size);
    for (int i = 1; i <= last; i++)
        pl_op_apply(coll->op, (const char *)pl_board_read(board, i, bytes) + offset, result, count, coll->recvtype);
}

/* --- one to all, all to one ----------------------------------------------------------------------------------------- */

static int bcast(struct pl_board *board, const struct pl_coll *coll, size_t bytes)
{
    bool root = coll->comm->rank == coll->root;
    void *cell;
    int rc = root ? pl_board_put(board, bytes, &cell) : pl_board_wait(board, coll->root, &bytes, (const void **)&cell);
    if (rc)
        return rc;
    if (!root) {
        unpack(cell, bytes, pl_coll_received(coll));
        return rc;
    }
    pack(cell, pl_coll_received(coll));
    pl_board_show(board, -1);
    return rc;
}

static int scatter(struct pl_board *board, const struct pl_coll *coll, size_t bytes)
{
    int rank = coll->comm->rank, size = coll->comm->size, rc;
    size_t each = bytes / (size_t)size;
    const void *cell;
    void *own;
    if (rank != coll->root) {
        rc = pl_board_wait(board, coll->root, &bytes, &cell);
    } else if ((rc = pl_board_put(board, bytes, &own)) == MPI_SUCCESS) {
        cell = own;
        for (int i = 0; i < size; i++)
            own = pack(own, pl_send_block(coll, i));
        pl_board_show(board, -1);
    }
    if (rc == MPI_SUCCESS && coll->recvbuf != MPI_IN_PLACE)
        unpack((const char *)cell + each * (size_t)rank, bytes == each * (size_t)size ? each : 0,
               pl_coll_received(coll));
    return rc;
}

static int gather(struct pl_board *board, const struct pl_coll *coll, size_t bytes)
{
    int rank = coll->comm->rank;
    const void *cell;
    void *own;
    int rc = pl_board_put(board, bytes, &own);
    if (rc)
        return rc;
    pack(own, pl_coll_in_place(coll) ? pl_recv_block(coll, rank) : pl_coll_sent(coll));
    if (rank != coll->root) {
        pl_board_show(board, coll->root);
        return rc;
    }
    for (int i = 0; rc == MPI_SUCCESS && i < coll->comm->size; i++) {
        size_t said = bytes;
        if (i != rank)
            rc = pl_board_wait(board, i, &said, &cell);
        if (rc == MPI_SUCCESS && (i != rank || !pl_coll_in_place(coll)))
            unpack(i == rank ? own : cell, said, pl_recv_block(coll, i));
    }
    return rc;
}

static int reduce(struct pl_board *board, const struct pl_coll *coll, size_t bytes)
{
    bool root = coll->comm->rank == coll->root;
    const void *cell;
    void *own;
    int rc = pl_board_put(board, bytes, &own);
    if (rc)
        return rc;
    pack(own, pl_coll_input(coll, coll->recvcount));
    if (!root) {
        pl_board_show(board, coll->root);
        return rc;
    }
    size_t said = bytes;
    for (int i = 0; rc == MPI_SUCCESS && i < coll->comm->size; i++)
        if (i != coll->root)
            rc = pl_board_wait(board, i, &said, &cell);
    if (rc == MPI_SUCCESS)
        combine(board, coll, bytes, coll->comm->size - 1, 0, coll->recvcount, coll->recvbuf);
    return rc;
}

/* --- all to all ----------------------------------------------------------------------------------------------------- */

/* What this rank says in those of its kinds that are not reductions. */
static void say(const struct pl_coll *coll, void *cell)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    if (coll->kind == PL_COLL_ALLGATHER)
        pack(cell, pl_coll_in_place(coll) ? pl_recv_block(coll, rank) : pl_coll_sent(coll));
    for (int i = 0; coll->kind == PL_COLL_ALLTOALL && i < size; i++)
        cell = pack(cell, pl_coll_in_place(coll) ? pl_recv_block(coll, i) : pl_send_block(coll, i));
}

/* And what it takes from the cells. */
static void hear(struct pl_board *board, const struct pl_coll *coll, size_t bytes)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    size_t each = coll->kind == PL_COLL_ALLTOALL ? bytes / (size_t)size : bytes,
           offset = each == bytes ? 0 : each * (size_t)rank;
    for (int i = 0; coll->kind != PL_COLL_BARRIER && i < size; i++)
        unpack((const char *)pl_board_read(board, i, bytes) + offset, each, pl_recv_block(coll, i));
}

static void combine_own(struct pl_board *board, const struct pl_coll *coll, size_t bytes)
{
    int rank = coll->comm->rank, last = coll->comm->size - 1;
    MPI_Count first = 0, count = coll->recvcount;
    if (coll->kind == PL_COLL_REDUCE_SCATTER_BLOCK)
        first = count * rank;
    for (int i = 0; coll->kind == PL_COLL_REDUCE_SCATTER && i <= rank; i++) {
        first += i > 0 ? count : 0;
        count = pl_count_at(coll->recvcounts, i);
    }
    combine(board, coll, bytes, last, (size_t)first * (size_t)coll->recvtype->size, count, coll->recvbuf);
}

static int all_to_all(struct pl_board *board, const struct pl_coll *coll, size_t bytes)
{
    void *cell;
    int rc = pl_board_put(board, bytes, &cell);
    if (rc)
        return rc;
    if (is_reduction(coll->kind))
        pack(cell, pl_coll_input(coll, (MPI_Count)(bytes / (size_t)coll->recvtype->size)));
    else
        say(coll, cell);
    pl_board_show(board, -1);
    rc = pl_board_wait_all(board, bytes);
    if (rc == MPI_SUCCESS && is_reduction(coll->kind))
        combine_own(board, coll, bytes);
    else if (rc == MPI_SUCCESS)
        hear(board, coll, bytes);
    return rc;
}

/* Every rank hears those before it only, so that the first ones may run ahead. */
static int prefix(struct pl_board *board, const struct pl_coll *coll, size_t bytes)
{
    int rank = coll->comm->rank, last = coll->kind == PL_COLL_SCAN ? rank : rank - 1;
    const void *cell;
    void *own;
    int rc = pl_board_put(board, bytes, &own);
    if (rc)
        return rc;
    pack(own, pl_coll_input(coll, coll->recvcount));
    pl_board_show(board, -1);
    for (int i = 0; rc == MPI_SUCCESS && i < rank; i++) {
        size_t said = bytes;
        rc = pl_board_wait(board, i, &said, &cell);
    }
    if (rc == MPI_SUCCESS && last >= 0)
        combine(board, coll, bytes, last, 0, coll->recvcount, coll->recvbuf);
    return rc;
}

/* --- the way in ------------------------------------------------------------------------------------------------------ */

static int run(struct pl_board *board, const struct pl_coll *coll, size_t bytes)
{
    switch (coll->kind) {
    case PL_COLL_BCAST: return bcast(board, coll, bytes);
    case PL_COLL_SCATTER: return scatter(board, coll, bytes);
    case PL_COLL_GATHER: return gather(board, coll, bytes);
    case PL_COLL_REDUCE: return reduce(board, coll, bytes);
    case PL_COLL_SCAN:
    case PL_COLL_EXSCAN: return prefix(board, coll, bytes);
    default: return all_to_all(board, coll, bytes);
    }
}

bool pl_coll_by_board(const struct pl_coll *coll, int *rc)
{
    struct pl_comm *comm = coll->comm;
    if (coll->kind > PL_COLL_EXSCAN || comm->size < 2 || pl_comm_is_inter(comm) || pl_coll_forced(coll->kind))
        return false;
    size_t bytes = cell_bytes(coll);
    if (bytes > PL_BOARD_BYTES || (is_read_by_all(coll->kind) && bytes * (size_t)comm->size > MUCH))
        return false;
    struct pl_board *board;
    *rc = pl_board_of(comm, is_reduction(coll->kind), &board);
    if (!board)
        return *rc != MPI_SUCCESS;
    *rc = run(board, coll, bytes);
    pl_board_end(board);
    return true;
}
