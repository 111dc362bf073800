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
    return atomic_load_explicit(&ctl->waiting, memory_order_seq_cst) != 0;
}

void pl_win_ctl_wake(struct pl_win *win, struct pl_win_ctl *ctl)
{
    uint64_t waiting = atomic_load_explicit(&ctl->waiting, memory_order_relaxed);
    for (int i = 0; i < win->comm->size; i++) {
        struct pl_peer *peer = i == win->comm->rank ? NULL : pl_comm_peer(win->comm, i);
        if (!(waiting & pl_win_bit(i)))
            continue;
        if (i == win->comm->rank)
            pl_win_wake(win);
        else if (peer && peer->endpoint && peer->endpoint->ops->ring)
            peer->endpoint->ops->ring(peer->endpoint);
    }
}

/* The releasing rank increments `releases` before it reads `waiting`; a waiter sets its bit before it reads `releases`.
 * So at least one of the two sees the other. */
static PL_NOINLINE int ctl_lock_wait(struct pl_win *win, int rank, int type)
{
    struct pl_win_ctl *ctl = win->targets[rank].ctl;
    uint64_t bit = pl_win_bit(win->comm->rank);
    int rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS) {
        atomic_fetch_or_explicit(&ctl->waiting, bit, memory_order_seq_cst);
        struct pl_awaited next = { &ctl->releases, atomic_load(&ctl->releases) + 1 };
        if (pl_win_ctl_try_lock(ctl, type))
            break;
        rc = pl_win_await(win, rank, &next, NULL);
    }
    atomic_fetch_and_explicit(&ctl->waiting, ~bit, memory_order_relaxed);
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
        if (round % ACC_CHECK_HOLDER == 0 && holder != 0 && pl_win_is_failed(win, holder - 1) &&
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
