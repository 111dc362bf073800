/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders at the target. Nothing that comes from an origin is believed: they are checked against the window before
 * memory is touched. */
#include <string.h>

#include "core/datatype/wire.h"
#include "core/base/error.h"
#include "core/rma/entry.h"

static bool wants_reply(const struct pl_rma_entry *entry)
{
    int kind = entry->order.kind;
    return kind == PL_RMA_GET || kind == PL_RMA_GET_ACCUMULATE || kind == PL_RMA_COMPARE_AND_SWAP;
}

void pl_rma_refuse(struct pl_rma_entry *entry, int class)
{
    const struct pl_rma_order *order = &entry->order;
    struct pl_win_fault fault = { .class = class, .at = order->at, .bytes = order->bytes };
    MPI_Aint lowest;
    if (entry->type)
        fault.bytes = pl_type_span(entry->type, (MPI_Count)order->count, &lowest);
    if (wants_reply(entry))
        pl_rma_say(entry->win, entry->rank, PL_PART_REFUSED, entry->ask, &fault, sizeof fault);
    else if (pl_rma_origin_of(entry)->refused.class == MPI_SUCCESS)
        pl_rma_origin_of(entry)->refused = fault;
}

int pl_rma_read_order(struct pl_rma_entry *entry)
{
    struct pl_rma_order *order = &entry->order;
    if (entry->bytes < sizeof *order)
        return MPI_ERR_INTERN;
    memcpy(order, entry->message, sizeof *order);
    size_t rest = entry->bytes - sizeof *order;
    if (order->kind > PL_RMA_COMPARE_AND_SWAP || order->layout > rest || order->count > INT64_MAX)
        return MPI_ERR_INTERN;
    rest -= order->layout;
    if (order->apart ? rest > 0 : rest != order->bytes)
        return MPI_ERR_INTERN;
    if (!order->apart)
        entry->data = entry->message + sizeof *order + order->layout;
    return pl_type_decode(entry->message + sizeof *order, order->layout, &entry->type);
}

/* Is there as much data as the operation needs? */
static bool fits_data(const struct pl_rma_order *order, const struct pl_type *type, const struct pl_op *op)
{
    MPI_Count bytes;
    if (__builtin_mul_overflow((MPI_Count)order->count, type->size, &bytes))
        return false;
    if (order->kind == PL_RMA_COMPARE_AND_SWAP)
        return order->count == 1 && type->obj.predefined && order->bytes == 2 * (uint64_t)bytes;
    bool no_op = op && (uintptr_t)op->obj.abi == (uintptr_t)MPI_NO_OP;
    return order->bytes == (order->kind == PL_RMA_GET || (no_op && order->bytes == 0) ? 0 : (uint64_t)bytes);
}

/* The origin has said why not; names are not looked at under the engine's lock. */
static bool may_apply(const struct pl_op *op, const struct pl_type *type)
{
    uintptr_t constant = (uintptr_t)op->obj.abi;
    if (!type->element)
        return type->size == 0;
    return constant == (uintptr_t)MPI_REPLACE || constant == (uintptr_t)MPI_NO_OP || pl_op_fits(op, type->element);
}

int pl_rma_check_order(const struct pl_rma_entry *entry, const struct pl_op **op)
{
    const struct pl_rma_order *order = &entry->order;
    const struct pl_win *win = entry->win;
    if (order->apart && entry->data_bytes != order->bytes)
        return MPI_ERR_INTERN;
    if (order->bytes > 0 && !entry->data && !entry->bulk)
        return MPI_ERR_NO_MEM;
    bool changes = order->kind != PL_RMA_PUT && order->kind != PL_RMA_GET;
    *op = changes ? pl_op_predefined(order->op) : NULL;
    if ((changes && !*op) || !fits_data(order, entry->type, *op))
        return MPI_ERR_INTERN;
    if (changes && !may_apply(*op, entry->type))
        return MPI_ERR_OP;
    MPI_Count count = (MPI_Count)order->count;
    if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return pl_rma_fits(order->at, count, entry->type, win->size) ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
    MPI_Aint lowest;
    size_t span = pl_type_span(entry->type, count, &lowest);
    return span == 0 || pl_win_is_attached(&win->regions, (uintptr_t)order->at + (uintptr_t)lowest, span)
               ? MPI_SUCCESS
               : MPI_ERR_RMA_RANGE;
}

char *pl_rma_memory_of(const struct pl_rma_entry *entry)
{
    bool dynamic = entry->win->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    return pl_address(dynamic ? NULL : entry->win->base, (MPI_Aint)entry->order.at);
}

/* The reply to a get: straight from the window. */
static int reply_memory(struct pl_rma_entry *entry)
{
    struct pl_rma_send *send = pl_rma_send_make(entry->win, entry->rank, 0);
    if (!send)
        return MPI_ERR_NO_MEM;
    send->type = entry->type->obj.predefined ? NULL : pl_object_retain(entry->type);
    pl_cursor_init(&send->request.out.data, pl_rma_memory_of(entry), (MPI_Count)entry->order.count, entry->type);
    pl_rma_send(send, PL_PART_REPLY, entry->ask);
    return MPI_SUCCESS;
}

static int change(struct pl_rma_entry *entry, const struct pl_op *op)
{
    struct pl_win *win = entry->win;
    const struct pl_rma_order *order = &entry->order;
    struct pl_rma_change wanted = {
        .at = pl_rma_memory_of(entry),
        .count = (MPI_Count)order->count,
        .type = entry->type,
        .op = op,
        .data = entry->data,
    };
    struct pl_rma_send *reply = NULL;
    if (order->kind == PL_RMA_COMPARE_AND_SWAP)
        wanted.compare = entry->data + entry->type->size;
    if (wants_reply(entry)) {
        reply = pl_rma_send_make(win, entry->rank, (size_t)order->count * (size_t)entry->type->size);
        if (!reply)
            return MPI_ERR_NO_MEM;
        wanted.before = reply->data;
    }
    pl_rma_apply(win, pl_rma_own_cell(win), &wanted);
    if (reply)
        pl_rma_send(reply, PL_PART_REPLY, entry->ask);
    return MPI_SUCCESS;
}

void pl_rma_do_order(struct pl_rma_entry *entry)
{
    const struct pl_op *op;
    int rc = pl_rma_check_order(entry, &op);
    if (rc == MPI_SUCCESS && entry->order.kind == PL_RMA_PUT) {
        struct pl_cursor memory;
        pl_cursor_init(&memory, pl_rma_memory_of(entry), (MPI_Count)entry->order.count, entry->type);
        pl_cursor_unpack(&memory, entry->data, memory.total);
    } else if (rc == MPI_SUCCESS) {
        rc = entry->order.kind == PL_RMA_GET ? reply_memory(entry) : change(entry, op);
    }
    if (rc)
        pl_rma_refuse(entry, rc);
}
