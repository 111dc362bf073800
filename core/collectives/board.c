/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives by the board (core/board.h): long data in pieces, each of which is an operation of the board.
 *
 * Most are one step: whoever has something puts a piece of it there, whoever wants it waits for it and takes it. Short
 * reductions too: operands are combined in the order of the ranks, starting with rank 0, on whichever rank it is done,
 * so that equal input has equal results, to the bit. In long ones each rank combines a part; or, where only one rank
 * wants the result (reduce) or each wants another (scan), they stand in a chain, and each adds its own to what the one
 * before it has put there: none waits for more than one other, and those in front run ahead.
 */
#include "core/board.h"

#include <string.h>

#include "core/collectives/table.h"
#include "core/stream.h"

enum {
    SHARED = 64 << 10, /* bytes that all ranks together read, beyond which each combines a part only */
    TILE = 8 << 10,    /* bytes that are combined at once: they stay in the nearest cache */
    CACHES = 16 << 20, /* bytes that all ranks together get, beyond which they are not kept in the caches */
    LINE = 64,
    /* Pieces: longer ones are fewer changes of context, shorter ones let the next rank begin earlier. */
    PIECE_ON = 64 << 10,        /* from some ranks to others */
    PIECE_ALL = 128 << 10,      /* from all to all */
    PIECE_EACH = PL_BOARD_MOST, /* of a different block for each rank: these together */
};

/* A collective under way. */
struct call {
    struct pl_board *board;
    const struct pl_coll *coll;
    int rank, size, root;
    size_t bytes; /* alike on all: of the vector in bcast, reduce, allreduce and scans, else of the longest block */
    size_t last;  /* of the piece before, if its parts have yet to be told */
    bool much;    /* more than the caches hold comes in */
};

/* --- data --------------------------------------------------------------------------------------------------------- */

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Buffers of no bytes may be NULL. */
static inline void copy_bytes(void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
}

/* Moves packed bytes of a block, from the `at`-th on. */
static inline void pack(struct pl_block block, size_t at, void *to, size_t bytes)
{
    struct pl_cursor cursor;
    pl_cursor_init(&cursor, block.buf, block.count, block.type);
    pl_cursor_seek(&cursor, at);
    pl_cursor_pack(&cursor, to, bytes);
}

static inline void unpack(const struct call *call, const void *from, size_t bytes, struct pl_block block, size_t at)
{
    struct pl_cursor cursor;
    pl_cursor_init(&cursor, block.buf, block.count, block.type);
    char *direct = pl_cursor_direct(&cursor);
    if (call->much && direct) {
        pl_stream(direct + at, from, bytes);
        return;
    }
    pl_cursor_seek(&cursor, at);
    pl_cursor_unpack(&cursor, from, bytes);
}

static inline void copy(struct pl_block from, struct pl_block to)
{
    pl_type_copy(from.buf, from.count, from.type, to.buf, to.count, to.type);
}

/* The vector that this rank brings to a reduction, from a byte on, and where its result goes. */
static inline const char *input(const struct call *call, size_t at)
{
    return pl_address(pl_coll_input(call->coll, 0).buf, (MPI_Aint)at);
}

static inline char *output(const struct call *call, size_t at)
{
    return pl_address(call->coll->recvbuf, (MPI_Aint)at);
}

/* to = operand[0] op operand[1] op ..., and a copy of it into `also` unless that is NULL. The first one may be `to`. */
static inline __attribute__((always_inline)) void combine(const struct call *call, int n, const char *const operand[],
                                                          char *to, char *also, size_t bytes)
{
    const struct pl_type *type = call->coll->recvtype;
    const struct pl_op *op = call->coll->op;
    size_t each = (size_t)type->size, tile = bytes <= TILE ? bytes : TILE / each * each;
    for (size_t at = 0; at < bytes; at += tile) {
        size_t some = least(tile, bytes - at);
        MPI_Count count = (MPI_Count)(some / each);
        if (to != operand[0])
            memcpy(to + at, operand[0] + at, some);
        for (int i = 1; i < n; i++)
            pl_op_apply(op, operand[i] + at, to + at, count, type);
        if (also)
            memcpy(also + at, to + at, some);
    }
}

