/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of windows: sending them, and what the origin does with answers. Engine lock held in all functions but
 * the last. */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/instance.h"
#include "core/rma/rma.h"

void pl_rma_wake(struct pl_win *win)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    if (atomic_load_explicit(&engine->wait.sleepers, memory_order_relaxed) > 0)
        pl_engine_wake(engine);
}

/* The first one is told. */
static void note_fault(struct pl_win_target *target, const struct pl_win_fault *fault)
{
    if (target->fault.class == MPI_SUCCESS)
        target->fault = *fault;
}

static void complete_user(struct pl_request *user, int error)
{
    if (user)
        pl_request_complete(user, error);
}

/* --- gets ----------------------------------------------------------------------------------------------------- */

/* The operation is over. Its user is told, else the next call that synchronizes. */
static void end_get(struct pl_rma_get *get, const struct pl_win_fault *fault)
{
    struct pl_win *win = get->win;
    win->targets[get->rank].unsent--;
    if (fault->class && !get->user)
        note_fault(&win->targets[get->rank], fault);
    complete_user(get->user, fault->class);
    pl_object_release(get->type);
    free(get);
    pl_rma_wake(win);
}

static struct pl_rma_get *take_get(struct pl_win *win, int rank, int sync_id)
{
    PL_LIST_EACH(get, &win->responses, struct pl_rma_get, link)
        if (get->sync_id == sync_id && get->rank == rank) {
            pl_list_remove(&get->link);
            return get;
        }
    return NULL;
}

/* --- sending -------------------------------------------------------------------------------------------------- */

/* It has not gone out: nor does an answer come. */
static void rma_message_give_up(struct pl_rma_send *send, int error)
{
    const struct pl_header *header = &send->request.out.header;
    const struct pl_win_fault fault = { .class = error };
    struct pl_rma_get *get =
        header->part == PL_PART_OP && header->tag ? take_get(send->win, send->rank, header->tag) : NULL;
    if (get)
        end_get(get, &fault);
    else
        note_fault(&send->win->targets[send->rank], &fault);
}

static void rma_message_sent(struct pl_request *request)
{
    struct pl_rma_send *send = PL_CONTAINER(request, struct pl_rma_send, request);
    struct pl_win *win = send->win;
    int error = request->outcome.error;
    win->moving--;
    if (send->holds_data)
        win->targets[send->rank].unsent--;
    if (error)
        rma_message_give_up(send, error);
    complete_user(send->user, error);
    pl_object_release(send->type);
    free(send);
    pl_rma_wake(win);
}

struct pl_rma_send *pl_rma_send_make(struct pl_win *win, int rank, size_t bytes)
{
    struct pl_rma_send *send = pl_calloc(1, sizeof *send + bytes);
    if (!send)
        return NULL;
    struct pl_request *request = &send->request;
    send->win = win;
    send->rank = rank;
    request->kind = PL_REQ_SEND;
    request->engine = &win->comm->instance->engine;
    request->comm = win->comm;
    request->args.peer_rank = rank;
    request->is.caller_owned = true;
    request->on.completed = rma_message_sent;
    pl_list_init(&request->link);
    pl_cursor_init(&request->out.data, send->data, (MPI_Count)bytes, PL_TYPE_BYTE);
    return send;
}

void pl_rma_send(struct pl_rma_send *send, enum pl_rma_part part, int sync_id)
{
    struct pl_win *win = send->win;
    struct pl_request *request = &send->request;
    request->out.header = (struct pl_header){
        .home = win->comm->id.home,
        .serial = win->comm->id.serial,
        .source = win->comm->rank,
        .tag = sync_id,
        .kind = PL_MSG_RMA,
        .part = (uint16_t)part,
        .size = request->out.data.total,
        .token = ++request->engine->sends.tokens,
    };
    win->moving++;
    if (send->holds_data)
        win->targets[send->rank].unsent++;
    pl_engine_send_to(win->comm, send->rank, request);
}

int pl_rma_send_control(struct pl_win *win, int rank, enum pl_rma_part part, int sync_id, const void *data,
                        size_t bytes)
{
    struct pl_rma_send *send = pl_rma_send_make(win, rank, bytes);
    if (!send)
        return pl_fail_memory("a message of a window");
    if (bytes)
        memcpy(send->data, data, bytes);
    pl_rma_send(send, part, sync_id);
    return MPI_SUCCESS;
}

int pl_rma_request_sync(struct pl_win *win, int rank, enum pl_rma_part part, const void *data, size_t bytes)
{
    struct pl_win_target *target = &win->targets[rank];
    int rc = pl_rma_send_control(win, rank, part, pl_rma_next_sync(win), data, bytes);
    if (rc == MPI_SUCCESS) {
        target->asked++;
        target->dirty = false;
    }
    return rc;
}

/* --- answers -------------------------------------------------------------------------------------------------- */

void pl_rma_answered(struct pl_win *win, int rank, const struct pl_header *header, const void *data)
{
    struct pl_win_target *target = &win->targets[rank];
    struct pl_win_fault fault;
    if (header->size != sizeof fault || target->answered == target->asked)
        return;
    memcpy(&fault, data, sizeof fault);
    if (fault.class)
        note_fault(target, &fault);
    target->answered++;
    pl_rma_wake(win);
}

static void rma_message_fetched(struct pl_request *request)
{
    struct pl_rma_get *get = PL_CONTAINER(request, struct pl_rma_get, request);
    get->win->moving--;
    end_get(get, &(struct pl_win_fault){ .class = request->outcome.error });
}

void pl_rma_responded(struct pl_win *win, int rank, const struct pl_header *header, const void *data,
                      struct pl_rndv *rndv)
{
    struct pl_rma_get *get = take_get(win, rank, header->tag);
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
        get->request.on.completed = rma_message_fetched;
        win->moving++;
        pl_match_fetch(&get->request, header, rndv);
        return;
    }
    if (rndv)
        pl_match_refuse(engine, rndv);
    if (get)
        end_get(get, &fault);
}

void pl_rma_drop_gets(struct pl_win *win)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&win->responses)) != NULL)
        end_get(PL_CONTAINER(node, struct pl_rma_get, link), &(struct pl_win_fault){ .class = MPI_ERR_PROC_ABORTED });
}

void pl_rma_comm_failed(struct pl_comm *comm)
{
    if (comm->win)
        pl_rma_drop_gets(comm->win);
}

int pl_win_take_fault(struct pl_win *win, int rank)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    struct pl_win_target *target = &win->targets[rank];
    pl_engine_enter(engine);
    struct pl_win_fault fault = target->fault;
    target->fault.class = MPI_SUCCESS;
    pl_engine_leave(engine);
    if (fault.class == MPI_ERR_RMA_RANGE)
        return pl_fail(fault.class, "an operation on %llu bytes at %#llx goes to memory that rank %d has not attached",
                       (unsigned long long)fault.bytes, (unsigned long long)fault.at, rank);
    if (fault.class == MPI_ERR_PROC_ABORTED)
        return pl_fail(fault.class, "the process of rank %d in %s is gone", rank, pl_win_label(win));
    if (fault.class)
        return pl_fail(pl_error_class_name(fault.class) ? fault.class : MPI_ERR_INTERN,
                       "rank %d could not do an operation on %s", rank, pl_win_label(win));
    return MPI_SUCCESS;
}
