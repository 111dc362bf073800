/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations: what the origin is asked for, and the messages by which it reaches a target whose memory is not
 * mapped here. Arguments are checked by the caller, but for what only the window knows: epochs and bounds.
 *
 * A message of kind PL_MSG_RMA says in header.part which of enum pl_rma_part it is. Operations begin with an order,
 * then comes the target's datatype (core/datatype/wire.h), then the data, unless that is long: then it follows in a
 * message of its own, straight from the origin's memory, and the target takes it straight into the window. Whatever
 * wants an answer has a number, header.tag, which the answer repeats.
 */
#ifndef PLENUM_CORE_RMA_RMA_H
#define PLENUM_CORE_RMA_RMA_H

#include "core/datatype/datatype.h"
#include "core/datatype/op.h"
#include "core/engine/match.h"
#include "core/rma/window.h"

enum pl_rma_kind { PL_RMA_PUT, PL_RMA_GET, PL_RMA_ACCUMULATE, PL_RMA_GET_ACCUMULATE, PL_RMA_COMPARE_AND_SWAP };

/* What is asked for. All borrowed until the call returns, buffers until the operation is done. */
struct pl_rma {
    enum pl_rma_kind kind;
    struct pl_win *win;
    int target;
    MPI_Aint disp; /* in the target's units */
    MPI_Count count;
    const struct pl_type *type; /* there */
    const void *origin;
    MPI_Count origin_count;
    const struct pl_type *origin_type;
    void *result; /* what was there before; of a get: all there is to it */
    MPI_Count result_count;
    const struct pl_type *result_type;
    const struct pl_op *op; /* of accumulates */
    const void *compare;    /* of compare and swap */
};

/* Begins it. `request` NULL: epochs say when it is done; else one handle. */
int pl_rma_start(const struct pl_rma *rma, struct pl_request **request);

/* May this operation be applied to this datatype at a target? MPI_ERR_OP, MPI_ERR_TYPE. */
int pl_rma_check_op(const struct pl_op *op, const struct pl_type *type);

/* Records the detail of a failed request of this kind. */
int pl_rma_report(const struct pl_request *request, int error);

/* --- at the memory: apply.c --------------------------------------------------------------------------------- */

/* An accumulate on memory at hand, under the guard. `data`: packed, [count * type->size] bytes, NULL for MPI_NO_OP.
 * `before`: NULL, or as many bytes for what was there. `compare`: NULL, or an element: only if it is what is there. */
struct pl_rma_change {
    char *at;
    MPI_Count count;
    const struct pl_type *type;
    const struct pl_op *op;
    const void *data, *compare;
    void *before;
};
void pl_rma_apply(struct pl_win *win, struct pl_win_ctl *ctl, const struct pl_rma_change *change);

/* Its parts. The change says whether there was one; a guard is held by who does nothing but accumulate meanwhile. */
bool pl_rma_change(const struct pl_rma_change *change);
void pl_rma_take_acc_lock(struct pl_win *win, struct pl_win_ctl *ctl);
void pl_rma_drop_acc_lock(struct pl_win_ctl *ctl);

/* Has another rank's process ended? */
bool pl_rma_is_dead(const struct pl_win *win, uint32_t rank);

/* Does an access stay in a window (or region) of `size` bytes? `at`: bytes from its start. */
bool pl_rma_fits(int64_t at, MPI_Count count, const struct pl_type *type, MPI_Aint size);

/* --- at memory that the kernel copies: cma.c, for targets with `reach` -------------------------------------- */

/* A put or a get; `memory` is the target's address. Unless it is wanted at once it may wait for others until
 * pl_cma_finish(), which tells what has become of it. Buffers are in use until then. */
int pl_cma_copy(const struct pl_win *win, int rank, struct pl_cma *cma);
int pl_cma_layouts(const struct pl_win *win, int rank, bool write, struct pl_cursor *here, struct pl_cursor *there,
                   size_t bytes);
int pl_cma_move(const struct pl_rma *rma, char *memory, bool at_once);
int pl_cma_finish(struct pl_win *win, int rank);

/* An accumulate whose `at` is the target's address. */
int pl_cma_apply(struct pl_win *win, int rank, const struct pl_rma_change *change);

/* Is this attached at a rank of a dynamic window? MPI_ERR_RMA_RANGE: no, which is not recorded; other errors are. */
int pl_cma_attached(struct pl_win *win, int rank, uintptr_t address, size_t bytes);

