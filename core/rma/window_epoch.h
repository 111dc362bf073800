/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Epochs of a window: its state, and active target synchronization (fence; post, start, complete, wait). Post and
 * complete are messages on every path, since both sides call MPI anyway; complete follows the operations in the
 * target's operation queue.
 */
#ifndef PLENUM_CORE_RMA_WINDOW_EPOCH_H
#define PLENUM_CORE_RMA_WINDOW_EPOCH_H

#include <stdatomic.h>
#include <stdbool.h>

struct pl_group;
struct pl_win;

enum pl_win_access { PL_ACCESS_NONE, PL_ACCESS_FENCE, PL_ACCESS_START, PL_ACCESS_LOCK, PL_ACCESS_LOCK_ALL };

/* Which epoch is open for one target, besides those for all. */
enum pl_win_open { PL_OPEN_NOT, PL_OPEN_STARTED, PL_OPEN_LOCKED };

struct pl_win_epoch {
    _Atomic int access;                 /* enum pl_win_access */
    _Atomic bool fence_used;            /* an operation was started since the last fence */
    bool unchecked;                     /* MPI_Win_lock_all with MPI_MODE_NOCHECK */
    _Atomic int locks;                  /* targets locked by MPI_Win_lock */
    struct pl_group *started, *exposed; /* of MPI_Win_start and MPI_Win_post; retained, NULL: none */
};

/* MPI_Win_fence() and so on. All but post() and test() block. `group` is retained. MPI_ERR_RMA_SYNC: the epochs do not
 * match. MPI_ERR_PROC_ABORTED. */
int pl_win_fence(struct pl_win *win, int assertion);
int pl_win_post(struct pl_win *win, struct pl_group *group, int assertion);
int pl_win_start(struct pl_win *win, struct pl_group *group, int assertion);
int pl_win_complete(struct pl_win *win);
int pl_win_wait(struct pl_win *win);
int pl_win_test(struct pl_win *win, bool *done);

#endif
