/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A path: how an origin performs operations on one target's memory and locks it. window_memory.c chooses each target's
 * path when the window is created; it stays until the window is freed. The paths are direct (path_direct.c), CMA
 * (path_cma.c), remote (path_remote.c) and messages (path_message.c).
 *
 * The caller has checked arguments, epoch and bounds (rma.c, window_lock.c). No slot is called with the engine lock or
 * another lock held. Every function returns an MPI error class and has recorded its detail (pl_fail()), except where
 * its line says otherwise. "May block": it makes progress meanwhile, and fails with MPI_ERR_PROC_ABORTED if the target
 * dies.
 */
#ifndef PLENUM_CORE_RMA_PATH_H
#define PLENUM_CORE_RMA_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pl_request;
struct pl_rma;
struct pl_win;

struct pl_rma_path {
    const char *name;
    bool mapped;    /* target->memory is mapped here: MPI_Win_shared_query() returns it */
    bool by_target; /* the target executes the operations, so it and the origin must make progress */

    /* Does a dynamic window's target have these bytes attached? May copy the target's list; does not wait for its
     * progress. MPI_ERR_RMA_RANGE: no, not recorded. NULL: only the target can tell. */
    int (*check_attached)(struct pl_win *win, int rank, uintptr_t address, size_t bytes);

    /* Begin an operation of at least one byte. They do not wait for the target's progress. `offset`: bytes from the
     * start of the target's memory; in a dynamic window, the address. `rma` is borrowed for the call, its buffers until
     * the operation completes. `request` NULL: drain(), wait_flush() or wait_local() complete the operation. Else
     * *request is NULL on entry; the path stores a request with one handle, or leaves NULL if the buffers may be
     * reused on return. An operation that failed is not pending. */
    int (*put)(const struct pl_rma *rma, int64_t offset, struct pl_request **request);
    int (*get)(const struct pl_rma *rma, int64_t offset, struct pl_request **request);
    int (*accumulate)(const struct pl_rma *rma, int64_t offset, struct pl_request **request); /* the other kinds */

    /* Executes the operations that are queued at the origin; they are complete at the target on return. Does not wait
     * for the target's progress, unless the network needs it. NULL: the path queues none. */
    int (*drain)(struct pl_win *win, int rank);

    /* Asks the target to respond when it has executed all earlier operations; does not block. wait_flush() waits for
     * that response, and for the one to unlock(), and reports what the target refused; may block. Both NULL:
     * operations are complete at the target once they are drained. */
    int (*request_flush)(struct pl_win *win, int rank);
    int (*wait_flush)(struct pl_win *win, int rank);

    /* Waits until the buffers of all operations may be used again, and reports what the target has refused so far; may
     * block. NULL: after drain() they may. */
    int (*wait_local)(struct pl_win *win, int rank);

    /* Takes the target's window lock (`type`: MPI_LOCK_*); may block. */
    int (*lock)(struct pl_win *win, int rank, int type);

    /* For MPI_Win_lock_all(): takes a shared lock if it is free; never blocks. NULL: the first operation asks for
     * it. */
    bool (*try_lock)(struct pl_win *win, int rank);

    /* Gives up target->locked, if it is set, behind all earlier operations that are drained; does not block. Where
     * there is a wait_flush(), it must follow. */
    int (*unlock)(struct pl_win *win, int rank);
};

#endif
