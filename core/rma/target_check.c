/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders at the target. Nothing that comes from an origin is believed: they are checked against the window before
 * memory is touched. */
#include <string.h>

#include "core/base/error.h"
#include "core/datatype/wire.h"
#include "core/rma/entry.h"

static bool wants_reply(const struct pl_rma_entry *entry)
{
    int kind = entry->wire_op.kind;
    return kind == PL_RMA_GET || kind == PL_RMA_GET_ACCUMULATE || kind == PL_RMA_COMPARE_AND_SWAP;
}

void pl_rma_refuse(struct pl_rma_entry *entry, int class)
{
    const struct pl_rma_wire_op *wire_op = &entry->wire_op;
    struct pl_win_fault fault = { .class = class, .at = wire_op->at, .bytes = wire_op->bytes };
    MPI_Aint lowest;
    if (entry->type)
        fault.bytes = pl_type_span(entry->type, (MPI_Count)wire_op->count, &lowest);
    if (wants_reply(entry))
        pl_rma_send_control(entry->win, entry->rank, PL_PART_REFUSED, entry->sync_id, &fault, sizeof fault);
    else if (pl_rma_origin_of(entry)->refused.class == MPI_SUCCESS)
        pl_rma_origin_of(entry)->refused = fault;
}

int pl_rma_read_wire_op(struct pl_rma_entry *entry)
{
    struct pl_rma_wire_op *wire_op = &entry->wire_op;
    if (entry->bytes < sizeof *wire_op)
        return MPI_ERR_INTERN;
    memcpy(wire_op, entry->message, sizeof *wire_op);
    size_t rest = entry->bytes - sizeof *wire_op;
    if (wire_op->kind > PL_RMA_COMPARE_AND_SWAP || wire_op->layout > rest || wire_op->count > INT64_MAX)
        return MPI_ERR_INTERN;
    rest -= wire_op->layout;
    if (wire_op->apart ? rest > 0 : rest != wire_op->bytes)
        return MPI_ERR_INTERN;
    if (!wire_op->apart)
        entry->data = entry->message + sizeof *wire_op + wire_op->layout;
    return pl_type_decode(entry->message + sizeof *wire_op, wire_op->layout, &entry->type);
}

/* Is there as much data as the operation needs? */
static bool fits_data(const struct pl_rma_wire_op *wire_op, const struct pl_type *type, const struct pl_op *op)
{
    MPI_Count bytes;
    if (__builtin_mul_overflow((MPI_Count)wire_op->count, type->size, &bytes))
        return false;
    if (wire_op->kind == PL_RMA_COMPARE_AND_SWAP)
        return wire_op->count == 1 && type->obj.predefined && wire_op->bytes == 2 * (uint64_t)bytes;
    bool no_op = op && (uintptr_t)op->obj.abi == (uintptr_t)MPI_NO_OP;
    return wire_op->bytes == (wire_op->kind == PL_RMA_GET || (no_op && wire_op->bytes == 0) ? 0 : (uint64_t)bytes);
}

/* The origin has said why not; names are not looked at under the engine's lock. */
static bool may_apply(const struct pl_op *op, const struct pl_type *type)
{
    uintptr_t constant = (uintptr_t)op->obj.abi;
    if (!type->element)
        return type->size == 0;
    return constant == (uintptr_t)MPI_REPLACE || constant == (uintptr_t)MPI_NO_OP || pl_op_fits(op, type->element);
}

int pl_rma_check_wire_op(const struct pl_rma_entry *entry, const struct pl_op **op)
{
    const struct pl_rma_wire_op *wire_op = &entry->wire_op;
    const struct pl_win *win = entry->win;
    if (wire_op->apart && entry->data_bytes != wire_op->bytes)
        return MPI_ERR_INTERN;
    if (wire_op->bytes > 0 && !entry->data && !entry->rndv)
        return MPI_ERR_NO_MEM;
    bool changes = wire_op->kind != PL_RMA_PUT && wire_op->kind != PL_RMA_GET;
    *op = changes ? pl_op_predefined(wire_op->op) : NULL;
    if ((changes && !*op) || !fits_data(wire_op, entry->type, *op))
        return MPI_ERR_INTERN;
    if (changes && !may_apply(*op, entry->type))
        return MPI_ERR_OP;
    MPI_Count count = (MPI_Count)wire_op->count;
    if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return pl_rma_fits(wire_op->at, count, entry->type, win->size) ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
    MPI_Aint lowest;
    size_t span = pl_type_span(entry->type, count, &lowest);
    return span == 0 || pl_win_is_attached(&win->regions, (uintptr_t)wire_op->at + (uintptr_t)lowest, span)
               ? MPI_SUCCESS
               : MPI_ERR_RMA_RANGE;
}

char *pl_rma_memory_of(const struct pl_rma_entry *entry)
{
    bool dynamic = entry->win->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    return pl_address(dynamic ? NULL : entry->win->base, (MPI_Aint)entry->wire_op.at);
}

/* The reply to a get: straight from the window. */
static int reply_memory(struct pl_rma_entry *entry)
{
    struct pl_rma_send *send = pl_rma_send_make(entry->win, entry->rank, 0);
    if (!send)
        return MPI_ERR_NO_MEM;
    send->type = entry->type->obj.predefined ? NULL : pl_object_retain(entry->type);
    pl_cursor_init(&send->request.out.data, pl_rma_memory_of(entry), (MPI_Count)entry->wire_op.count, entry->type);
    pl_rma_send(send, PL_PART_RESPONSE, entry->sync_id);
    return MPI_SUCCESS;
}

static int target_check_change(struct pl_rma_entry *entry, const struct pl_op *op)
{
    struct pl_win *win = entry->win;
    const struct pl_rma_wire_op *wire_op = &entry->wire_op;
    struct pl_rma_change wanted = {
        .at = pl_rma_memory_of(entry),
        .count = (MPI_Count)wire_op->count,
        .type = entry->type,
        .op = op,
        .data = entry->data,
    };
    struct pl_rma_send *response = NULL;
    if (wire_op->kind == PL_RMA_COMPARE_AND_SWAP)
        wanted.compare = entry->data + entry->type->size;
    if (wants_reply(entry)) {
        response = pl_rma_send_make(win, entry->rank, (size_t)wire_op->count * (size_t)entry->type->size);
        if (!response)
            return MPI_ERR_NO_MEM;
        wanted.before = response->data;
    }
    pl_rma_apply(win, pl_rma_own_ctl(win), &wanted);
    if (response)
        pl_rma_send(response, PL_PART_RESPONSE, entry->sync_id);
    return MPI_SUCCESS;
}

void pl_rma_do_wire_op(struct pl_rma_entry *entry)
{
    const struct pl_op *op;
    int rc = pl_rma_check_wire_op(entry, &op);
    if (rc == MPI_SUCCESS && entry->wire_op.kind == PL_RMA_PUT) {
        struct pl_cursor memory;
        pl_cursor_init(&memory, pl_rma_memory_of(entry), (MPI_Count)entry->wire_op.count, entry->type);
        pl_cursor_unpack(&memory, entry->data, memory.total);
    } else if (rc == MPI_SUCCESS) {
        rc = entry->wire_op.kind == PL_RMA_GET ? reply_memory(entry) : target_check_change(entry, op);
    }
    if (rc)
        pl_rma_refuse(entry, rc);
}
