/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active targets: fences, and post, start, complete, wait. Who takes part says so by messages, both sides being in MPI
 * anyway; those of MPI_Win_complete() come in the stream behind the operations.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/coll/collective.h"
#include "core/engine/instance.h"
#include "core/engine/peer_failure.h"
#include "core/engine/wait.h"
#include "core/rma/rma.h"
#include "core/rma/window.h"

/* --- fences --------------------------------------------------------------------------------------------------- */

int pl_win_fence(struct pl_win *win, int assertion)
{
    int access = atomic_load(&win->access);
    if (access > PL_ACCESS_FENCE)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is %s", pl_win_label(win),
                       access == PL_ACCESS_START ? "between MPI_Win_start and MPI_Win_complete" : "locked");
    if (win->exposed)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is between MPI_Win_post and MPI_Win_wait", pl_win_label(win));
    struct pl_engine *engine = &win->comm->instance->engine;
    int fault = pl_win_finish(win), rc = pl_barrier(win->comm);
    atomic_thread_fence(memory_order_seq_cst);
    pl_engine_enter(engine); /* after whichever thread has applied what others sent */
    pl_engine_leave(engine);
    atomic_store(&win->fence_used, false);
    atomic_store(&win->access, assertion & MPI_MODE_NOSUCCEED ? PL_ACCESS_NONE : PL_ACCESS_FENCE);
    return rc ? rc : fault;
}

/* --- some of the ranks ---------------------------------------------------------------------------------------- */

static int rank_of(const struct pl_win *win, const struct pl_group *group, int i)
{
    return pl_group_find(win->comm->group, pl_group_proc(group, i));
}

/* Says it to a rank; to this one without a message. Engine lock held. */
static int epoch_say(struct pl_win *win, int rank, enum pl_rma_part part)
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

static int say_all(struct pl_win *win, const struct pl_group *group, enum pl_rma_part part)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    int rc = MPI_SUCCESS;
    pl_engine_enter(engine);
    for (int i = 0; i < group->size; i++) {
        int failed = epoch_say(win, rank_of(win, group, i), part);
        rc = rc ? rc : failed;
    }
    pl_engine_leave(engine);
    return rc;
}

int pl_win_post(struct pl_win *win, struct pl_group *group, int assertion)
{
    (void)assertion; /* nothing becomes cheaper */
    if (win->exposed)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is between MPI_Win_post and MPI_Win_wait already", pl_win_label(win));
    if (atomic_load(&win->access) == PL_ACCESS_FENCE && atomic_load(&win->fence_used))
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is in an epoch of MPI_Win_fence", pl_win_label(win));
    atomic_thread_fence(memory_order_seq_cst);
    win->exposed = pl_object_retain(group);
    return say_all(win, group, PL_PART_POST);
}

static bool is_posted(struct pl_win *win, int rank)
{
    return win->targets[rank].posts > 0;
}

static bool epoch_is_sent(struct pl_win *win, int rank)
{
    return win->targets[rank].unsent == 0;
}

static void open_started(struct pl_win *win, enum pl_win_open open)
{
    for (int i = 0; i < win->started->size; i++)
        atomic_store(&win->targets[rank_of(win, win->started, i)].open, (uint8_t)open);
}

int pl_win_start(struct pl_win *win, struct pl_group *group, int assertion)
{
    (void)assertion;
    struct pl_engine *engine = &win->comm->instance->engine;
    int access = atomic_load(&win->access);
    if (access > PL_ACCESS_FENCE || (access == PL_ACCESS_FENCE && atomic_load(&win->fence_used)))
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is %s", pl_win_label(win),
                       access == PL_ACCESS_FENCE   ? "in an epoch of MPI_Win_fence"
                       : access == PL_ACCESS_START ? "between MPI_Win_start and MPI_Win_complete already"
                                                   : "locked");
    for (int i = 0; i < group->size; i++) {
        int rank = rank_of(win, group, i), rc = pl_win_await(win, rank, NULL, is_posted);
        if (rc)
            return rc;
        pl_engine_enter(engine);
        win->targets[rank].posts--;
        pl_engine_leave(engine);
    }
    win->started = pl_object_retain(group);
    open_started(win, PL_OPEN_STARTED);
    atomic_store(&win->access, PL_ACCESS_START);
    return MPI_SUCCESS;
}

/* What a dynamic window's target refuses is not known before it answers. */
static int finish_started(struct pl_win *win, int rank)
{
    if (win->targets[rank].ctl)
        return MPI_SUCCESS;
    int rc = pl_win_await(win, rank, NULL, epoch_is_sent), fault = pl_win_take_fault(win, rank);
    return rc ? rc : fault;
}

static int epoch_finish_cma(struct pl_win *win)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < win->started->size && win->all_by_cma; i++) {
        int failed = pl_cma_finish(win, rank_of(win, win->started, i));
        rc = rc ? rc : failed;
    }
    return rc;
}

int pl_win_complete(struct pl_win *win)
{
    struct pl_group *group = win->started;
    if (atomic_load(&win->access) != PL_ACCESS_START)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s: there was no MPI_Win_start", pl_win_label(win));
    atomic_thread_fence(memory_order_seq_cst);
    open_started(win, PL_OPEN_NOT);
    int rc = epoch_finish_cma(win), said = say_all(win, group, PL_PART_COMPLETE);
    rc = rc ? rc : said;
    for (int i = 0; i < group->size; i++) {
        int failed = finish_started(win, rank_of(win, group, i));
        rc = rc ? rc : failed;
    }
    win->started = NULL;
    atomic_store(&win->access, PL_ACCESS_NONE);
    pl_object_release(group);
    return rc;
}

static bool has_completed(struct pl_win *win, int rank)
{
    return win->targets[rank].completes > 0;
}

/* All that it was posted to have completed. Engine lock held. */
static bool is_complete(struct pl_win *win)
{
    for (int i = 0; i < win->exposed->size; i++)
        if (!has_completed(win, rank_of(win, win->exposed, i)))
            return false;
    return true;
}

static void end_exposure(struct pl_win *win)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    struct pl_group *group = win->exposed;
    pl_engine_enter(engine);
    for (int i = 0; i < group->size; i++)
        win->targets[rank_of(win, group, i)].completes--;
    win->exposed = NULL;
    pl_engine_leave(engine);
    atomic_thread_fence(memory_order_seq_cst);
    pl_object_release(group);
}

static int check_exposed(const struct pl_win *win)
{
    return win->exposed ? MPI_SUCCESS : pl_fail(MPI_ERR_RMA_SYNC, "%s: there was no MPI_Win_post", pl_win_label(win));
}

int pl_win_wait(struct pl_win *win)
{
    int rc = check_exposed(win);
    for (int i = 0; rc == MPI_SUCCESS && i < win->exposed->size; i++)
        rc = pl_win_await(win, rank_of(win, win->exposed, i), NULL, has_completed);
    if (rc == MPI_SUCCESS)
        end_exposure(win);
    return rc;
}

int pl_win_test(struct pl_win *win, bool *done)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    int rc = check_exposed(win);
    if (rc)
        return rc;
    pl_engine_enter(engine);
    *done = is_complete(win);
    if (!*done) {
        pl_engine_progress(engine);
        *done = is_complete(win);
    }
    rc = *done || !atomic_load(&win->comm->health.failed) ? MPI_SUCCESS : pl_failure_record(win->comm);
    pl_engine_leave(engine);
    if (*done)
        end_exposure(win);
    else
        pl_engine_polled(engine);
    return rc;
}
