/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows as objects: creating and freeing them. See window.h. */
#include "core/rma/window.h"

#include <limits.h>
#include <stdlib.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/engine/comm_break.h"
#include "core/engine/instance.h"
#include "core/object/attr.h"
#include "core/object/errhandler.h"
#include "core/object/info.h"
#include "core/rma/delegate_target.h"
#include "core/rma/window_wait.h"

/* An area for the window's communicator is made that many collectives later than for others, if all its ranks are on
 * one node. Making one takes 30 us, or 200 to 500 with 4 to 8 ranks on 2 cores. A fence then takes 0.1 us instead of
 * 0.25, and 1.5 to 8 us less with those. So it pays after 60 to 210 fences. */
enum { WINDOW_FENCES = 59 };

const char *pl_win_label(const struct pl_win *win)
{
    return pl_comm_label(win->comm);
}

/* --- creating ------------------------------------------------------------------------------------------------- */

/* The communicator has none of the parent's attributes and hints, nor its name. */
static int window_make_comm(struct pl_comm *parent, struct pl_win *win)
{
    struct pl_comm_id id = pl_comm_new_id();
    int rc = pl_bcast(parent, &id, sizeof id, PL_TYPE_BYTE, 0);
    if (rc == MPI_SUCCESS)
        rc = pl_comm_create(parent->instance, parent, parent->group, NULL, id, &win->comm);
    if (rc)
        return rc;
    pl_object_retain(win->comm);
    win->comm->role.serves = "window";
    win->comm->role.unnamed = "unnamed window";
    return MPI_SUCCESS;
}

static int window_make_targets(struct pl_win *win)
{
    int size = win->comm->size;
    win->targets = pl_calloc((size_t)size, sizeof *win->targets);
    win->memory.maps = pl_calloc((size_t)size, sizeof *win->memory.maps);
    if (!win->targets || !win->memory.maps)
        return pl_fail_memory("a window");
    for (int i = 0; i < size; i++) {
        pl_list_init(&win->targets[i].origin.op_queue);
        win->targets[i].path = &pl_rma_path_message;
    }
    return MPI_SUCCESS;
}

/* Each rank learns from the cards whether all could make their part, and what each has. */
static int window_exchange(struct pl_win *win, struct pl_comm *parent, const struct pl_win_card *own,
                           struct pl_win_card *cards)
{
    int rc = pl_allgather(parent, own, sizeof *own, PL_TYPE_BYTE, cards, sizeof *own, PL_TYPE_BYTE);
    if (rc || own->error)
        return rc ? rc : pl_error_agreed(own->error);
    for (int i = 0; i < win->comm->size; i++) {
        if (cards[i].error)
            return pl_error_agreed(pl_fail(cards[i].error, "rank %d could not make its part of the window", i));
        if (cards[i].size < 0 || cards[i].disp_unit <= 0)
            return pl_fail(MPI_ERR_INTERN, "what rank %d says of its part of the window is damaged", i);
        win->targets[i].size = (MPI_Aint)cards[i].size;
        win->targets[i].disp_unit = (MPI_Aint)cards[i].disp_unit;
    }
    return MPI_SUCCESS;
}

/* Makes the window on all ranks or on none, and agrees about CMA. No rank goes on before all are ready for messages. */
static int window_agree(struct pl_win *win, struct pl_comm *parent, int rc, bool *all_cma)
{
    int own[3] = { rc == MPI_SUCCESS, *all_cma, pl_win_memory_maps_all(win) }, all[3] = { 0 };
    int failed =
        pl_allreduce(parent, own, all, 3, pl_type_predefined((uintptr_t)MPI_INT), pl_op_predefined((uintptr_t)MPI_MIN));
    *all_cma = all[1];
    if (all[2])
        pl_coll_delay_area(win->comm, WINDOW_FENCES);
    pl_win_memory_agree(win, *all_cma);
    if (failed || (!rc && all[0]))
        return failed;
    if (rc)
        return pl_error_agreed(rc);
    return pl_error_agreed(pl_fail(MPI_ERR_RMA_SHARED, "another process could not map the window's memory"));
}

