/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows as objects: making, freeing, and what they tell about themselves. See window.h. */
#include "core/rma/window.h"

#include <limits.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/engine/departure.h"
#include "core/engine/instance.h"
#include "core/engine/peer_failure.h"
#include "core/engine/wait_record.h"
#include "core/object/attr.h"
#include "core/object/errhandler.h"
#include "core/object/info.h"
#include "core/rma/delegate.h"

const char *pl_win_label(const struct pl_win *win)
{
    return pl_comm_label(win->comm);
}

/* A communicator for the window's messages and collectives. Without the attributes, hints and name of `parent`. */
static int win_make_comm(struct pl_comm *parent, struct pl_win *win)
{
    struct pl_comm_id id = pl_comm_new_id();
    int rc = pl_bcast(parent, &id, sizeof id, PL_TYPE_BYTE, 0);
    if (rc == MPI_SUCCESS)
        rc = pl_comm_create(parent->instance, parent, parent->group, NULL, id, &win->comm);
    if (rc)
        return rc;
    pl_object_retain(win->comm);
    win->comm->serves = "window";
    return MPI_SUCCESS;
}

static int make_targets(struct pl_win *win)
{
    int size = win->comm->size;
    win->targets = pl_calloc((size_t)size, sizeof *win->targets);
    win->maps = pl_calloc((size_t)size, sizeof *win->maps);
    win->map_bytes = pl_calloc((size_t)size, sizeof *win->map_bytes);
    if (!win->targets || !win->maps || !win->map_bytes)
        return pl_fail_memory("a window");
    for (int i = 0; i < size; i++)
        pl_list_init(&win->targets[i].op_queue);
    return MPI_SUCCESS;
}

/* Everybody learns from everybody's card whether it can be made, and what the others have. */
static int win_exchange(struct pl_win *win, const struct pl_win_card *own, struct pl_win_card *cards)
{
    int rc = pl_allgather(win->comm, own, sizeof *own, PL_TYPE_BYTE, cards, sizeof *own, PL_TYPE_BYTE);
    if (rc || own->error)
        return rc ? rc : own->error;
    for (int i = 0; i < win->comm->size; i++) {
        if (cards[i].error)
            return pl_fail(cards[i].error, "rank %d could not make its part of the window (%s)", i,
                           pl_error_class_name(cards[i].error));
        win->targets[i].size = (MPI_Aint)cards[i].size;
        win->targets[i].disp_unit = (MPI_Aint)cards[i].disp_unit;
    }
    return MPI_SUCCESS;
}

/* All or nobody, and how; and nobody goes on before all can be reached. */
static int win_agree(struct pl_win *win, int rc)
{
    int own[2] = { rc == MPI_SUCCESS, win->all_by_cma }, all[2] = { 0, 0 };
    int failed = pl_allreduce(win->comm, own, all, 2, pl_type_predefined((uintptr_t)MPI_INT),
                              pl_op_predefined((uintptr_t)MPI_MIN));
    bool own_memory = win->flavor == MPI_WIN_FLAVOR_CREATE || win->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    if (own_memory && !all[1])
        pl_win_cma_none(win);
    for (int i = 0; i < win->comm->size; i++)
        win->by_messages = win->by_messages || !win->targets[i].ctl;
    if (failed || rc || all[0])
        return failed ? failed : rc;
    return pl_fail(MPI_ERR_RMA_SHARED, "another process could not map the window's memory");
}

static int win_fill(struct pl_win *win, struct pl_comm *parent, const struct pl_win_spec *spec)
{
    struct pl_win_card own = { .size = spec->size, .disp_unit = spec->disp_unit };
    int rc = win_make_comm(parent, win);
    if (rc)
        return rc;
    struct pl_win_card *cards = pl_calloc((size_t)parent->size, sizeof *cards);
    if (!cards)
        return pl_fail_memory("a window");
    own.error = make_targets(win);
    if (!own.error)
        own.error = pl_win_info_set(win, spec->info);
    int made = pl_win_memory_make(win, &own);
    own.error = own.error ? own.error : made;
    rc = win_exchange(win, &own, cards);
    if (rc == MPI_SUCCESS) {
        rc = pl_win_memory_map(win, cards);
        pl_engine_enter(&parent->instance->engine);
        win->comm->win = win;
        pl_engine_leave(&parent->instance->engine);
        rc = win_agree(win, rc);
    }
    if (rc == MPI_SUCCESS && win->all_by_cma) {
        pl_engine_enter(&parent->instance->engine);
        pl_delegate_open(win);
        pl_engine_leave(&parent->instance->engine);
    }
    free(cards);
    return rc;
}

int pl_win_create(struct pl_comm *comm, const struct pl_win_spec *spec, struct pl_win **win)
{
    struct pl_win *made = pl_object_create(PL_WIN);
    if (!made)
        return MPI_ERR_NO_MEM;
    pl_list_init(&made->responses);
    pl_list_init(&made->lock_queue);
    pl_list_init(&made->hook.link);
    pl_list_init(&made->delegated.link);
    pl_lock_init(&made->cma_lock, PL_RANK_OBJECT, comm->instance->engine.lock.real);
    made->flavor = spec->flavor;
    made->base = spec->base;
    made->size = spec->size;
    made->disp_unit = spec->disp_unit;
    made->disp_unit_int = (int)(spec->disp_unit > INT_MAX ? INT_MAX : spec->disp_unit);
    made->model = MPI_WIN_UNIFIED;
    made->errhandler = pl_errhandler_predefined((uintptr_t)MPI_ERRORS_ARE_FATAL);
    int rc = win_fill(made, comm, spec);
    if (rc)
        pl_handle_drop(made);
    else
        *win = made;
    return rc;
}

