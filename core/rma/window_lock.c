/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passive targets: locks and flushes. A direct lock is taken in the target's cell; the target has no part in it. One by
 * messages is asked for; of MPI_Win_lock_all() at the first operation (rma.c).
 */
#include "core/base/error.h"
#include "core/engine/instance.h"
#include "core/engine/wait.h"
#include "core/rma/rma.h"
#include "core/rma/window.h"

/* --- the word ------------------------------------------------------------------------------------------------- */

bool pl_win_try(struct pl_win_ctl *ctl, int type)
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

bool pl_win_give(struct pl_win_ctl *ctl, int type)
{
    atomic_fetch_sub_explicit(&ctl->lock, type == MPI_LOCK_EXCLUSIVE ? PL_WIN_EXCLUSIVE : 1, memory_order_release);
    atomic_fetch_add_explicit(&ctl->releases, 1, memory_order_seq_cst);
    return atomic_load_explicit(&ctl->waiting, memory_order_seq_cst) != 0;
}

void pl_win_ring(struct pl_win *win, struct pl_win_ctl *ctl)
{
    uint64_t waiting = atomic_load_explicit(&ctl->waiting, memory_order_relaxed);
    for (int i = 0; i < win->comm->size; i++) {
        struct pl_peer *peer = i == win->comm->rank ? NULL : pl_comm_peer(win->comm, i);
        if (!(waiting & pl_win_bit(i)))
            continue;
        if (i == win->comm->rank)
            pl_rma_wake(win);
        else if (peer && peer->endpoint && peer->endpoint->ops->ring)
            peer->endpoint->ops->ring(peer->endpoint);
    }
}

static void give_direct(struct pl_win *win, int rank, int type)
{
    struct pl_win_ctl *ctl = win->targets[rank].ctl;
    if (!pl_win_give(ctl, type))
        return;
    pl_engine_enter(&win->comm->instance->engine);
    pl_win_ring(win, ctl);
    pl_engine_leave(&win->comm->instance->engine);
}

/* Whoever gives it back counts `releases` up before he looks for those who wait, and these say that they wait before
 * they look at it: one of the two sees the other. */
static int take_direct(struct pl_win *win, int rank, int type)
{
    struct pl_win_ctl *ctl = win->targets[rank].ctl;
    uint64_t bit = pl_win_bit(win->comm->rank);
    int rc = MPI_SUCCESS;
    if (pl_win_try(ctl, type))
        return MPI_SUCCESS;
    while (rc == MPI_SUCCESS) {
        atomic_fetch_or_explicit(&ctl->waiting, bit, memory_order_seq_cst);
        struct pl_awaited next = { &ctl->releases, atomic_load(&ctl->releases) + 1 };
        if (pl_win_try(ctl, type))
            break;
        rc = pl_win_await(win, rank, &next, NULL);
    }
    atomic_fetch_and_explicit(&ctl->waiting, ~bit, memory_order_relaxed);
    return rc;
}

/* --- by messages ---------------------------------------------------------------------------------------------- */

static bool is_answered(struct pl_win *win, int rank)
{
    const struct pl_win_target *target = &win->targets[rank];
    return target->answered == target->asked && target->unsent == 0;
}

static bool win_lock_is_sent(struct pl_win *win, int rank)
{
    return win->targets[rank].unsent == 0;
}

static int ask_for_lock(struct pl_win *win, int rank, uint32_t type)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    pl_engine_enter(engine);
    int rc = pl_rma_request_sync(win, rank, PL_PART_LOCK, &type, sizeof type);
    pl_engine_leave(engine);
    return rc;
}

/* Asks the rank to say when all is done; with the unlock, if there is a lock. */
static int ask_for_end(struct pl_win *win, int rank, bool unlock)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    struct pl_win_target *target = &win->targets[rank];
    int rc = MPI_SUCCESS;
    pl_engine_enter(engine);
    unlock = unlock && target->locked;
    if (unlock || target->dirty)
        rc = pl_rma_request_sync(win, rank, unlock ? PL_PART_UNLOCK : PL_PART_FLUSH, NULL, 0);
    if (unlock)
        target->locked = 0;
    pl_engine_leave(engine);
    return rc;
}

