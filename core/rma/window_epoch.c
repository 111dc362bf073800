/* SPDX-License-Identifier: BSD-3-Clause */
/* Active target synchronization. See window_epoch.h. */
#include "core/rma/window_epoch.h"

#include <string.h>

#include "core/base/error.h"
#include "core/coll/collective.h"
#include "core/engine/comm_break.h"
#include "core/engine/instance.h"
#include "core/engine/wait.h"
#include "core/rma/message_response.h"
#include "core/rma/message_send.h"
#include "core/rma/window.h"
#include "core/rma/window_lock.h"
#include "core/rma/window_wait.h"

/* --- fences --------------------------------------------------------------------------------------------------- */

int pl_win_fence(struct pl_win *win, int assertion)
{
    int access = atomic_load(&win->epoch.access);
    if (access > PL_ACCESS_FENCE)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is %s", pl_win_label(win),
                       access == PL_ACCESS_START ? "between MPI_Win_start and MPI_Win_complete" : "locked");
    if (win->epoch.exposed)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is between MPI_Win_post and MPI_Win_wait", pl_win_label(win));
    struct pl_engine *engine = &win->comm->instance->engine;
    int fault = pl_win_finish(win), rc = pl_barrier(win->comm);
    atomic_thread_fence(memory_order_seq_cst);
    pl_engine_enter(engine); /* orders this thread behind the one that executed other origins' operations */
    pl_engine_leave(engine);
    atomic_store(&win->epoch.fence_used, false);
    atomic_store(&win->epoch.access, assertion & MPI_MODE_NOSUCCEED ? PL_ACCESS_NONE : PL_ACCESS_FENCE);
    return rc ? rc : fault;
}

/* --- notifications of post and complete ----------------------------------------------------------------------- */

static int epoch_rank(const struct pl_win *win, const struct pl_group *group, int i)
{
    return pl_group_find(win->comm->group, pl_group_proc(group, i));
}

/* Notifies a rank, this process without a message. Engine lock held. */
static int epoch_notify(struct pl_win *win, int rank, enum pl_rma_part part)
{
    struct pl_win_target *target = &win->targets[rank];
    if (rank != win->comm->rank)
        return pl_rma_send_control(win, rank, part, 0, NULL, 0);
    if (part == PL_PART_POST)
        target->posts++;
    else
        target->completes++;
    return MPI_SUCCESS;
}

static int epoch_notify_all(struct pl_win *win, const struct pl_group *group, enum pl_rma_part part)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    int rc = MPI_SUCCESS;
    pl_engine_enter(engine);
    for (int i = 0; i < group->size; i++) {
        int failed = epoch_notify(win, epoch_rank(win, group, i), part);
        rc = rc ? rc : failed;
    }
    pl_engine_leave(engine);
    return rc;
}

/* --- the target's side: post, wait, test ---------------------------------------------------------------------- */

int pl_win_post(struct pl_win *win, struct pl_group *group, int assertion)
{
    (void)assertion; /* none makes anything cheaper */
    if (win->epoch.exposed)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is already between MPI_Win_post and MPI_Win_wait", pl_win_label(win));
    if (atomic_load(&win->epoch.access) == PL_ACCESS_FENCE && atomic_load(&win->epoch.fence_used))
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is in an epoch of MPI_Win_fence", pl_win_label(win));
    atomic_thread_fence(memory_order_seq_cst);
    win->epoch.exposed = pl_object_retain(group);
    return epoch_notify_all(win, group, PL_PART_POST);
}

static bool epoch_is_completed(struct pl_win *win, int rank)
{
    return win->targets[rank].completes > 0;
}

/* Have all origins of the exposure epoch called MPI_Win_complete? Engine lock held. */
static bool epoch_all_completed(struct pl_win *win)
{
    for (int i = 0; i < win->epoch.exposed->size; i++)
        if (!epoch_is_completed(win, epoch_rank(win, win->epoch.exposed, i)))
            return false;
    return true;
}

static void epoch_end_exposure(struct pl_win *win)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    struct pl_group *group = win->epoch.exposed;
    pl_engine_enter(engine);
    for (int i = 0; i < group->size; i++)
        win->targets[epoch_rank(win, group, i)].completes--;
    win->epoch.exposed = NULL;
    pl_engine_leave(engine);
    atomic_thread_fence(memory_order_seq_cst);
    pl_object_release(group);
}