/* Nobody finds it any more. What the user waits for ends. */
static void take_out(struct pl_win *win)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    pl_engine_enter(engine);
    win->comm->win = NULL;
    pl_delegate_close(win);
    pl_rma_drop(win);
    pl_engine_leave(engine);
}

void pl_win_destroy(void *object)
{
    struct pl_win *win = object;
    if (win->comm) {
        if (win->comm->win)
            take_out(win);
        pl_win_memory_release(win, false);
        pl_handle_drop(win->comm);
    }
    for (int i = 0; win->targets && i < win->comm->size; i++) {
        free(win->targets[i].batch[0]);
        free(win->targets[i].batch[1]);
        free(win->targets[i].regions.list);
    }
    free(win->targets);
    free(win->maps);
    free(win->map_bytes);
    free(win->regions.list);
    pl_lock_fini(&win->cma_lock);
    pl_object_release(win->started);
    pl_object_release(win->exposed);
    pl_object_release(win->errhandler);
    pl_object_release(win->comm);
}

/* Waits until no transport has anything of it, neither the user's memory nor its own. What went to the dead, or should
 * have come from them, the transports give up. */
static void win_settle(struct pl_win *win)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    const struct pl_waiting what = { .what = PL_WHAT_CLOSE, .comm = win->comm, .peer = PL_NO_PEER, .tag = PL_ANY };
    struct pl_wait wait = { .what = &what };
    for (bool still = false; !still;) {
        pl_engine_enter(engine);
        int events = win->moving > 0 ? pl_engine_progress(engine) : 0;
        still = win->moving == 0;
        pl_engine_leave(engine);
        wait.rounds = events ? 0 : wait.rounds;
        if (!still)
            pl_engine_idle(engine, &wait);
    }
}

/* An epoch that a death has cut short cannot be ended. */
static int check_free(const struct pl_win *win)
{
    if (atomic_load(&win->comm->health.failed))
        return MPI_SUCCESS;
    switch (atomic_load(&win->access)) {
    case PL_ACCESS_START:
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is between MPI_Win_start and MPI_Win_complete", pl_win_label(win));
    case PL_ACCESS_LOCK:
        return pl_fail(MPI_ERR_RMA_SYNC, "%s: MPI_Win_unlock is missing for %d locks", pl_win_label(win),
                       atomic_load(&win->locks));
    case PL_ACCESS_LOCK_ALL: return pl_fail(MPI_ERR_RMA_SYNC, "%s: MPI_Win_unlock_all is missing", pl_win_label(win));
    default: break;
    }
    if (win->exposed)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s: MPI_Win_wait is missing after MPI_Win_post", pl_win_label(win));
    return MPI_SUCCESS;
}

int pl_win_free(struct pl_win *win)
{
    int rc = check_free(win);
    if (rc == MPI_SUCCESS)
        rc = pl_attrs_delete(&win->attrs, pl_object_handle(win));
    if (rc)
        return rc;
    rc = pl_barrier(win->comm);
    win_settle(win);
    take_out(win);
    pl_win_memory_unmap(win);
    int left = rc == MPI_SUCCESS && win->shared.memory && win->comm->size > 1 ? pl_barrier(win->comm) : rc;
    pl_win_memory_release(win, left == MPI_SUCCESS);
    pl_comm_free(win->comm);
    pl_handle_drop(win);
    return rc;
}

void pl_win_orphan(struct pl_win *win)
{
    pl_attrs_discard(&win->attrs, pl_object_handle(win));
    win_settle(win);
    take_out(win);
    pl_win_memory_release(win, false);
    pl_object_retain(win);
    while (atomic_load(&win->obj.handles) > 0)
        pl_handle_drop(win);
    pl_object_release(win);
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */

int pl_win_find_failed(struct pl_win *win, int rank)
{
    if (atomic_load(&win->comm->health.failed))
        return pl_failure_record(win->comm);
    const struct pl_peer *peer = rank == win->comm->rank ? NULL : pl_comm_peer(win->comm, rank);
    return peer && peer->error ? pl_fail(peer->error, "the process of rank %d in %s is gone", rank, pl_win_label(win))
                               : MPI_SUCCESS;
}

int pl_win_await(struct pl_win *win, int rank, const struct pl_awaited *awaited,
                 bool (*ready)(struct pl_win *win, int rank))
{
    enum { LOOKS = 100 }; /* rounds before it looks whether there is somebody who may answer */
    struct pl_engine *engine = &win->comm->instance->engine;
    const struct pl_waiting what = { .comm = win->comm, .peer = rank, .tag = PL_ANY };
    struct pl_wait wait = { .what = &what };
    for (;;) {
        pl_engine_enter(engine);
        bool there = awaited ? pl_awaited_is_there(awaited) : ready(win, rank);
        int events = there ? 0 : pl_engine_progress(engine), rc = MPI_SUCCESS;
        there = there || (awaited ? pl_awaited_is_there(awaited) : ready(win, rank));
        if (!there)
            rc = pl_win_find_failed(win, rank);
        if (!there && !rc && !awaited && wait.rounds > LOOKS && pl_departure_has(win->comm, rank))
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

void pl_win_poll(struct pl_win *win)
{
    enum { POLLS_DIRECT = 15 }; /* as a mask: nothing that comes by messages changes the window */
    struct pl_engine *engine = &win->comm->instance->engine;
    unsigned polls = atomic_load_explicit(&win->polls, memory_order_relaxed) + 1;
    atomic_store_explicit(&win->polls, polls, memory_order_relaxed);
    if (!win->by_messages && polls & POLLS_DIRECT)
        return;
    pl_engine_enter(engine);
    int events = pl_engine_progress(engine);
    pl_engine_leave(engine);
    if (events == 0)
        pl_engine_polled(engine);
}