static int await_end(struct pl_win *win, int rank)
{
    int rc = pl_win_await(win, rank, NULL, is_answered), fault = pl_win_take_fault(win, rank);
    return rc ? rc : fault;
}

static int win_lock_finish_cma(struct pl_win *win)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < win->comm->size; i++) {
        int failed = pl_cma_finish(win, i);
        rc = rc ? rc : failed;
    }
    return rc;
}

/* All ranks are asked before the first one is waited for. */
static int end_all(struct pl_win *win, bool unlock)
{
    int rc = win->all_by_cma ? win_lock_finish_cma(win) : MPI_SUCCESS;
    if (!win->by_messages)
        return rc;
    for (int i = 0; i < win->comm->size; i++)
        if (!win->targets[i].ctl) {
            int failed = ask_for_end(win, i, unlock);
            rc = rc ? rc : failed;
        }
    for (int i = 0; i < win->comm->size; i++)
        if (!win->targets[i].ctl) {
            int failed = await_end(win, i);
            rc = rc ? rc : failed;
        }
    return rc;
}

int pl_win_finish(struct pl_win *win)
{
    atomic_thread_fence(memory_order_seq_cst);
    return end_all(win, false);
}

/* --- the calls ------------------------------------------------------------------------------------------------ */

/* The window is to be locked: may it be? Engine lock held. */
static int check_lock(struct pl_win *win, int wanted)
{
    int access = atomic_load(&win->access);
    bool fence = access == PL_ACCESS_FENCE && !atomic_load(&win->fence_used);
    if (win->hints.flags & PL_HINT_NO_LOCKS)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s was made with the hint no_locks", pl_win_label(win));
    if (access == PL_ACCESS_NONE || fence || (access == wanted && wanted == PL_ACCESS_LOCK)) {
        atomic_store(&win->access, wanted);
        return MPI_SUCCESS;
    }
    return pl_fail(MPI_ERR_RMA_SYNC, "%s is %s already", pl_win_label(win),
                   access == PL_ACCESS_FENCE   ? "in an epoch of MPI_Win_fence"
                   : access == PL_ACCESS_START ? "in an epoch of MPI_Win_start"
                                               : "locked");
}

static int begin_lock(struct pl_win *win, int rank)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    pl_engine_enter(engine);
    int rc = atomic_load(&win->targets[rank].open) == PL_OPEN_LOCKED
                 ? pl_fail(MPI_ERR_RMA_SYNC, "rank %d of %s is locked already", rank, pl_win_label(win))
                 : check_lock(win, PL_ACCESS_LOCK);
    if (rc == MPI_SUCCESS) {
        atomic_fetch_add(&win->locks, 1);
        atomic_store(&win->targets[rank].open, PL_OPEN_LOCKED);
    }
    pl_engine_leave(engine);
    return rc;
}

static void end_lock(struct pl_win *win, int rank)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    pl_engine_enter(engine);
    atomic_store(&win->targets[rank].open, PL_OPEN_NOT);
    if (atomic_fetch_sub(&win->locks, 1) == 1)
        atomic_store(&win->access, PL_ACCESS_NONE);
    pl_engine_leave(engine);
}

int pl_win_lock(struct pl_win *win, int type, int rank, int assertion)
{
    struct pl_win_target *target = &win->targets[rank];
    int rc = begin_lock(win, rank);
    if (rc || assertion & MPI_MODE_NOCHECK)
        return rc;
    if (target->ctl) {
        rc = take_direct(win, rank, type);
    } else {
        rc = ask_for_lock(win, rank, (uint32_t)type);
        rc = rc ? rc : await_end(win, rank);
    }
    if (rc)
        end_lock(win, rank);
    else
        target->locked = (uint8_t)(type - MPI_LOCK_EXCLUSIVE + 1);
    return rc;
}

static void unlock_direct(struct pl_win *win, int rank)
{
    struct pl_win_target *target = &win->targets[rank];
    int type = target->locked - 1 + MPI_LOCK_EXCLUSIVE;
    bool held = target->locked != 0;
    target->locked = 0;
    if (held)
        give_direct(win, rank, type);
}