static int window_connect(struct pl_win *win, struct pl_comm *parent, const struct pl_win_card *cards)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    bool all_cma;
    int rc = pl_win_remote_exchange(win, parent, cards);
    if (rc)
        return rc;
    rc = pl_win_memory_map(win, cards, &all_cma);
    pl_engine_enter(engine);
    win->comm->win = win;
    pl_engine_leave(engine);
    rc = window_agree(win, parent, rc, &all_cma);
    if (rc == MPI_SUCCESS && all_cma) {
        pl_engine_enter(engine);
        pl_delegate_open(win);
        pl_engine_leave(engine);
    }
    return rc;
}

/* The exchanges are collectives of the parent, so that the window's communicator makes an area or a hierarchy only if
 * the window is used for collectives, too. */
static int window_fill(struct pl_win *win, struct pl_comm *parent, const struct pl_win_spec *spec)
{
    struct pl_win_card own = { .size = spec->size, .disp_unit = spec->disp_unit };
    int rc = window_make_comm(parent, win);
    if (rc)
        return rc;
    struct pl_win_card *cards = pl_calloc((size_t)parent->size, sizeof *cards);
    if (!cards)
        return pl_fail_memory("a window");
    own.error = window_make_targets(win);
    if (!own.error)
        own.error = pl_win_info_set(win, spec->info);
    int made = pl_win_memory_init(win, parent, &own);
    own.error = own.error ? own.error : made;
    if (!own.error)
        pl_win_remote_init(win, &own);
    rc = window_exchange(win, parent, &own, cards);
    if (rc == MPI_SUCCESS)
        rc = window_connect(win, parent, cards);
    free(cards);
    return rc;
}

int pl_win_create(struct pl_comm *comm, const struct pl_win_spec *spec, struct pl_win **win)
{
    struct pl_win *made = pl_object_create(PL_WIN);
    if (!made)
        return MPI_ERR_NO_MEM;
    pl_list_init(&made->msg.gets);
    pl_list_init(&made->msg.lock_queue);
    pl_list_init(&made->msg.lock_hook.link);
    pl_list_init(&made->cma.hook.link);
    pl_lock_init(&made->cma.lock, PL_RANK_OBJECT, comm->instance->engine.lock.real);
    made->flavor = spec->flavor;
    made->base = spec->base;
    made->size = spec->size;
    made->disp_unit = spec->disp_unit;
    made->disp_unit_int = (int)(spec->disp_unit > INT_MAX ? INT_MAX : spec->disp_unit);
    made->model = MPI_WIN_UNIFIED;
    made->errhandler = pl_errhandler_predefined((uintptr_t)MPI_ERRORS_ARE_FATAL);
    int rc = window_fill(made, comm, spec);
    if (rc && made->comm)
        pl_comm_break_for_all(made->comm, rc);
    if (rc)
        pl_handle_drop(made);
    else
        *win = made;
    return rc;
}

/* --- freeing -------------------------------------------------------------------------------------------------- */

/* Messages no longer find the window, and its pending operations end. */
static void window_detach(struct pl_win *win)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    pl_engine_enter(engine);
    win->comm->win = NULL;
    pl_delegate_close(win);
    pl_rma_drop(win);
    pl_win_remote_fini(win);
    pl_engine_leave(engine);
}

void pl_win_destroy(void *object)
{
    struct pl_win *win = object;
    if (win->comm) {
        if (win->comm->win)
            window_detach(win);
        pl_win_memory_fini(win, false);
        pl_handle_drop(win->comm);
    }
    for (int i = 0; win->targets && i < win->comm->size; i++)
        pl_cma_target_free(&win->targets[i].cma);
    free(win->targets);
    free(win->memory.maps);
    PL_VEC_FINI(&win->dynamic.regions);
    PL_VEC_FINI(&win->dynamic.empty);
    pl_lock_fini(&win->cma.lock);
    pl_object_release(win->epoch.started);
    pl_object_release(win->epoch.exposed);
    pl_object_release(win->errhandler);
    pl_object_release(win->comm);
}

