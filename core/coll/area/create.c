/* SPDX-License-Identifier: BSD-3-Clause */
/* Boards come and go: made by all members of a communicator, left by each when it frees that. See board.h. */
#include "core/coll/area/slots.h"

#include <stdlib.h>

#include "core/coll/collective.h"
#include "core/engine/comm.h"
#include "core/base/config.h"
#include "core/engine/instance.h"
#include "core/base/memory.h"

enum { PAGE = 4096 };

static size_t cells_bytes(int size)
{
    size_t lines = (size_t)size * (1 + PL_BOARD_SETS);
    size_t bytes = sizeof(struct pl_board_sheet) + lines * sizeof(struct pl_board_line);
    return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static size_t all_bytes(int size)
{
    return cells_bytes(size) + (size_t)size * (PL_BOARD_SHORT_RING + PL_BOARD_LONG_RING);
}

/* What the first member tells the others. */
struct notice {
    uint64_t place, bytes; /* 0 bytes: there will be no board */
};

/* The transport by which all other members are reached; NULL: it cannot share memory, or there are several. */
static const struct pl_transport_ops *common_transport(struct pl_comm *comm)
{
    const struct pl_transport_ops *ops = NULL;
    for (int i = 0; i < comm->size; i++) {
        struct pl_peer *peer;
        if (i == comm->rank)
            continue;
        if (pl_engine_find(comm, i, &peer) != MPI_SUCCESS || !peer->endpoint)
            return NULL;
        if (!peer->endpoint->ops->share || (ops && ops != peer->endpoint->ops))
            return NULL;
        ops = peer->endpoint->ops;
    }
    return ops;
}

static void *transport_self(struct pl_engine *engine, const struct pl_transport_ops *ops)
{
    int i = 0;
    while (engine->transport[i].ops != ops)
        i++;
    return engine->transport[i].self;
}

/* Boards that all others have left by now: their memory may be used again. Engine lock held. */
static void sweep(struct pl_engine *engine, bool all)
{
    PL_LIST_EACH(board, &engine->boards, struct pl_board, link) {
        bool unused = (int)atomic_load_explicit(&board->sheet->left.word, memory_order_acquire) == board->size - 1;
        if (!unused && !all)
            continue;
        pl_list_remove(&board->link);
        board->ops->unshare(transport_self(engine, board->ops), &board->shared, unused);
        free(board);
    }
}

static void share(struct pl_board *board, struct notice *notice)
{
    pl_engine_enter(board->engine);
    sweep(board->engine, false);
    int rc = board->ops->share(transport_self(board->engine, board->ops), all_bytes(board->size), &board->shared);
    pl_engine_leave(board->engine);
    if (rc)
        return;
    board->sheet = board->shared.memory;
    *notice = (struct notice){ board->shared.place, board->shared.bytes };
}

static void attach(struct pl_board *board, const struct notice *notice)
{
    struct pl_peer *owner = pl_comm_peer(board->comm, 0);
    void *memory;
    if (notice->bytes < all_bytes(board->size))
        return;
    pl_engine_enter(board->engine);
    int rc = owner->error ? owner->error
                          : board->ops->attach(owner->endpoint, notice->place, all_bytes(board->size), &memory);
    pl_engine_leave(board->engine);
    if (rc == MPI_SUCCESS)
        board->sheet = memory;
}

static void let_go(struct pl_board *board)
{
    if (board->shared.memory) {
        struct pl_engine *engine = board->engine;
        pl_engine_enter(engine);
        pl_list_append(&engine->boards, &board->link);
        sweep(engine, false);
        pl_engine_leave(engine);
        return;
    }
    if (board->sheet) {
        atomic_fetch_add_explicit(&board->sheet->left.word, 1, memory_order_release);
        board->ops->detach(board->sheet, all_bytes(board->size));
    }
    free(board);
}

/* All members have come here. A failure that all hear of only means that there is no board, for anybody. */
static int make(struct pl_comm *comm, struct pl_board **made)
{
    struct notice notice = { 0 };
    const struct pl_transport_ops *ops = common_transport(comm);
    struct pl_board *board = ops ? pl_calloc(1, sizeof *board) : NULL;
    if (board) {
        *board = (struct pl_board){
            .comm = comm, .engine = &comm->instance->engine, .ops = ops, .size = comm->size, .rank = comm->rank
        };
        pl_list_init(&board->link);
        for (int i = 0; i < PL_BOARD_SETS; i++)
            board->shown[i] = (struct pl_board_shown){ UINT32_MAX, comm->rank };
        if (comm->rank == 0)
            share(board, &notice);
    }
    int good = 0, all = 0, rc = pl_bcast(comm, &notice, sizeof notice, PL_TYPE_BYTE, 0);
    if (rc == MPI_SUCCESS && notice.bytes > 0) {
        if (board && comm->rank != 0)
            attach(board, &notice);
        good = board && board->sheet;
        rc = pl_allreduce(comm, &good, &all, 1, pl_type_predefined((uintptr_t)MPI_INT),
                          pl_op_predefined((uintptr_t)MPI_MIN));
    }
    if (rc == MPI_SUCCESS && all) {
        board->cells = &board->sheet->lines[board->size];
        board->own = pl_board_completed(board, board->rank);
        board->ring[0] = (unsigned char *)board->sheet + cells_bytes(board->size);
        board->ring[1] = board->ring[0] + (size_t)board->size * PL_BOARD_SHORT_RING;
        *made = board;
    } else if (board) {
        let_go(board);
    }
    return rc;
}

int pl_board_of(struct pl_comm *comm, bool reduction, struct pl_board **board)
{
    *board = comm->board;
    if (__builtin_expect(*board != NULL, 1))
        return MPI_SUCCESS;
    if (comm->boardless || comm->size > PL_BOARD_RANKS || (!reduction && comm->board_waited < PL_BOARD_PATIENCE)) {
        comm->board_waited++;
        return MPI_SUCCESS;
    }
    comm->boardless = true; /* the collectives that make it go by messages */
    if (!pl_config_bool("coll_board"))
        return MPI_SUCCESS;
    int rc = make(comm, &comm->board);
    *board = comm->board;
    return rc;
}

void pl_board_release(struct pl_comm *comm)
{
    struct pl_board *board = comm->board;
    comm->board = NULL;
    comm->by_board = 0;
    comm->boardless = true;
    if (board)
        let_go(board);
}

void pl_board_forget(struct pl_engine *engine)
{
    sweep(engine, true);
}
