/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting and progress of a window: for other ranks' messages, for words in shared memory, for its own transfers. */
#ifndef PLENUM_CORE_RMA_WINDOW_WAIT_H
#define PLENUM_CORE_RMA_WINDOW_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct pl_awaited;
struct pl_win;

/* Blocks until ready(win, rank) returns true, which a message from that rank causes; or, if `awaited` is not NULL,
 * until the awaited word is there, which counts releases of that rank's window lock. `ready` is called with the engine
 * lock held. MPI_ERR_PROC_ABORTED when the rank has died, or has finalized and so sends nothing more. */
int pl_win_await(struct pl_win *win, int rank, const struct pl_awaited *awaited,
                 bool (*ready)(struct pl_win *win, int rank));

/* Blocks until no transport uses the window's memory or the user's buffers. A transport ends by itself what a dead
 * process takes part in. */
void pl_win_settle(struct pl_win *win);

/* Makes progress for a program that waits for changes of its window's memory and calls only flush, unlock or sync. */
void pl_win_poll(struct pl_win *win);

/* Wakes the threads that sleep in the engine, after something has arrived. Engine lock held. */
void pl_win_wake(struct pl_win *win);

/* Has another rank's process died? `rank` comes from shared memory and may be any number. */
bool pl_win_is_failed(const struct pl_win *win, uint32_t rank);

#endif
