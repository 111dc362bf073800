/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target of messages: executes operations, locks and flushes while it makes progress, in the order of each origin's
 * operation queue. Engine lock held in all functions.
 */
#ifndef PLENUM_CORE_RMA_TARGET_H
#define PLENUM_CORE_RMA_TARGET_H

#include <stdint.h>

#include "core/base/list.h"
#include "core/rma/message_wire.h"

struct pl_comm;
struct pl_engine;
struct pl_header;
struct pl_origin;
struct pl_rndv;
struct pl_win;

/* What a target keeps for each origin that sends messages. Engine lock. */
struct pl_win_origin {
    struct pl_list op_queue;     /* of struct pl_rma_entry.link: what could not be executed at once */
    uint16_t holds;              /* MPI_LOCK_* that it holds here; 0: none */
    unsigned reading;            /* responses that it still fetches from the window's memory */
    struct pl_win_fault refused; /* the first operation that was refused since its last sync request */
};

/* A message of a window has come: host->arrived() for PL_MSG_RMA. `comm` NULL: unknown. `data` and `rndv` as there. */
void pl_rma_arrived(struct pl_engine *engine, struct pl_comm *comm, const struct pl_origin *from,
                    const struct pl_header *header, const void *data, struct pl_rndv *rndv);

/* Drops what is queued at both ends. No transfer may be in flight. */
void pl_rma_drop(struct pl_win *win);

#endif
