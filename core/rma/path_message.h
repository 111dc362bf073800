/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The message path: the origin sends operations, and the target executes them when it makes progress (target.c).
 *
 * The target executes what comes from one origin in order. So the response to a flush means that all earlier operations
 * are complete, and accumulates keep their order. A lock of MPI_Win_lock_all() is asked for at the first operation, and
 * holds back what follows it.
 */
#ifndef PLENUM_CORE_RMA_PATH_MESSAGE_H
#define PLENUM_CORE_RMA_PATH_MESSAGE_H

#include "core/base/list.h"
#include "core/engine/engine.h"
#include "core/rma/message_wire.h"
#include "core/rma/path.h"

/* What a window keeps for its messages, at both ends. Engine lock. */
struct pl_message_window {
    struct pl_list gets;       /* of struct pl_rma_get.link (message_response.h) */
    struct pl_list lock_queue; /* of struct pl_rma_entry.queue: locks that are not free yet (target.c) */
    struct pl_hook lock_hook;  /* tries them again; in the engine's list while there are any */
    uint32_t syncs;            /* numbers given to what expects a response */
    int in_flight;             /* sends and fetches that a transport has */
};

/* What an origin keeps for each target. Engine lock. */
struct pl_message_target {
    bool dirty;                    /* an operation was sent since the last sync request */
    uint32_t unsent;               /* operations that still use the user's buffers here */
    uint32_t requested, responded; /* sync requests and their responses */
    struct pl_win_fault fault;     /* for the next synchronizing call */
};

extern const struct pl_rma_path pl_rma_path_message;

#endif
