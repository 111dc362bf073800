/* SPDX-License-Identifier: BSD-3-Clause */
/* Passive target synchronization of a window: locks and flushes. The target's path does the work (path.h). */
#ifndef PLENUM_CORE_RMA_WINDOW_LOCK_H
#define PLENUM_CORE_RMA_WINDOW_LOCK_H

#include <stdbool.h>

struct pl_win;

enum { PL_WIN_ALL = -1 }; /* as the rank of a flush: all targets */

/* MPI_Win_lock() and so on. All may block. `type`: MPI_LOCK_*. `local`: MPI_Win_flush_local(). MPI_ERR_RMA_SYNC: the
 * epochs do not match. MPI_ERR_PROC_ABORTED, and what the target has refused. */
int pl_win_lock(struct pl_win *win, int type, int rank, int assertion);
int pl_win_unlock(struct pl_win *win, int rank);
int pl_win_lock_all(struct pl_win *win, int assertion);
int pl_win_unlock_all(struct pl_win *win);
int pl_win_flush(struct pl_win *win, int rank, bool local);

/* Waits until all operations of this process are complete at their targets, in any epoch. */
int pl_win_finish(struct pl_win *win);

#endif
