/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting and progress of a window. See window_wait.h. */
#include "core/rma/window_wait.h"

#include "core/base/error.h"
#include "core/engine/comm_break.h"
#include "core/engine/departure.h"
#include "core/engine/instance.h"
#include "core/engine/wait_record.h"
#include "core/job/process.h"
#include "core/rma/window.h"

enum {
    AWAIT_CHECK_DEPARTED = 100, /* idle rounds before pl_win_await() asks whether the rank has finalized */
    POLL_DIRECT_MASK = 15,      /* without messages only each 16th call makes progress: nothing else needs it */
};

/* The window is broken, or the rank has died: MPI_ERR_PROC_ABORTED. Engine lock held. */
static int window_find_failed(struct pl_win *win, int rank)
{
    if (atomic_load(&win->comm->health.failed))
        return pl_comm_broken_record(win->comm);
    const struct pl_peer *peer = rank == win->comm->rank ? NULL : pl_comm_peer(win->comm, rank);
    return peer && peer->error ? pl_fail(peer->error, "the process of rank %d in %s has ended", rank, pl_win_label(win))
                               : MPI_SUCCESS;
}

int pl_win_await(struct pl_win *win, int rank, const struct pl_awaited *awaited,
                 bool (*ready)(struct pl_win *win, int rank))
{
    struct pl_engine *engine = &win->comm->instance->engine;
    const struct pl_waiting what = {
        .what = awaited ? PL_WHAT_LOCK : PL_WHAT_OTHER, .comm = win->comm, .peer = rank, .tag = PL_ANY
    };
    struct pl_wait wait = { .what = &what };
    for (;;) {
        pl_engine_enter(engine);
        bool there = awaited ? pl_awaited_is_there(awaited) : ready(win, rank);
        int events = there ? 0 : pl_engine_progress(engine), rc = MPI_SUCCESS;
        there = there || (awaited ? pl_awaited_is_there(awaited) : ready(win, rank));
        if (!there)
            rc = window_find_failed(win, rank);
        if (!there && !rc && !awaited && wait.rounds > AWAIT_CHECK_DEPARTED && pl_departure_has(win->comm, rank))
            rc = pl_departure_record(win->comm);
        pl_engine_leave(engine);
        if (there || rc)
            return rc;
        if (events)
            wait.rounds = 0;
        else if (awaited)
            pl_engine_idle_for(engine, awaited, &wait);
        else
            pl_engine_idle(engine, &wait);
    }
}

void pl_win_settle(struct pl_win *win)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    const struct pl_waiting what = { .what = PL_WHAT_CLOSE, .comm = win->comm, .peer = PL_NO_PEER, .tag = PL_ANY };
    struct pl_wait wait = { .what = &what };
    for (bool settled = false; !settled;) {
        pl_engine_enter(engine);
        int events = win->msg.in_flight > 0 ? pl_engine_progress(engine) : 0;
        settled = win->msg.in_flight == 0;
        pl_engine_leave(engine);
        wait.rounds = events ? 0 : wait.rounds;
        if (!settled)
            pl_engine_idle(engine, &wait);
    }
}

void pl_win_poll(struct pl_win *win)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    unsigned polls = atomic_load_explicit(&win->polls, memory_order_relaxed) + 1;
    atomic_store_explicit(&win->polls, polls, memory_order_relaxed);
    if (!win->paths.by_target && polls & POLL_DIRECT_MASK)
        return;
    pl_engine_enter(engine);
    int events = pl_engine_progress(engine);
    pl_engine_leave(engine);
    if (events == 0)
        pl_engine_polled(engine);
}

void pl_win_wake(struct pl_win *win)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    if (atomic_load_explicit(&engine->wait.sleepers, memory_order_relaxed) > 0)
        pl_engine_wake(engine);
}

bool pl_win_is_failed(const struct pl_win *win, uint32_t rank)
{
    return rank < (uint32_t)win->comm->size && rank != (uint32_t)win->comm->rank &&
           pl_process_alive(pl_group_proc(win->comm->group, (int)rank)) == MPI_ERR_PROC_ABORTED;
}
