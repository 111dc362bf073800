/* SPDX-License-Identifier: BSD-3-Clause */
/* The window control block's locks. See window_ctl.h. */
#include "core/rma/window_ctl.h"

#include <sched.h>

#include "core/base/compiler.h"
#include "core/base/cpu.h"
#include "core/engine/instance.h"
#include "core/engine/wait.h"
#include "core/rma/window.h"
#include "core/rma/window_wait.h"

enum {
    ACC_SPINS = 200,        /* polls of the accumulate lock before the thread yields */
    ACC_CHECK_HOLDER = 256, /* yields between checks that the holder is alive */
};

/* --- the window lock ------------------------------------------------------------------------------------------ */

bool pl_win_ctl_try_lock(struct pl_win_ctl *ctl, int type)
{
    uint32_t seen = 0;
    if (type == MPI_LOCK_EXCLUSIVE)
        return atomic_compare_exchange_strong_explicit(&ctl->lock, &seen, PL_WIN_EXCLUSIVE, memory_order_acquire,
                                                       memory_order_relaxed);
    seen = atomic_load_explicit(&ctl->lock, memory_order_relaxed);
    while (!(seen & PL_WIN_EXCLUSIVE))
        if (atomic_compare_exchange_weak_explicit(&ctl->lock, &seen, seen + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

bool pl_win_ctl_release(struct pl_win_ctl *ctl, int type)
{
    atomic_fetch_sub_explicit(&ctl->lock, type == MPI_LOCK_EXCLUSIVE ? PL_WIN_EXCLUSIVE : 1, memory_order_release);
    atomic_fetch_add_explicit(&ctl->releases, 1, memory_order_seq_cst);
    return atomic_load_explicit(&ctl->waiters, memory_order_seq_cst) != 0;
}

/* Ranks share an entry of `waiting`, and a rank has several threads, so these are numbers. */
void pl_win_ctl_announce(struct pl_win_ctl *ctl, int rank)
{
    atomic_fetch_add_explicit(&ctl->waiting[rank % PL_WIN_WAITING], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&ctl->waiters, 1, memory_order_seq_cst);
}

void pl_win_ctl_withdraw(struct pl_win_ctl *ctl, int rank)
{
    atomic_fetch_sub_explicit(&ctl->waiters, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&ctl->waiting[rank % PL_WIN_WAITING], 1, memory_order_relaxed);
}

void pl_win_ctl_wake(struct pl_win *win, struct pl_win_ctl *ctl)
{
    for (int i = 0; i < win->comm->size; i++) {
        struct pl_peer *peer = i == win->comm->rank ? NULL : pl_comm_peer(win->comm, i);
        if (atomic_load_explicit(&ctl->waiting[i % PL_WIN_WAITING], memory_order_relaxed) == 0)
            continue;
        if (i == win->comm->rank)
            pl_win_wake(win);
        else if (peer && peer->endpoint && peer->endpoint->ops->ring)
            peer->endpoint->ops->ring(peer->endpoint);
    }
}

/* The releasing rank increments `releases` before it reads `waiters`; a waiter counts itself before it reads
 * `releases`, all in one order (seq_cst). So at least one of the two sees the other; and a waiter that sees the release
 * counted sees the lock as that has left it. */
static PL_NOINLINE int ctl_lock_wait(struct pl_win *win, int rank, int type)
{
    struct pl_win_ctl *ctl = win->targets[rank].ctl;
    int rc = MPI_SUCCESS;
    pl_win_ctl_announce(ctl, win->comm->rank);
    while (rc == MPI_SUCCESS) {
        struct pl_awaited next = { &ctl->releases, atomic_load(&ctl->releases) + 1 };
        if (pl_win_ctl_try_lock(ctl, type))
            break;
        rc = pl_win_await(win, rank, &next, NULL);
    }
    pl_win_ctl_withdraw(ctl, win->comm->rank);
    return rc;
}

int pl_win_ctl_lock(struct pl_win *win, int rank, int type)
{
    return pl_likely(pl_win_ctl_try_lock(win->targets[rank].ctl, type)) ? MPI_SUCCESS : ctl_lock_wait(win, rank, type);
}

bool pl_win_ctl_try_shared(struct pl_win *win, int rank)
{
    return pl_win_ctl_try_lock(win->targets[rank].ctl, MPI_LOCK_SHARED);
}

static PL_NOINLINE int ctl_wake(struct pl_win *win, struct pl_win_ctl *ctl)
{
    pl_engine_enter(&win->comm->instance->engine);
    pl_win_ctl_wake(win, ctl);
    pl_engine_leave(&win->comm->instance->engine);
    return MPI_SUCCESS;
}

int pl_win_ctl_unlock(struct pl_win *win, int rank)
{
    struct pl_win_target *target = &win->targets[rank];
    int type = target->locked;
    target->locked = 0;
    return pl_unlikely(type && pl_win_ctl_release(target->ctl, type)) ? ctl_wake(win, target->ctl) : MPI_SUCCESS;
}

/* --- the accumulate lock -------------------------------------------------------------------------------------- */

/* The holder has died, or there is no such rank: the word is damaged. */
static bool acc_lock_is_free(const struct pl_win *win, uint32_t holder)
{
    return holder > (uint32_t)win->comm->size || pl_win_is_failed(win, holder - 1);
}

static PL_COLD PL_NOINLINE void acc_lock_wait(struct pl_win *win, struct pl_win_ctl *ctl, uint32_t own)
{
    for (unsigned round = 0;; round++) {
        uint32_t holder = 0;
        if (atomic_load_explicit(&ctl->acc_lock, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_weak_explicit(&ctl->acc_lock, &holder, own, memory_order_acquire,
                                                  memory_order_relaxed))
            return;
        if (round < ACC_SPINS) {
            pl_relax();
            continue;
        }
        sched_yield();
        holder = atomic_load_explicit(&ctl->acc_lock, memory_order_relaxed);
        if (round % ACC_CHECK_HOLDER == 0 && holder != 0 && acc_lock_is_free(win, holder) &&
            atomic_compare_exchange_strong_explicit(&ctl->acc_lock, &holder, own, memory_order_acquire,
                                                    memory_order_relaxed))
            return;
    }
}

void pl_win_ctl_lock_acc(struct pl_win *win, struct pl_win_ctl *ctl)
{
    uint32_t expected = 0, own = (uint32_t)win->comm->rank + 1;
    if (!atomic_compare_exchange_strong_explicit(&ctl->acc_lock, &expected, own, memory_order_acquire,
                                                 memory_order_relaxed))
        acc_lock_wait(win, ctl, own);
}