/* --- messages ----------------------------------------------------------------------------------------------------- */

enum pl_rma_part {
    PL_PART_OP,       /* an operation, in the stream */
    PL_PART_DATA,     /* the data of the last order, in the stream */
    PL_PART_LOCK,     /* in the stream; asks */
    PL_PART_UNLOCK,   /* the same */
    PL_PART_FLUSH,    /* the same */
    PL_PART_COMPLETE, /* of MPI_Win_complete(), in the stream */
    PL_PART_POST,     /* of MPI_Win_post() */
    PL_PART_ANSWER,   /* to lock, unlock, flush: struct pl_win_fault */
    PL_PART_RESPONSE, /* the data that an order asked for */
    PL_PART_REFUSED,  /* instead of it: struct pl_win_fault */
};

struct pl_rma_wire_op {
    uint8_t kind;  /* enum pl_rma_kind */
    uint8_t op;    /* the operation's ABI constant */
    uint8_t apart; /* the data follows in a message of its own */
    uint8_t reserved;
    uint32_t layout; /* bytes of the datatype */
    int64_t at;      /* bytes from the start of the window; of a dynamic one: the address */
    uint64_t count;  /* elements of the datatype */
    uint64_t bytes;  /* of data that comes along or apart */
};

/* Something on its way: a request of the library's own, with what has to live as long. */
struct pl_rma_send {
    struct pl_request request;
    struct pl_win *win;
    int rank;
    bool holds_data;         /* counted in `unsent` */
    struct pl_type *type;    /* retained; NULL: predefined */
    struct pl_request *user; /* completed with it; NULL: none */
    unsigned char data[];
};

/* Sends a message with `bytes` of room in send->data. Engine lock held. */
struct pl_rma_send *pl_rma_send_make(struct pl_win *win, int rank, size_t bytes);
void pl_rma_send(struct pl_rma_send *send, enum pl_rma_part part, int sync_id);

/* A short message without anything of the user's. MPI_ERR_NO_MEM. */
int pl_rma_send_control(struct pl_win *win, int rank, enum pl_rma_part part, int sync_id, const void *data,
                        size_t bytes);

/* The number of what wants an answer: not 0, which wants none. Engine lock held. */
static inline int pl_rma_next_sync(struct pl_win *win)
{
    win->syncs = win->syncs % INT32_MAX + 1;
    return (int)win->syncs;
}

/* The same with a question: counted in `asked`. */
int pl_rma_request_sync(struct pl_win *win, int rank, enum pl_rma_part part, const void *data, size_t bytes);

/* An answer with data that is awaited. */
struct pl_rma_get {
    struct pl_request request; /* takes it */
    struct pl_list link;       /* in win->replies */
    struct pl_win *win;
    int rank, sync_id;
    struct pl_type *type;    /* retained; NULL: predefined */
    struct pl_request *user; /* completed with it; NULL: none */
};

/* host->arrived() for PL_MSG_RMA. Engine lock held. */
void pl_rma_arrived(struct pl_engine *engine, struct pl_comm *comm, const struct pl_header *header, const void *data,
                    struct pl_rndv *rndv);

/* Answers and replies; those that will not come any more. Engine lock held. message.c. */
void pl_rma_answered(struct pl_win *win, int rank, const struct pl_header *header, const void *data);
void pl_rma_responded(struct pl_win *win, int rank, const struct pl_header *header, const void *data,
                      struct pl_rndv *rndv);
void pl_rma_drop_gets(struct pl_win *win);
void pl_rma_comm_failed(struct pl_comm *comm); /* the same for the communicator's window, if it has one */

/* Something has come that threads may sleep for. Engine lock held. */
void pl_rma_wake(struct pl_win *win);

/* What is queued at this end and cannot be done any more; nothing is under way. Engine lock held. */
void pl_rma_drop(struct pl_win *win);

/* Is that rank gone, or the window broken? MPI_ERR_PROC_ABORTED, recorded. Engine lock held. */
int pl_win_find_failed(struct pl_win *win, int rank);

/* Waits until `ready` says so, by what the rank sends, or for what is awaited; MPI_ERR_PROC_ABORTED when the rank is gone,
 * or has finalized and so sends nothing more. */
int pl_win_await(struct pl_win *win, int rank, const struct pl_awaited *awaited,
                 bool (*ready)(struct pl_win *win, int rank));

/* Tells of what went wrong at a target, and forgets it. */
int pl_win_take_fault(struct pl_win *win, int rank);

#endif