/* The same of all ranks' cells, from their `from`-th byte on. What this rank has itself is taken from where it was,
 * unless the result goes there. */
static void combine_all(const struct call *call, size_t cell_bytes, size_t from, const char *own, char *to,
                        size_t bytes)
{
    const char *operand[PL_BOARD_RANKS];
    int given = pl_coll_in_place(call->coll) ? -1 : call->rank;
    for (int i = 0; i < call->size; i++)
        operand[i] = i == given ? own : (const char *)pl_board_read(call->board, i, cell_bytes) + from;
    combine(call, call->size, operand, to, NULL, bytes);
}

/* --- one to all, all to one: a piece of `bytes` bytes from `at` on --------------------------------------------------- */

static int bcast(struct call *call, size_t at, size_t bytes)
{
    struct pl_block data = pl_coll_received(call->coll);
    const void *theirs;
    void *cell;
    int rc;
    if (call->rank == call->root) {
        if ((rc = pl_board_put(call->board, bytes, &cell)) != MPI_SUCCESS)
            return rc;
        pack(data, at, cell, bytes);
        pl_board_show(call->board, -1);
    } else if ((rc = pl_board_wait(call->board, call->root, &bytes, &theirs)) == MPI_SUCCESS) {
        unpack(call, theirs, bytes, data, at);
    }
    return rc;
}

