/* SPDX-License-Identifier: BSD-3-Clause */
/* Responses to this origin's messages, and the errors at targets that they report. Engine lock held in all functions
 * except pl_win_take_fault(). */
#ifndef PLENUM_CORE_RMA_MESSAGE_RESPONSE_H
#define PLENUM_CORE_RMA_MESSAGE_RESPONSE_H

#include "core/engine/request.h"
#include "core/rma/message_wire.h"

struct pl_comm;
struct pl_win;

/* An operation that waits for a response with data. */
struct pl_rma_get {
    struct pl_request request; /* receives the data */
    struct pl_list link;       /* in win->msg.gets */
    struct pl_win *win;
    int rank, sync_id;
    struct pl_type *type;    /* retained; NULL: predefined */
    struct pl_request *user; /* completed with it; NULL: none */
};

/* Gives the operation a sync_id and waits for its response; steals it. */
void pl_rma_get_start(struct pl_rma_get *get);

/* Ends the operation with this number, whose response does not come. False: there is none. */
bool pl_rma_get_end(struct pl_win *win, int rank, int sync_id, const struct pl_win_fault *fault);

/* Ends all of them, with MPI_ERR_PROC_ABORTED. */
void pl_rma_drop_gets(struct pl_win *win);

/* A member of the communicator has failed: the same for its window, if it has one. Engine lock held. */
void pl_rma_comm_failed(struct pl_comm *comm);

/* A response to a sync request (PL_PART_SYNCED), and to an operation (PL_PART_RESPONSE, PL_PART_REFUSED), has come from
 * the rank. */
void pl_rma_synced(struct pl_win *win, int rank, const struct pl_header *header, const void *data);
void pl_rma_responded(struct pl_win *win, int rank, const struct pl_header *header, const void *data,
                      struct pl_rndv *rndv);

/* Keeps an error for the next synchronizing call, unless there is one already. */
void pl_win_note_fault(struct pl_win *win, int rank, const struct pl_win_fault *fault);

/* Reports the error and forgets it. Takes the engine lock. MPI_SUCCESS: none. */
int pl_win_take_fault(struct pl_win *win, int rank);

#endif