int pl_win_unlock(struct pl_win *win, int rank)
{
    int rc = MPI_SUCCESS;
    if (atomic_load(&win->targets[rank].open) != PL_OPEN_LOCKED)
        return pl_fail(MPI_ERR_RMA_SYNC, "rank %d of %s is not locked", rank, pl_win_label(win));
    if (win->targets[rank].ctl) {
        rc = pl_cma_finish(win, rank);
        unlock_direct(win, rank);
        pl_win_poll(win);
    } else {
        rc = ask_for_end(win, rank, true);
        rc = rc ? rc : await_end(win, rank);
    }
    end_lock(win, rank);
    return rc;
}

static void give_shared(struct pl_win *win)
{
    for (int i = 0; i < win->comm->size; i++)
        if (win->targets[i].ctl)
            unlock_direct(win, i);
}

/* Takes the locks that are to be had, up to the first one that is not: that rank, or -1. */
static int take_shared(struct pl_win *win)
{
    for (int i = 0; i < win->comm->size; i++) {
        struct pl_win_target *target = &win->targets[i];
        if (!target->ctl || target->locked)
            continue;
        if (!pl_win_try(target->ctl, MPI_LOCK_SHARED))
            return i;
        target->locked = MPI_LOCK_SHARED - MPI_LOCK_EXCLUSIVE + 1;
    }
    return -1;
}

/* Who waits for one of them holds none: others may take several locks, in whatever order they have agreed on. */
static int win_lock_take_all(struct pl_win *win)
{
    for (int missing; (missing = take_shared(win)) >= 0;) {
        give_shared(win);
        int rc = take_direct(win, missing, MPI_LOCK_SHARED);
        if (rc)
            return rc;
        win->targets[missing].locked = MPI_LOCK_SHARED - MPI_LOCK_EXCLUSIVE + 1;
    }
    return MPI_SUCCESS;
}

int pl_win_lock_all(struct pl_win *win, int assertion)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    pl_engine_enter(engine);
    int rc = check_lock(win, PL_ACCESS_LOCK_ALL);
    if (rc == MPI_SUCCESS)
        win->unchecked = assertion & MPI_MODE_NOCHECK;
    pl_engine_leave(engine);
    if (rc)
        return rc;
    if (!win->unchecked)
        rc = win_lock_take_all(win);
    if (rc)
        pl_win_unlock_all(win);
    return rc;
}

int pl_win_unlock_all(struct pl_win *win)
{
    if (atomic_load(&win->access) != PL_ACCESS_LOCK_ALL)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is not locked by MPI_Win_lock_all", pl_win_label(win));
    int rc = win->all_by_cma ? win_lock_finish_cma(win) : MPI_SUCCESS;
    give_shared(win); /* not only when others have answered, who may be waiting for it */
    int failed = end_all(win, true);
    rc = rc ? rc : failed;
    pl_win_poll(win);
    atomic_store(&win->access, PL_ACCESS_NONE);
    return rc;
}

static int flush_one(struct pl_win *win, int rank, bool local)
{
    if (win->targets[rank].ctl)
        return pl_cma_finish(win, rank);
    if (local)
        return pl_win_await(win, rank, NULL, win_lock_is_sent);
    int rc = ask_for_end(win, rank, false);
    return rc ? rc : await_end(win, rank);
}

static int win_lock_flush_all(struct pl_win *win, bool local)
{
    int rc = MPI_SUCCESS;
    if (!local || !win->by_messages)
        return end_all(win, false);
    for (int i = 0; i < win->comm->size; i++) {
        int failed = flush_one(win, i, true);
        rc = rc ? rc : failed;
    }
    return rc;
}

int pl_win_flush(struct pl_win *win, int rank, bool local)
{
    int access = atomic_load(&win->access);
    bool locked = access == PL_ACCESS_LOCK_ALL ||
                  (rank < 0 ? access == PL_ACCESS_LOCK : atomic_load(&win->targets[rank].open) == PL_OPEN_LOCKED);
    if (!locked)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is not locked", pl_win_label(win));
    atomic_thread_fence(memory_order_seq_cst);
    pl_win_poll(win);
    return rank < 0 ? win_lock_flush_all(win, local) : flush_one(win, rank, local);
}