static int scatter(struct call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    size_t all = bytes * (size_t)call->size, said = all;
    const void *theirs;
    void *cell;
    int rc;
    if (call->rank != call->root) {
        if ((rc = pl_board_wait(call->board, call->root, &said, &theirs)) == MPI_SUCCESS && said == all)
            unpack(call, (const char *)theirs + (size_t)call->rank * bytes, bytes, pl_coll_received(coll), at);
        return rc;
    }
    if ((rc = pl_board_put(call->board, all, &cell)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pack(pl_send_block(coll, i), at, (char *)cell + (size_t)i * bytes, bytes);
    pl_board_show(call->board, -1);
    if (at == 0 && coll->recvbuf != MPI_IN_PLACE)
        copy(pl_send_block(coll, call->rank), pl_coll_received(coll));
    return rc;
}

static int gather(struct call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    const void *theirs;
    void *cell;
    int rc = MPI_SUCCESS;
    if (call->rank != call->root) {
        if ((rc = pl_board_put(call->board, bytes, &cell)) == MPI_SUCCESS) {
            pack(pl_coll_sent(coll), at, cell, bytes);
            pl_board_show(call->board, call->root);
        }
        return rc;
    }
    if (at == 0 && !pl_coll_in_place(coll))
        copy(pl_coll_sent(coll), pl_recv_block(coll, call->rank));
    for (int i = 0; rc == MPI_SUCCESS && i < call->size; i++) {
        size_t said = bytes;
        if (i != call->rank && (rc = pl_board_wait(call->board, i, &said, &theirs)) == MPI_SUCCESS)
            unpack(call, theirs, said, pl_recv_block(coll, i), at);
    }
    return rc;
}

/* --- all to all ----------------------------------------------------------------------------------------------------- */

static int barrier(struct call *call, size_t at, size_t bytes)
{
    void *cell;
    int rc = pl_board_put(call->board, bytes, &cell);
    (void)at;
    if (rc)
        return rc;
    pl_board_show(call->board, -1);
    return pl_board_wait_all(call->board, bytes);
}

static int allgather(struct call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    bool in_place = pl_coll_in_place(coll);
    struct pl_block place = pl_recv_block(coll, call->rank), own = in_place ? place : pl_coll_sent(coll);
    void *cell;
    int rc = pl_board_put(call->board, bytes, &cell);
    if (rc)
        return rc;
    pack(own, at, cell, bytes);
    pl_board_show(call->board, -1);
    if (at == 0 && !in_place)
        copy(own, place);
    if ((rc = pl_board_wait_all(call->board, bytes)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            unpack(call, pl_board_read(call->board, i, bytes), bytes, pl_recv_block(coll, i), at);
    return rc;
}

static int alltoall(struct call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    bool in_place = pl_coll_in_place(coll);
    size_t all = bytes * (size_t)call->size, mine = bytes * (size_t)call->rank;
    void *cell;
    int rc = pl_board_put(call->board, all, &cell);
    if (rc)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pack(in_place ? pl_recv_block(coll, i) : pl_send_block(coll, i), at, (char *)cell + (size_t)i * bytes,
                 bytes);
    pl_board_show(call->board, -1);
    if (at == 0 && !in_place)
        copy(pl_send_block(coll, call->rank), pl_recv_block(coll, call->rank));
    if ((rc = pl_board_wait_all(call->board, all)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            unpack(call, (const char *)pl_board_read(call->board, i, all) + mine, bytes, pl_recv_block(coll, i), at);
    return rc;
}

/* --- reductions ------------------------------------------------------------------------------------------------------ */

/* Everybody says a piece of its whole vector. */
static int say_input(struct call *call, size_t at, size_t bytes)
{
    void *cell;
    int rc = pl_board_put(call->board, bytes, &cell);
    if (rc)
        return rc;
    copy_bytes(cell, input(call, at), bytes);
    pl_board_show(call->board, -1);
    return pl_board_wait_all(call->board, bytes);
}

static int allreduce(struct call *call, size_t at, size_t bytes)
{
    int rc = say_input(call, at, bytes);
    if (rc == MPI_SUCCESS)
        combine_all(call, bytes, 0, input(call, at), output(call, at), bytes);
    return rc;
}

/* Which part of a piece a rank combines: from where, and how much. */
static size_t part_of(const struct call *call, int rank, size_t bytes, size_t *from)
{
    size_t each = (size_t)call->coll->recvtype->size,
           share = (bytes / each + (size_t)call->size - 1) / (size_t)call->size * each;
    *from = least(share * (size_t)rank, bytes);
    return least(share, bytes - *from);
}

/* Each combines a part of the piece, and says that together with the next piece; `bytes` is 0 after the last. */
static int allreduce_in_parts(struct call *call, size_t at, size_t bytes)
{
    size_t last = call->last, from, own = part_of(call, call->rank, last, &from),
           longest = part_of(call, 0, last, &(size_t){ 0 });
    size_t all = bytes + longest;
    char *result = output(call, at - last);
    void *cell;
    int rc = pl_board_put(call->board, all, &cell);
    if (rc)
        return rc;
    copy_bytes(cell, input(call, at), bytes);
    copy_bytes((char *)cell + bytes, result + from, own);
    pl_board_show(call->board, -1);
    if ((rc = pl_board_wait_all(call->board, all)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; last > 0 && i < call->size; i++) {
        own = part_of(call, i, last, &from);
        if (i != call->rank)
            copy_bytes(result + from, (const char *)pl_board_read(call->board, i, all) + bytes, own);
    }
    own = part_of(call, call->rank, bytes, &from);
    combine_all(call, all, from, input(call, at + from), output(call, at + from), own);
    call->last = bytes;
    return rc;
}

/* A piece of every block. */
static int reduce_scatter(struct call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    size_t each = (size_t)coll->recvtype->size, all = bytes * (size_t)call->size, begin = 0, own = 0, own_bytes = 0;
    bool in_place = pl_coll_in_place(coll);
    void *cell;
    int rc = pl_board_put(call->board, all, &cell);
    if (rc)
        return rc;
    for (int i = 0; i < call->size; i++) {
        bool counts = coll->kind == PL_COLL_REDUCE_SCATTER;
        size_t length = (size_t)(counts ? pl_count_at(coll->recvcounts, i) : coll->recvcount) * each;
        size_t some = at < length ? least(bytes, length - at) : 0;
        if (i == call->rank) {
            own = begin;
            own_bytes = some;
        }
        if (i != call->rank || in_place)
            copy_bytes((char *)cell + (size_t)i * bytes, input(call, begin + at), some);
        begin += length;
    }
    pl_board_show(call->board, -1);
    rc = pl_board_wait_all(call->board, all);
    if (rc == MPI_SUCCESS)
        combine_all(call, all, bytes * (size_t)call->rank, input(call, own + at), output(call, at), own_bytes);
    return rc;
}

static int reduce(struct call *call, size_t at, size_t bytes)
{
    const void *theirs;
    void *cell;
    int rc = pl_board_put(call->board, bytes, &cell);
    if (rc)
        return rc;
    copy_bytes(cell, input(call, at), bytes);
    if (call->rank != call->root) {
        pl_board_show(call->board, call->root);
        return rc;
    }
    for (int i = 0; rc == MPI_SUCCESS && i < call->size; i++) {
        size_t said = bytes;
        if (i != call->rank)
            rc = pl_board_wait(call->board, i, &said, &theirs);
    }
    if (rc == MPI_SUCCESS)
        combine_all(call, bytes, 0, input(call, at), output(call, at), bytes);
    return rc;
}

/* Reduce and the scans: the chain ends at the root, or at the last rank. */
static int chain(struct call *call, size_t at, size_t bytes)
{
    enum pl_coll_kind kind = call->coll->kind;
    int end = kind == PL_COLL_REDUCE ? call->root : call->size - 1;
    bool first = call->rank == (end + 1) % call->size, last = call->rank == end;
    const void *before = NULL;
    char *to = output(call, at);
    size_t said = bytes;
    void *cell = NULL;
    int rc = last ? MPI_SUCCESS : pl_board_put(call->board, bytes, &cell);
    if (rc == MPI_SUCCESS && !first)
        rc = pl_board_wait(call->board, (call->rank - 1 + call->size) % call->size, &said, &before);
    if (rc)
        return rc;
    const char *const operands[] = { input(call, at), before };
    if (kind == PL_COLL_SCAN || (kind == PL_COLL_REDUCE && last))
        combine(call, first ? 1 : 2, operands, to, cell, said);
    else if (!last)
        combine(call, first ? 1 : 2, operands, cell, NULL, said);
    if (!last)
        pl_board_show(call->board, (call->rank + 1) % call->size);
    if (kind == PL_COLL_EXSCAN && !first)
        copy_bytes(to, before, said);
    return rc;
}

/* --- the way in ------------------------------------------------------------------------------------------------------ */

static inline bool is_reduction(enum pl_coll_kind kind)
{
    return kind >= PL_COLL_REDUCE;
}

/* The bytes of a call (struct call); SIZE_MAX: not for the board. */
static size_t bytes_of(const struct pl_coll *coll)
{
    bool root = coll->comm->rank == coll->root;
    MPI_Count count = coll->recvcount;
    switch (coll->kind) {
    case PL_COLL_BARRIER: return 0;
    case PL_COLL_GATHER: return pl_block_size(root ? pl_coll_received(coll) : pl_coll_sent(coll));
    case PL_COLL_SCATTER: return pl_block_size(root ? pl_coll_sent(coll) : pl_coll_received(coll));
    case PL_COLL_BCAST:
    case PL_COLL_ALLGATHER:
    case PL_COLL_ALLTOALL: return pl_block_size(pl_coll_received(coll));
    case PL_COLL_REDUCE_SCATTER:
        count = 0;
        for (int i = 0; i < coll->comm->size; i++)
            count = pl_count_at(coll->recvcounts, i) > count ? pl_count_at(coll->recvcounts, i) : count;
        break;
    case PL_COLL_REDUCE:
    case PL_COLL_ALLREDUCE:
    case PL_COLL_REDUCE_SCATTER_BLOCK:
    case PL_COLL_SCAN:
    case PL_COLL_EXSCAN: break;
    default: return SIZE_MAX; /* not all know alike how much it is */
    }
    bool ours = !coll->op->user && !coll->op->user_c && coll->recvtype->size == coll->recvtype->extent;
    return ours ? (size_t)count * (size_t)coll->recvtype->size : SIZE_MAX;
}

/* How a piece is done, and how long pieces are. */
typedef int piece_function(struct call *call, size_t at, size_t bytes);

static piece_function *way_of(const struct call *call)
{
    switch (call->coll->kind) {
    case PL_COLL_BARRIER: return barrier;
    case PL_COLL_BCAST: return bcast;
    case PL_COLL_GATHER: return gather;
    case PL_COLL_SCATTER: return scatter;
    case PL_COLL_ALLGATHER: return allgather;
    case PL_COLL_ALLTOALL: return alltoall;
    case PL_COLL_REDUCE_SCATTER:
    case PL_COLL_REDUCE_SCATTER_BLOCK: return reduce_scatter;
    case PL_COLL_REDUCE: return call->bytes <= PL_BOARD_SHORT ? reduce : chain;
    case PL_COLL_ALLREDUCE:
        return call->size == 2 || call->bytes * (size_t)call->size <= SHARED ? allreduce : allreduce_in_parts;
    default: return chain;
    }
}

static size_t piece_of(const struct call *call)
{
    size_t each = is_reduction(call->coll->kind) ? (size_t)call->coll->recvtype->size : LINE;
    switch (call->coll->kind) {
    case PL_COLL_SCATTER:
    case PL_COLL_ALLTOALL:
    case PL_COLL_REDUCE_SCATTER:
    case PL_COLL_REDUCE_SCATTER_BLOCK: return PIECE_EACH / (size_t)call->size / each * each;
    case PL_COLL_ALLGATHER:
    case PL_COLL_ALLREDUCE: return PIECE_ALL / each * each;
    default: return PIECE_ON / each * each;
    }
}

static bool is_much(const struct call *call)
{
    bool gets_all = call->coll->kind == PL_COLL_ALLGATHER || call->coll->kind == PL_COLL_ALLTOALL;
    return gets_all && call->bytes > CACHES / (size_t)call->size / (size_t)call->size;
}

/* Of the user's, who knows better. */
static bool has_rules(enum pl_coll_kind kind)
{
    int rules;
    pl_coll_table(kind, &rules);
    return rules > 0;
}

bool pl_coll_by_board(const struct pl_coll *coll, int *rc)
{
    struct pl_comm *comm = coll->comm;
    if (coll->kind >= PL_COLL_KINDS || comm->size < 2 || pl_comm_is_inter(comm) || pl_coll_forced(coll->kind))
        return false;
    size_t bytes = bytes_of(coll), most = bytes, at = 0;
    if (bytes == SIZE_MAX || (bytes > PL_BOARD_SHORT && has_rules(coll->kind)))
        return false;
    struct pl_board *board;
    *rc = pl_board_of(comm, is_reduction(coll->kind), &board);
    if (!board)
        return *rc != MPI_SUCCESS;
    struct call call = { board, coll, comm->rank, comm->size, coll->root, bytes, 0, false };
    if (bytes > PL_BOARD_SHORT / PL_BOARD_RANKS) {
        most = piece_of(&call);
        call.much = is_much(&call);
    }
    piece_function *piece = way_of(&call);
    do {
        size_t some = least(most, bytes - at);
        *rc = piece(&call, at, some);
        pl_board_end(board);
        at += some;
    } while (*rc == MPI_SUCCESS && (at < bytes || call.last > 0));
    comm->boarded++;
    return true;
}