/* A broken window may be freed in any epoch: the user cannot end an epoch with a process that has died. */
static int window_check_free(const struct pl_win *win)
{
    if (atomic_load(&win->comm->health.failed))
        return MPI_SUCCESS;
    switch (atomic_load(&win->epoch.access)) {
    case PL_ACCESS_FENCE:
        if (atomic_load(&win->epoch.fence_used))
            return pl_fail(MPI_ERR_RMA_SYNC, "%s: MPI_Win_fence is missing after the last operations",
                           pl_win_label(win));
        break;
    case PL_ACCESS_START:
        return pl_fail(MPI_ERR_RMA_SYNC, "%s is between MPI_Win_start and MPI_Win_complete", pl_win_label(win));
    case PL_ACCESS_LOCK:
        return pl_fail(MPI_ERR_RMA_SYNC, "%s: MPI_Win_unlock is missing for %d locks", pl_win_label(win),
                       atomic_load(&win->epoch.locks));
    case PL_ACCESS_LOCK_ALL: return pl_fail(MPI_ERR_RMA_SYNC, "%s: MPI_Win_unlock_all is missing", pl_win_label(win));
    default: break;
    }
    if (win->epoch.exposed)
        return pl_fail(MPI_ERR_RMA_SYNC, "%s: MPI_Win_wait is missing after MPI_Win_post", pl_win_label(win));
    return MPI_SUCCESS;
}

int pl_win_free(struct pl_win *win)
{
    int rc = window_check_free(win);
    if (rc == MPI_SUCCESS)
        rc = pl_attrs_delete(&win->attrs, pl_object_handle(win));
    if (atomic_load(&win->obj.handles) <= 0) { /* a callback has freed it */
        pl_attrs_forget(&win->attrs);
        return rc;
    }
    if (rc)
        return rc;
    pl_coll_make_do(win->comm);
    rc = pl_barrier(win->comm);
    pl_win_settle(win);
    window_detach(win);
    pl_win_memory_unmap(win);
    int unmapped = rc == MPI_SUCCESS && win->memory.some_shared && win->comm->size > 1 ? pl_barrier(win->comm) : rc;
    pl_win_memory_fini(win, unmapped == MPI_SUCCESS);
    pl_comm_free(win->comm);
    pl_handle_drop(win);
    return rc;
}

void pl_win_orphan(struct pl_comm *comm)
{
    struct pl_win *win = comm->win;
    if (!win)
        return;
    pl_object_retain(win);
    if (comm->instance->world)
        pl_attrs_discard(&win->attrs, pl_object_handle(win));
    else
        pl_attrs_forget(&win->attrs); /* as for communicators */
    if (comm->win) {                  /* no callback has freed it */
        pl_win_settle(win);
        window_detach(win);
        pl_win_memory_fini(win, false);
    }
    while (atomic_load(&win->obj.handles) > 0)
        pl_handle_drop(win);
    pl_object_release(win);
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

static struct pl_errhandler **win_errhandler(void *object, struct pl_lock **lock)
{
    struct pl_win *win = object;
    *lock = &win->comm->lock;
    return &win->errhandler;
}

static void win_error_name(void *win, char *name, size_t capacity)
{
    pl_comm_name(((struct pl_win *)win)->comm, name, capacity);
}

static int win_job_rank(void *win)
{
    return pl_instance_rank(((struct pl_win *)win)->comm->instance);
}

static PL_NORETURN void win_end(void *win, bool members_only, int code, const char *message)
{
    (void)win, (void)members_only;
    pl_process_abort(code, "window", message);
}

const struct pl_kind_errors pl_win_errors = {
    .slot = win_errhandler,
    .name = win_error_name,
    .rank = win_job_rank,
    .end = win_end,
};
