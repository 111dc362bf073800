/* SPDX-License-Identifier: BSD-3-Clause */
/* Passive target synchronization. See window_lock.h. */
#include "core/rma/window_lock.h"

#include "core/base/error.h"
#include "core/engine/instance.h"
#include "core/rma/window.h"
#include "core/rma/window_wait.h"

/* --- flushes -------------------------------------------------------------------------------------------------- */

static int window_drain(struct pl_win *win, int rank)
{
    const struct pl_rma_path *path = win->targets[rank].path;
    return path->drain ? path->drain(win, rank) : MPI_SUCCESS;
}

static int window_wait_flush(struct pl_win *win, int rank)
{
    const struct pl_rma_path *path = win->targets[rank].path;
    return path->wait_flush ? path->wait_flush(win, rank) : MPI_SUCCESS;
}

static int window_request_flush(struct pl_win *win, int rank)
{
    const struct pl_rma_path *path = win->targets[rank].path;
    int rc = window_drain(win, rank);
    int failed = path->request_flush ? path->request_flush(win, rank) : MPI_SUCCESS;
    return rc ? rc : failed;
}

static int window_flush_local(struct pl_win *win, int rank)
{
    const struct pl_rma_path *path = win->targets[rank].path;
    int rc = window_drain(win, rank);
    int failed = path->wait_local ? path->wait_local(win, rank) : MPI_SUCCESS;
    return rc ? rc : failed;
}

/* Does all ranks and returns the first error. */
static int window_each(struct pl_win *win, int (*step)(struct pl_win *win, int rank))
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < win->comm->size; i++) {
        int failed = step(win, i);
        rc = rc ? rc : failed;
    }
    return rc;
}

/* Asks all ranks before it waits for the first. */
static int window_flush_all(struct pl_win *win)
{
    if (!win->paths.deferred)
        return MPI_SUCCESS;
    int rc = window_each(win, window_request_flush), failed = window_each(win, window_wait_flush);
    return rc ? rc : failed;
}

int pl_win_finish(struct pl_win *win)
{
    atomic_thread_fence(memory_order_seq_cst);
    return window_flush_all(win);
}

static int window_flush_one(struct pl_win *win, int rank)
{
    int rc = window_request_flush(win, rank);
    return rc ? rc : window_wait_flush(win, rank);
}

int pl_win_flush(struct pl_win *win, int rank, bool local)
{
    int access = atomic_load(&win->epoch.access);
    bool locked = access == PL_ACCESS_LOCK_ALL ||
                  (rank < 0 ? access == PL_ACCESS_LOCK : atomic_load(&win->targets[rank].open) == PL_OPEN_LOCKED);
    if (!locked)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is not locked", pl_win_label(win));
    atomic_thread_fence(memory_order_seq_cst);
    pl_win_poll(win);
    if (rank >= 0)
        return local ? window_flush_local(win, rank) : window_flush_one(win, rank);
    if (!local)
        return window_flush_all(win);
    return win->paths.deferred ? window_each(win, window_flush_local) : MPI_SUCCESS;
}

/* --- locks of one rank ---------------------------------------------------------------------------------------- */

/* May the window be locked? Then the epoch begins. Engine lock held. */
static inline int window_begin_access(struct pl_win *win, int wanted)
{
    int access = atomic_load(&win->epoch.access);
    bool fence = access == PL_ACCESS_FENCE && !atomic_load(&win->epoch.fence_used);
    if (win->hints.flags & PL_HINT_NO_LOCKS)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s was created with the hint no_locks", pl_win_label(win));
    if (access == PL_ACCESS_NONE || fence || (access == wanted && wanted == PL_ACCESS_LOCK)) {
        atomic_store(&win->epoch.access, wanted);
        return MPI_SUCCESS;
    }
    return pl_fail(MPI_ERR_RMA_SYNC, "%s is already %s", pl_win_label(win),
                   access == PL_ACCESS_FENCE   ? "in an epoch of MPI_Win_fence"
                   : access == PL_ACCESS_START ? "in an epoch of MPI_Win_start"
                                               : "locked");
}

