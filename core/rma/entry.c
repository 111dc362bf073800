/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations at the target: read, checked, executed. See entry.h. */
#include "core/rma/entry.h"

#include <string.h>

#include "core/base/error.h"
#include "core/datatype/wire.h"
#include "core/rma/accumulate.h"
#include "core/rma/message_send.h"
#include "core/rma/rma.h"

static bool entry_wants_response(const struct pl_rma_entry *entry)
{
    int kind = entry->wire_op.kind;
    return kind == PL_RMA_GET || kind == PL_RMA_GET_ACCUMULATE || kind == PL_RMA_COMPARE_AND_SWAP;
}

void pl_rma_entry_refuse(struct pl_rma_entry *entry, int class)
{
    const struct pl_rma_wire_op *wire_op = &entry->wire_op;
    struct pl_win_fault fault = { .class = class, .at = wire_op->at, .bytes = wire_op->bytes };
    MPI_Aint lowest;
    if (entry->type)
        fault.bytes = pl_type_span(entry->type, (MPI_Count)wire_op->count, &lowest);
    if (entry_wants_response(entry))
        pl_rma_send_control(entry->win, entry->rank, PL_PART_REFUSED, entry->sync_id, &fault, sizeof fault);
    else if (pl_rma_entry_origin(entry)->refused.class == MPI_SUCCESS)
        pl_rma_entry_origin(entry)->refused = fault;
}

int pl_rma_entry_read(struct pl_rma_entry *entry)
{
    struct pl_rma_wire_op *wire_op = &entry->wire_op;
    if (entry->bytes < sizeof *wire_op)
        return MPI_ERR_INTERN;
    memcpy(wire_op, entry->message, sizeof *wire_op);
    size_t rest = entry->bytes - sizeof *wire_op;
    if (wire_op->kind > PL_RMA_COMPARE_AND_SWAP || wire_op->layout > rest || wire_op->count > INT64_MAX)
        return MPI_ERR_INTERN;
    rest -= wire_op->layout;
    if (wire_op->separate ? rest > 0 : rest != wire_op->bytes)
        return MPI_ERR_INTERN;
    if (!wire_op->separate)
        entry->data = entry->message + sizeof *wire_op + wire_op->layout;
    return pl_type_decode(entry->message + sizeof *wire_op, wire_op->layout, &entry->type);
}

/* Does the amount of data match the operation? */
static bool entry_fits_data(const struct pl_rma_wire_op *wire_op, const struct pl_type *type, const struct pl_op *op)
{
    MPI_Count bytes;
    if (__builtin_mul_overflow((MPI_Count)wire_op->count, type->size, &bytes))
        return false;
    if (wire_op->kind == PL_RMA_COMPARE_AND_SWAP)
        return wire_op->count == 1 && type->obj.predefined && wire_op->bytes == 2 * (uint64_t)bytes;
    bool no_op = op && (uintptr_t)op->obj.abi == (uintptr_t)MPI_NO_OP;
    return wire_op->bytes == (wire_op->kind == PL_RMA_GET || (no_op && wire_op->bytes == 0) ? 0 : (uint64_t)bytes);
}

/* Records no detail: the origin has done that, and a label needs locks that may not be taken under the engine lock. */
static bool entry_may_apply(const struct pl_op *op, const struct pl_type *type)
{
    uintptr_t constant = (uintptr_t)op->obj.abi;
    if (!type->element)
        return type->size == 0;
    return constant == (uintptr_t)MPI_REPLACE || constant == (uintptr_t)MPI_NO_OP || pl_op_fits(op, type->element);
}