static int epoch_check_exposed(const struct pl_win *win)
{
    return win->epoch.exposed ? MPI_SUCCESS
                              : pl_fail(MPI_ERR_RMA_SYNC, "%s: MPI_Win_post has not been called", pl_win_label(win));
}

int pl_win_wait(struct pl_win *win)
{
    int rc = epoch_check_exposed(win);
    for (int i = 0; rc == MPI_SUCCESS && i < win->epoch.exposed->size; i++)
        rc = pl_win_await(win, epoch_rank(win, win->epoch.exposed, i), NULL, epoch_is_completed);
    if (rc == MPI_SUCCESS)
        epoch_end_exposure(win);
    return rc;
}

int pl_win_test(struct pl_win *win, bool *done)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    int rc = epoch_check_exposed(win);
    if (rc)
        return rc;
    pl_engine_enter(engine);
    *done = epoch_all_completed(win);
    if (!*done) {
        pl_engine_progress(engine);
        *done = epoch_all_completed(win);
    }
    rc = *done || !atomic_load(&win->comm->health.failed) ? MPI_SUCCESS : pl_comm_broken_record(win->comm);
    pl_engine_leave(engine);
    if (*done)
        epoch_end_exposure(win);
    else
        pl_engine_polled(engine);
    return rc;
}

/* --- the origin's side: start, complete ----------------------------------------------------------------------- */

static bool epoch_is_posted(struct pl_win *win, int rank)
{
    return win->targets[rank].posts > 0;
}

static void epoch_set_open(struct pl_win *win, enum pl_win_open open)
{
    for (int i = 0; i < win->epoch.started->size; i++)
        atomic_store(&win->targets[epoch_rank(win, win->epoch.started, i)].open, (uint8_t)open);
}

int pl_win_start(struct pl_win *win, struct pl_group *group, int assertion)
{
    (void)assertion;
    struct pl_engine *engine = &win->comm->instance->engine;
    int access = atomic_load(&win->epoch.access);
    if (access > PL_ACCESS_FENCE || (access == PL_ACCESS_FENCE && atomic_load(&win->epoch.fence_used)))
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is %s", pl_win_label(win),
                       access == PL_ACCESS_FENCE   ? "in an epoch of MPI_Win_fence"
                       : access == PL_ACCESS_START ? "already between MPI_Win_start and MPI_Win_complete"
                                                   : "locked");
    pl_object_retain(group); /* another thread may free it while this one waits */
    for (int i = 0; i < group->size; i++) {
        int rank = epoch_rank(win, group, i), rc = pl_win_await(win, rank, NULL, epoch_is_posted);
        if (rc) {
            pl_object_release(group);
            return rc;
        }
        pl_engine_enter(engine);
        win->targets[rank].posts--;
        pl_engine_leave(engine);
    }
    win->epoch.started = group;
    epoch_set_open(win, PL_OPEN_STARTED);
    atomic_store(&win->epoch.access, PL_ACCESS_START);
    return MPI_SUCCESS;
}

static int epoch_drain_started(struct pl_win *win)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < win->epoch.started->size && win->paths.deferred; i++) {
        int rank = epoch_rank(win, win->epoch.started, i);
        const struct pl_rma_path *path = win->targets[rank].path;
        int failed = path->drain ? path->drain(win, rank) : MPI_SUCCESS;
        rc = rc ? rc : failed;
    }
    return rc;
}

int pl_win_complete(struct pl_win *win)
{
    struct pl_group *group = win->epoch.started;
    if (atomic_load(&win->epoch.access) != PL_ACCESS_START)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s: MPI_Win_start has not been called", pl_win_label(win));
    atomic_thread_fence(memory_order_seq_cst);
    epoch_set_open(win, PL_OPEN_NOT);
    int rc = epoch_drain_started(win), notified = epoch_notify_all(win, group, PL_PART_COMPLETE);
    rc = rc ? rc : notified;
    for (int i = 0; i < group->size; i++) {
        int rank = epoch_rank(win, group, i);
        const struct pl_rma_path *path = win->targets[rank].path;
        int failed = path->wait_local ? path->wait_local(win, rank) : MPI_SUCCESS;
        rc = rc ? rc : failed;
    }
    win->epoch.started = NULL;
    atomic_store(&win->epoch.access, PL_ACCESS_NONE);
    pl_object_release(group);
    return rc;
}