static int window_begin_lock(struct pl_win *win, struct pl_win_target *target)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    pl_engine_enter(engine);
    int rc = atomic_load(&target->open) == PL_OPEN_LOCKED ? pl_fail(MPI_ERR_RMA_SYNC, "rank %d of %s is already locked",
                                                                    (int)(target - win->targets), pl_win_label(win))
                                                          : window_begin_access(win, PL_ACCESS_LOCK);
    if (rc == MPI_SUCCESS) {
        atomic_fetch_add(&win->epoch.locks, 1);
        atomic_store(&target->open, PL_OPEN_LOCKED);
    }
    pl_engine_leave(engine);
    return rc;
}

static void window_end_lock(struct pl_win *win, struct pl_win_target *target)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    pl_engine_enter(engine);
    atomic_store(&target->open, PL_OPEN_NOT);
    if (atomic_fetch_sub(&win->epoch.locks, 1) == 1)
        atomic_store(&win->epoch.access, PL_ACCESS_NONE);
    pl_engine_leave(engine);
}

int pl_win_lock(struct pl_win *win, int type, int rank, int assertion)
{
    struct pl_win_target *target = &win->targets[rank];
    int rc = window_begin_lock(win, target);
    if (rc || assertion & MPI_MODE_NOCHECK)
        return rc;
    rc = target->path->lock(win, rank, type);
    if (rc)
        window_end_lock(win, target);
    else
        target->locked = (uint16_t)type;
    return rc;
}

/* Without the wait for the target. */
static int window_start_unlock(struct pl_win *win, int rank)
{
    int rc = window_drain(win, rank);
    int failed = win->targets[rank].path->unlock(win, rank);
    return rc ? rc : failed;
}

int pl_win_unlock(struct pl_win *win, int rank)
{
    struct pl_win_target *target = &win->targets[rank];
    if (atomic_load(&target->open) != PL_OPEN_LOCKED)
        return pl_fail(MPI_ERR_RMA_SYNC, "rank %d of %s is not locked", rank, pl_win_label(win));
    int rc = window_start_unlock(win, rank);
    if (!target->path->by_target) /* the wait makes progress */
        pl_win_poll(win);
    int failed = rc ? rc : window_wait_flush(win, rank);
    window_end_lock(win, target);
    return failed;
}

/* --- locks of all ranks --------------------------------------------------------------------------------------- */

static void window_unlock_shared(struct pl_win *win)
{
    for (int i = 0; i < win->comm->size; i++)
        if (win->targets[i].path->try_lock)
            win->targets[i].path->unlock(win, i);
}

/* Takes the locks that are free, up to the first that is not; returns that rank, or -1. */
static int window_try_shared(struct pl_win *win)
{
    for (int i = 0; i < win->comm->size; i++) {
        struct pl_win_target *target = &win->targets[i];
        if (!target->path->try_lock || target->locked)
            continue;
        if (!target->path->try_lock(win, i))
            return i;
        target->locked = MPI_LOCK_SHARED;
    }
    return -1;
}

/* A rank that waits for one of the locks holds none: other ranks may take several locks, in any order. */
static int window_lock_shared(struct pl_win *win)
{
    for (int missing; (missing = window_try_shared(win)) >= 0;) {
        window_unlock_shared(win);
        int rc = win->targets[missing].path->lock(win, missing, MPI_LOCK_SHARED);
        if (rc)
            return rc;
        win->targets[missing].locked = MPI_LOCK_SHARED;
    }
    return MPI_SUCCESS;
}

int pl_win_lock_all(struct pl_win *win, int assertion)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    pl_engine_enter(engine);
    int rc = window_begin_access(win, PL_ACCESS_LOCK_ALL);
    if (rc == MPI_SUCCESS)
        win->epoch.unchecked = assertion & MPI_MODE_NOCHECK;
    pl_engine_leave(engine);
    if (rc)
        return rc;
    if (!win->epoch.unchecked)
        rc = window_lock_shared(win);
    if (rc)
        pl_win_unlock_all(win);
    return rc;
}

/* Gives up all locks before it waits for the first target, which may itself wait for one of them. */
int pl_win_unlock_all(struct pl_win *win)
{
    if (atomic_load(&win->epoch.access) != PL_ACCESS_LOCK_ALL)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is not locked by MPI_Win_lock_all", pl_win_label(win));
    int rc = window_each(win, window_start_unlock);
    int failed = win->paths.by_target ? window_each(win, window_wait_flush) : MPI_SUCCESS;
    rc = rc ? rc : failed;
    pl_win_poll(win);
    atomic_store(&win->epoch.access, PL_ACCESS_NONE);
    return rc;
}
