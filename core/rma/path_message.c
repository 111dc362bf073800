/* SPDX-License-Identifier: BSD-3-Clause */
/* The message path. See path_message.h. */
#include "core/rma/path_message.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/datatype/wire.h"
#include "core/engine/comm_break.h"
#include "core/engine/instance.h"
#include "core/rma/message_response.h"
#include "core/rma/message_send.h"
#include "core/rma/rma.h"
#include "core/rma/window_wait.h"

enum { MESSAGE_INLINE = 8192 }; /* most bytes of data that are copied into the operation message */

/* The messages of one operation. */
struct message_parts {
    struct pl_rma_send *op, *data; /* data NULL: none, or it is part of `op` */
    struct pl_rma_get *get;        /* NULL: no data comes back */
    struct pl_request *user;       /* NULL: none */
};

/* --- making them ---------------------------------------------------------------------------------------------- */

static struct pl_type *message_retain_type(const struct pl_type *type)
{
    return type->obj.predefined ? NULL : pl_object_retain((struct pl_type *)type);
}

static struct pl_rma_get *message_make_get(const struct pl_rma *rma)
{
    struct pl_rma_get *get = pl_calloc(1, sizeof *get);
    if (!get)
        return NULL;
    pl_list_init(&get->link);
    pl_list_init(&get->request.link);
    get->win = rma->win;
    get->rank = rma->target;
    get->type = message_retain_type(rma->result_type);
    pl_cursor_init(&get->request.in.data, rma->result, rma->result_count, rma->result_type);
    return get;
}

static struct pl_rma_send *message_make_op(const struct pl_rma *rma, int64_t offset, const struct pl_type_wire *wire,
                                           struct pl_cursor *data)
{
    struct pl_rma_wire_op wire_op = {
        .kind = (uint8_t)rma->kind,
        .op = rma->op ? (uint8_t)rma->op->obj.abi : 0,
        .separate = data->total > MESSAGE_INLINE,
        .layout = (uint32_t)wire->length,
        .at = offset,
        .count = (uint64_t)rma->count,
        .bytes = data->total + (rma->compare ? (size_t)rma->type->size : 0),
    };
    size_t bytes = wire_op.separate ? 0 : wire_op.bytes;
    struct pl_rma_send *send = pl_rma_send_make(rma->win, rma->target, sizeof wire_op + wire->length + bytes);
    if (!send)
        return NULL;
    unsigned char *to = send->data;
    memcpy(to, &wire_op, sizeof wire_op);
    memcpy(to + sizeof wire_op, wire->bytes, wire->length);
    to += sizeof wire_op + wire->length;
    if (!wire_op.separate)
        to += pl_cursor_pack(data, to, data->total);
    if (rma->compare)
        memcpy(to, rma->compare, (size_t)rma->type->size);
    return send;
}

static struct pl_rma_send *message_make_data(const struct pl_rma *rma, const struct pl_cursor *data)
{
    struct pl_rma_send *send = pl_rma_send_make(rma->win, rma->target, 0);
    if (!send)
        return NULL;
    send->request.out.data = *data;
    send->type = message_retain_type(rma->origin_type);
    send->holds_data = true;
    return send;
}

static void message_drop_parts(struct message_parts *parts)
{
    if (parts->get) {
        pl_object_release(parts->get->type);
        free(parts->get);
    }
    if (parts->data)
        pl_object_release(parts->data->type);
    free(parts->data);
    free(parts->op);
    if (parts->user)
        pl_handle_drop(parts->user);
}

static int message_make_parts(const struct pl_rma *rma, int64_t offset, bool wants_request, struct message_parts *parts)
{
    struct pl_type_wire wire;
    struct pl_cursor data = { .total = 0 };
    int rc = pl_type_encode(rma->type, &wire);
    if (rc)
        return rc;
    if (rma->origin_type)
        pl_cursor_init(&data, rma->origin, rma->origin_count, rma->origin_type);
    bool separate = data.total > MESSAGE_INLINE;
    parts->op = message_make_op(rma, offset, &wire, &data);
    parts->data = separate ? message_make_data(rma, &data) : NULL;
    parts->get = rma->result_type ? message_make_get(rma) : NULL;
    pl_type_wire_drop(&wire);
    if (!parts->op || (separate && !parts->data) || (rma->result_type && !parts->get))
        return pl_fail_memory("a one-sided operation");
    if (!wants_request || (!parts->get && !separate))
        return MPI_SUCCESS;
    parts->user = pl_request_create(PL_REQ_RMA, rma->win->comm, NULL, false);
    if (!parts->user)
        return MPI_ERR_NO_MEM;
    parts->user->args.peer_rank = rma->target;
    parts->user->outcome = (struct pl_outcome)PL_OUTCOME_OF_NOBODY;
    if (parts->get)
        parts->get->user = parts->user;
    else
        parts->data->user = parts->user;
    return MPI_SUCCESS;
}

