/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The window control block: the locks of one rank's part of a window, in memory that the owner and the origins with a
 * direct or CMA path to it map.
 *
 * The owner takes the same locks for origins that send messages. So window locks exclude each other and accumulates
 * are atomic, whatever the path of each origin.
 */
#ifndef PLENUM_CORE_RMA_WINDOW_CTL_H
#define PLENUM_CORE_RMA_WINDOW_CTL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"

struct pl_win;

enum {
    PL_WIN_CTL = 4096, /* bytes before the window's memory, which begins at a page */
    PL_WIN_WAITING = 64,
};

struct pl_win_ctl {
    PL_CACHE_ALIGNED _Atomic uint32_t lock; /* PL_WIN_EXCLUSIVE, or the number of shared locks */
    _Atomic uint32_t releases;              /* incremented by each unlock: waiters wait for the next one */
    _Atomic uint32_t waiters;               /* that may sleep until then, ... */
    PL_CACHE_ALIGNED _Atomic uint16_t waiting[PL_WIN_WAITING]; /* ... and how many of the ranks r: entry r % 64 */
    PL_CACHE_ALIGNED _Atomic uint32_t acc_lock;                /* accumulate lock: rank + 1 of the holder, or 0 */
    PL_CACHE_ALIGNED _Atomic uint32_t version;   /* of a dynamic window's regions: odd while the owner changes them */
    _Atomic uint64_t regions, region_count;      /* the owner's address of the list, and its length */
    PL_CACHE_ALIGNED _Atomic uint64_t delegated; /* ranks that delegated to the owner (delegate.h): rank % 64 */
};
#define PL_WIN_EXCLUSIVE UINT32_C(0x80000000)

static inline uint64_t pl_win_bit(int rank)
{
    return (uint64_t)1 << (rank % 64);
}

/* Takes the window lock if it is free. `type`: MPI_LOCK_*. Never blocks. */
bool pl_win_ctl_try_lock(struct pl_win_ctl *ctl, int type);

/* Releases the window lock. True when ranks may sleep for it: the caller must then call pl_win_ctl_wake(). */
bool pl_win_ctl_release(struct pl_win_ctl *ctl, int type);

/* From here on, until it is withdrawn, this rank may sleep for the window lock, and each release wakes it. A waiter
 * reads `releases` after this and before it tries the lock. */
void pl_win_ctl_announce(struct pl_win_ctl *ctl, int rank);
void pl_win_ctl_withdraw(struct pl_win_ctl *ctl, int rank);

/* Wakes the ranks that wait for the window lock. Engine lock held. */
void pl_win_ctl_wake(struct pl_win *win, struct pl_win_ctl *ctl);

/* The window lock as the direct and the CMA path use it: lock(), try_lock() and unlock() of path.h. */
int pl_win_ctl_lock(struct pl_win *win, int rank, int type);
bool pl_win_ctl_try_shared(struct pl_win *win, int rank);
int pl_win_ctl_unlock(struct pl_win *win, int rank);

/* The accumulate lock. It spins: a holder accumulates once and never waits for anything. The lock of a holder that has
 * died, or is not a rank of the window, passes to the caller. */
void pl_win_ctl_lock_acc(struct pl_win *win, struct pl_win_ctl *ctl);
static inline void pl_win_ctl_unlock_acc(struct pl_win_ctl *ctl)
{
    atomic_store_explicit(&ctl->acc_lock, 0, memory_order_release);
}

#endif
