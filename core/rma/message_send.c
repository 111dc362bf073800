/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending the messages of a window. See message_send.h. */
#include "core/rma/message_send.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/comm_break.h"
#include "core/engine/instance.h"
#include "core/rma/message_response.h"
#include "core/rma/window.h"
#include "core/rma/window_wait.h"

/* The message has not gone out, so no response comes either. */
static void message_send_failed(struct pl_rma_send *send, int error)
{
    const struct pl_header *header = &send->request.out.header;
    const struct pl_win_fault fault = { .class = error };
    bool get = header->part == PL_PART_OP && header->tag != 0;
    if (!get || !pl_rma_get_end(send->win, send->rank, header->tag, &fault))
        pl_win_note_fault(send->win, send->rank, &fault);
}

static void message_sent(struct pl_request *request)
{
    struct pl_rma_send *send = PL_CONTAINER(request, struct pl_rma_send, request);
    struct pl_win *win = send->win;
    void (*left)(struct pl_win * win, int rank) = send->left;
    int rank = send->rank, error = request->outcome.error;
    win->msg.in_flight--;
    if (send->holds_data)
        win->targets[send->rank].msg.unsent--;
    if (error)
        message_send_failed(send, error);
    if (send->user)
        pl_request_complete(send->user, error);
    pl_object_release(send->type);
    free(send);
    if (left)
        left(win, rank);
    pl_win_wake(win);
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
    request->on.completed = message_sent;
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
    win->msg.in_flight++;
    if (send->holds_data)
        win->targets[send->rank].msg.unsent++;
    pl_engine_send_to(win->comm, send->rank, request);
}

int pl_rma_send_control(struct pl_win *win, int rank, enum pl_rma_part part, int sync_id, const void *data,
                        size_t bytes)
{
    struct pl_rma_send *send = pl_rma_send_make(win, rank, bytes);
    if (!send) { /* its receiver waits for it */
        pl_comm_break_for_all_locked(win->comm, MPI_ERR_NO_MEM, "out of memory for a message of a window");
        return pl_fail_memory("a message of a window");
    }
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
        target->msg.requested++;
        target->msg.dirty = false;
    }
    return rc;
}

int pl_rma_next_sync(struct pl_win *win)
{
    win->msg.syncs = win->msg.syncs % INT32_MAX + 1;
    return (int)win->msg.syncs;
}