/* --- operations ----------------------------------------------------------------------------------------------- */

/* In an epoch of MPI_Win_lock_all() the first operation asks for the lock. */
static int message_lock_first(struct pl_win *win, int rank)
{
    struct pl_win_target *target = &win->targets[rank];
    uint32_t type = MPI_LOCK_SHARED;
    if (atomic_load(&win->epoch.access) != PL_ACCESS_LOCK_ALL || win->epoch.unchecked || target->locked)
        return MPI_SUCCESS;
    int rc = pl_rma_send_control(win, rank, PL_PART_LOCK, 0, &type, sizeof type);
    if (rc == MPI_SUCCESS)
        target->locked = MPI_LOCK_SHARED;
    return rc;
}

static int message_send_parts(struct pl_win *win, int rank, const struct message_parts *parts)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    pl_engine_enter(engine);
    int rc = atomic_load(&win->comm->health.failed) ? pl_comm_broken_record(win->comm) : message_lock_first(win, rank);
    if (rc == MPI_SUCCESS) {
        win->targets[rank].msg.dirty = true;
        if (parts->get)
            pl_rma_get_start(parts->get);
        pl_rma_send(parts->op, PL_PART_OP, parts->get ? parts->get->sync_id : 0);
        if (parts->data)
            pl_rma_send(parts->data, PL_PART_DATA, 0);
    }
    pl_engine_leave(engine);
    return rc;
}

/* All kinds of operations. */
static int message_operate(const struct pl_rma *rma, int64_t offset, struct pl_request **request)
{
    struct message_parts parts = { 0 };
    int rc = message_make_parts(rma, offset, request != NULL, &parts);
    struct pl_request *user = parts.user;
    if (rc == MPI_SUCCESS)
        rc = message_send_parts(rma->win, rma->target, &parts);
    if (rc)
        message_drop_parts(&parts);
    else if (request)
        *request = user;
    return rc;
}

/* --- flushes and locks ---------------------------------------------------------------------------------------- */

static bool message_is_synced(struct pl_win *win, int rank)
{
    const struct pl_message_target *target = &win->targets[rank].msg;
    return target->responded == target->requested && target->unsent == 0;
}

static bool message_is_sent(struct pl_win *win, int rank)
{
    return win->targets[rank].msg.unsent == 0;
}

static int message_request_flush(struct pl_win *win, int rank)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    int rc = MPI_SUCCESS;
    pl_engine_enter(engine);
    if (win->targets[rank].msg.dirty)
        rc = pl_rma_request_sync(win, rank, PL_PART_FLUSH, NULL, 0);
    pl_engine_leave(engine);
    return rc;
}

static int message_wait_flush(struct pl_win *win, int rank)
{
    int rc = pl_win_await(win, rank, NULL, message_is_synced), fault = pl_win_take_fault(win, rank);
    return rc ? rc : fault;
}

/* Reports what the target has refused so far: the data of a get that it refused does not come. */
static int message_wait_local(struct pl_win *win, int rank)
{
    int rc = pl_win_await(win, rank, NULL, message_is_sent), fault = pl_win_take_fault(win, rank);
    return rc ? rc : fault;
}

static int message_lock(struct pl_win *win, int rank, int type)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    uint32_t wire_type = (uint32_t)type;
    pl_engine_enter(engine);
    int rc = pl_rma_request_sync(win, rank, PL_PART_LOCK, &wire_type, sizeof wire_type);
    pl_engine_leave(engine);
    return rc ? rc : message_wait_flush(win, rank);
}

/* With MPI_MODE_NOCHECK there is no lock to give up, only operations to complete. */
static int message_unlock(struct pl_win *win, int rank)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    struct pl_win_target *target = &win->targets[rank];
    int rc = MPI_SUCCESS;
    pl_engine_enter(engine);
    if (target->locked || target->msg.dirty)
        rc = pl_rma_request_sync(win, rank, target->locked ? PL_PART_UNLOCK : PL_PART_FLUSH, NULL, 0);
    target->locked = 0;
    pl_engine_leave(engine);
    return rc;
}

const struct pl_rma_path pl_rma_path_message = {
    .name = "message",
    .by_target = true,
    .put = message_operate,
    .get = message_operate,
    .accumulate = message_operate,
    .request_flush = message_request_flush,
    .wait_flush = message_wait_flush,
    .wait_local = message_wait_local,
    .lock = message_lock,
    .unlock = message_unlock,
};
