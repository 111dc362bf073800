/* SPDX-License-Identifier: BSD-3-Clause */
/* Responses to this origin's messages. See message_response.h. */
#include "core/rma/message_response.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "core/rma/message_send.h"
#include "core/rma/window.h"
#include "core/rma/window_wait.h"

/* --- faults --------------------------------------------------------------------------------------------------- */

void pl_win_note_fault(struct pl_win *win, int rank, const struct pl_win_fault *fault)
{
    struct pl_message_target *target = &win->targets[rank].msg;
    if (target->fault.class == MPI_SUCCESS)
        target->fault = *fault;
}

int pl_win_take_fault(struct pl_win *win, int rank)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    struct pl_message_target *target = &win->targets[rank].msg;
    pl_engine_enter(engine);
    struct pl_win_fault fault = target->fault;
    target->fault.class = MPI_SUCCESS;
    pl_engine_leave(engine);
    if (fault.class == MPI_ERR_RMA_RANGE)
        return pl_fail(fault.class, "an operation on %llu bytes at %#llx exceeds the memory that rank %d has attached",
                       (unsigned long long)fault.bytes, (unsigned long long)fault.at, rank);
    if (fault.class == MPI_ERR_PROC_ABORTED)
        return pl_fail(fault.class, "the process of rank %d in %s has ended", rank, pl_win_label(win));
    if (fault.class)
        return pl_fail(pl_error_class_name(fault.class) ? fault.class : MPI_ERR_INTERN,
                       "rank %d could not execute an operation on %s", rank, pl_win_label(win));
    return MPI_SUCCESS;
}

/* --- operations that wait for data ---------------------------------------------------------------------------- */

void pl_rma_get_start(struct pl_rma_get *get)
{
    struct pl_win *win = get->win;
    get->sync_id = pl_rma_next_sync(win);
    win->targets[get->rank].msg.unsent++;
    pl_list_append(&win->msg.gets, &get->link);
}

/* Reports the error through the user's request, or else through the next synchronizing call. */
static void get_complete(struct pl_rma_get *get, const struct pl_win_fault *fault)
{
    struct pl_win *win = get->win;
    win->targets[get->rank].msg.unsent--;
    if (get->user)
        pl_request_complete(get->user, fault->class);
    else if (fault->class)
        pl_win_note_fault(win, get->rank, fault);
    pl_object_release(get->type);
    free(get);
    pl_win_wake(win);
}

static struct pl_rma_get *get_take(struct pl_win *win, int rank, int sync_id)
{
    PL_LIST_EACH(get, &win->msg.gets, struct pl_rma_get, link)
        if (get->sync_id == sync_id && get->rank == rank) {
            pl_list_remove(&get->link);
            return get;
        }
    return NULL;
}

bool pl_rma_get_end(struct pl_win *win, int rank, int sync_id, const struct pl_win_fault *fault)
{
    struct pl_rma_get *get = get_take(win, rank, sync_id);
    if (get)
        get_complete(get, fault);
    return get != NULL;
}

void pl_rma_drop_gets(struct pl_win *win)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&win->msg.gets)) != NULL)
        get_complete(PL_CONTAINER(node, struct pl_rma_get, link),
                     &(struct pl_win_fault){ .class = MPI_ERR_PROC_ABORTED });
}

void pl_rma_comm_failed(struct pl_comm *comm)
{
    if (comm->win)
        pl_rma_drop_gets(comm->win);
}

/* --- responses ------------------------------------------------------------------------------------------------ */

void pl_rma_synced(struct pl_win *win, int rank, const struct pl_header *header, const void *data)
{
    struct pl_message_target *target = &win->targets[rank].msg;
    struct pl_win_fault fault;
    if (header->size != sizeof fault || target->responded == target->requested)
        return;
    memcpy(&fault, data, sizeof fault);
    if (fault.class)
        pl_win_note_fault(win, rank, &fault);
    target->responded++;
    pl_win_wake(win);
}

static void get_fetched(struct pl_request *request)
{
    struct pl_rma_get *get = PL_CONTAINER(request, struct pl_rma_get, request);
    get->win->msg.in_flight--;
    get_complete(get, &(struct pl_win_fault){ .class = request->outcome.error });
}

void pl_rma_responded(struct pl_win *win, int rank, const struct pl_header *header, const void *data,
                      struct pl_rndv *rndv)
{
    struct pl_rma_get *get = get_take(win, rank, header->tag);
    struct pl_win_fault fault = { .class = MPI_SUCCESS };
    struct pl_engine *engine = &win->comm->instance->engine;
    if (get && header->part == PL_PART_REFUSED) {
        fault.class = MPI_ERR_INTERN;
        if (!rndv && header->size == sizeof fault)
            memcpy(&fault, data, sizeof fault);
    } else if (get && header->size != get->request.in.data.total) {
        fault.class = MPI_ERR_INTERN;
    } else if (get && !rndv) {
        pl_cursor_unpack(&get->request.in.data, data, header->size);
    } else if (get) {
        get->request.engine = engine;
        get->request.is.caller_owned = true;
        get->request.on.completed = get_fetched;
        win->msg.in_flight++;
        pl_match_fetch(&get->request, header, rndv);
        return;
    }
    if (rndv)
        pl_match_refuse(engine, rndv);
    if (get)
        get_complete(get, &fault);
}
