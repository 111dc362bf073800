/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending the messages of a window. Engine lock held in all functions. */
#ifndef PLENUM_CORE_RMA_MESSAGE_SEND_H
#define PLENUM_CORE_RMA_MESSAGE_SEND_H

#include "core/engine/request.h"
#include "core/rma/message_wire.h"

struct pl_win;

/* A message on its way: a request of the library's own. Frees itself when it is sent. */
struct pl_rma_send {
    struct pl_request request;
    struct pl_win *win;
    int rank;
    bool holds_data;                            /* of the user's: counted in target->msg.unsent */
    void (*left)(struct pl_win *win, int rank); /* called when its data is no longer needed; NULL: none */
    struct pl_type *type;                       /* retained until it is sent; NULL: predefined */
    struct pl_request *user;                    /* completed with it; NULL: none */
    unsigned char data[];
};

/* Makes a message with `bytes` bytes in send->data. NULL: out of memory. May be called without the engine lock. */
struct pl_rma_send *pl_rma_send_make(struct pl_win *win, int rank, size_t bytes);

/* Sends it; steals it. `sync_id`: header.tag. */
void pl_rma_send(struct pl_rma_send *send, enum pl_rma_part part, int sync_id);

/* Sends a short message with a copy of `data`. MPI_ERR_NO_MEM. */
int pl_rma_send_control(struct pl_win *win, int rank, enum pl_rma_part part, int sync_id, const void *data,
                        size_t bytes);

/* The same for a sync request, which target->msg.requested counts. MPI_ERR_NO_MEM. */
int pl_rma_request_sync(struct pl_win *win, int rank, enum pl_rma_part part, const void *data, size_t bytes);

/* A number for something that expects a response: not 0. */
int pl_rma_next_sync(struct pl_win *win);

#endif