int pl_rma_entry_check(const struct pl_rma_entry *entry, const struct pl_op **op)
{
    const struct pl_rma_wire_op *wire_op = &entry->wire_op;
    const struct pl_win *win = entry->win;
    if (wire_op->separate && entry->data_bytes != wire_op->bytes)
        return MPI_ERR_INTERN;
    if (wire_op->bytes > 0 && !entry->data && !entry->rndv)
        return MPI_ERR_NO_MEM;
    bool changes = wire_op->kind != PL_RMA_PUT && wire_op->kind != PL_RMA_GET;
    *op = changes ? pl_op_predefined(wire_op->op) : NULL;
    if ((changes && !*op) || !entry_fits_data(wire_op, entry->type, *op))
        return MPI_ERR_INTERN;
    if (changes && !entry_may_apply(*op, entry->type))
        return MPI_ERR_OP;
    MPI_Count count = (MPI_Count)wire_op->count;
    if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return pl_rma_fits(wire_op->at, count, entry->type, win->size) ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
    MPI_Aint lowest;
    size_t span = pl_type_span(entry->type, count, &lowest);
    return span == 0 || pl_win_is_attached(&win->dynamic.regions, (uintptr_t)wire_op->at + (uintptr_t)lowest, span)
               ? MPI_SUCCESS
               : MPI_ERR_RMA_RANGE;
}

char *pl_rma_entry_memory(const struct pl_rma_entry *entry)
{
    bool dynamic = entry->win->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    return pl_address(dynamic ? NULL : entry->win->base, (MPI_Aint)entry->wire_op.at);
}

/* Sends the data of a get straight from the window. */
static int entry_respond_get(struct pl_rma_entry *entry, void (*left)(struct pl_win *win, int rank))
{
    struct pl_rma_send *send = pl_rma_send_make(entry->win, entry->rank, 0);
    if (!send)
        return MPI_ERR_NO_MEM;
    send->type = entry->type->obj.predefined ? NULL : pl_object_retain(entry->type);
    pl_cursor_init(&send->request.out.data, pl_rma_entry_memory(entry), (MPI_Count)entry->wire_op.count, entry->type);
    send->left = left;
    pl_rma_entry_origin(entry)->reading++;
    pl_rma_send(send, PL_PART_RESPONSE, entry->sync_id);
    return MPI_SUCCESS;
}

static int entry_accumulate(struct pl_rma_entry *entry, const struct pl_op *op)
{
    struct pl_win *win = entry->win;
    const struct pl_rma_wire_op *wire_op = &entry->wire_op;
    struct pl_rma_change change = {
        .at = pl_rma_entry_memory(entry),
        .count = (MPI_Count)wire_op->count,
        .type = entry->type,
        .op = op,
        .data = entry->data,
    };
    struct pl_rma_send *response = NULL;
    if (wire_op->kind == PL_RMA_COMPARE_AND_SWAP)
        change.compare = entry->data + entry->type->size;
    if (entry_wants_response(entry)) {
        response = pl_rma_send_make(win, entry->rank, (size_t)wire_op->count * (size_t)entry->type->size);
        if (!response)
            return MPI_ERR_NO_MEM;
        change.before = response->data;
    }
    pl_rma_apply(win, pl_win_own_ctl(win), &change);
    if (response)
        pl_rma_send(response, PL_PART_RESPONSE, entry->sync_id);
    return MPI_SUCCESS;
}

void pl_rma_entry_execute(struct pl_rma_entry *entry, void (*left)(struct pl_win *win, int rank))
{
    const struct pl_op *op;
    int rc = pl_rma_entry_check(entry, &op);
    if (rc == MPI_SUCCESS && entry->wire_op.kind == PL_RMA_PUT) {
        struct pl_cursor memory;
        pl_cursor_init(&memory, pl_rma_entry_memory(entry), (MPI_Count)entry->wire_op.count, entry->type);
        pl_cursor_unpack(&memory, entry->data, memory.total);
    } else if (rc == MPI_SUCCESS) {
        rc = entry->wire_op.kind == PL_RMA_GET ? entry_respond_get(entry, left) : entry_accumulate(entry, op);
    }
    if (rc)
        pl_rma_entry_refuse(entry, rc);
}
