/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulates on mapped memory. See accumulate.h. */
#include "core/rma/accumulate.h"

#include <string.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/rma/rma.h"

enum { APPLY_CHUNK = 4096 }; /* bytes of elements that are gathered at a time */

static bool apply_is_op(const struct pl_op *op, MPI_Op constant)
{
    return op->obj.predefined && (uintptr_t)op->obj.abi == (uintptr_t)constant;
}

int pl_rma_check_op(const struct pl_op *op, const struct pl_type *type)
{
    char label[MPI_MAX_OBJECT_NAME];
    if (pl_op_is_user(op))
        return pl_fail(MPI_ERR_OP, "op is user-defined; one-sided communication takes predefined operations only");
    if (!type->element)
        return type->size == 0 ? MPI_SUCCESS
                               : pl_fail(MPI_ERR_TYPE, "%s has elements of several types; an accumulate takes one type",
                                         pl_type_label(type, label));
    return apply_is_op(op, MPI_REPLACE) || apply_is_op(op, MPI_NO_OP) ? MPI_SUCCESS : pl_op_check(op, type->element);
}

/* --- from an operation ---------------------------------------------------------------------------------------- */

static int change_pack_data(const struct pl_rma *rma, struct pl_rma_change *change)
{
    struct pl_cursor cursor;
    pl_cursor_init(&cursor, rma->origin, rma->origin_count, rma->origin_type);
    change->data = pl_cursor_direct(&cursor);
    if (change->data || cursor.total == 0)
        return MPI_SUCCESS;
    change->data = change->data_copy = pl_malloc(cursor.total);
    if (!change->data_copy)
        return pl_fail_memory("the data of a one-sided operation");
    pl_cursor_pack(&cursor, change->data_copy, cursor.total);
    return MPI_SUCCESS;
}

int pl_rma_change_open(const struct pl_rma *rma, char *at, struct pl_rma_change *change)
{
    *change = (struct pl_rma_change){
        .at = at, .count = rma->count, .type = rma->type, .op = rma->op, .compare = rma->compare
    };
    int rc = rma->origin_type ? change_pack_data(rma, change) : MPI_SUCCESS;
    if (rc || !rma->result_type)
        return rc;
    struct pl_cursor result;
    pl_cursor_init(&result, rma->result, rma->result_count, rma->result_type);
    change->before = pl_cursor_direct(&result);
    if (change->before || result.total == 0)
        return MPI_SUCCESS;
    change->before = change->before_copy = pl_malloc(result.total);
    return change->before ? MPI_SUCCESS : pl_fail_memory("the result of a one-sided operation");
}

int pl_rma_change_free(const struct pl_rma *rma, struct pl_rma_change *change, int rc)
{
    if (change->before_copy && rc == MPI_SUCCESS) {
        struct pl_cursor result;
        pl_cursor_init(&result, rma->result, rma->result_count, rma->result_type);
        pl_cursor_unpack(&result, change->before_copy, result.total);
    }
    free(change->data_copy);
    free(change->before_copy);
    return rc;
}

/* --- the elements --------------------------------------------------------------------------------------------- */

static bool apply_is_aligned(const void *at, const struct pl_type *element)
{
    return element->align <= 1 || (uintptr_t)at % element->align == 0;
}

/* For elements with gaps or without alignment, which the operation's loops do not take: gathers a chunk at a time. */
static void apply_combine_scattered(const struct pl_rma_change *change, struct pl_cursor *memory)
{
    const struct pl_type *element = change->type->element;
    _Alignas(16) char there[APPLY_CHUNK], here[APPLY_CHUNK], packed[APPLY_CHUNK];
    size_t size = (size_t)element->size,
           most = APPLY_CHUNK / (size_t)(element->extent > element->size ? element->extent : element->size);
    const char *data = change->data;
    struct pl_cursor back = *memory, elements;
    while (memory->done < memory->total) {
        size_t bytes = pl_cursor_pack(memory, packed, most * size);
        MPI_Count count = (MPI_Count)(bytes / size);
        pl_cursor_init(&elements, there, count, element);
        pl_cursor_unpack(&elements, packed, bytes);
        pl_cursor_init(&elements, here, count, element);
        pl_cursor_unpack(&elements, data, bytes);
        pl_op_apply(change->op, here, there, count, element);
        pl_cursor_init(&elements, there, count, element);
        pl_cursor_pack(&elements, packed, bytes);
        pl_cursor_unpack(&back, packed, bytes);
        data += bytes;
    }
}

static void apply_combine(const struct pl_rma_change *change)
{
    const struct pl_type *element = change->type->element;
    struct pl_cursor memory;
    pl_cursor_init(&memory, change->at, change->count, change->type);
    char *run = pl_cursor_direct(&memory);
    if (apply_is_op(change->op, MPI_REPLACE))
        pl_cursor_unpack(&memory, change->data, memory.total);
    else if (run && element->dense && apply_is_aligned(run, element) && apply_is_aligned(change->data, element))
        pl_op_apply(change->op, change->data, run, (MPI_Count)(memory.total / (size_t)element->size), element);
    else
        apply_combine_scattered(change, &memory);
}

static bool apply_compare(const struct pl_rma_change *change)
{
    char there[64]; /* one predefined element */
    struct pl_cursor memory;
    pl_cursor_init(&memory, change->at, 1, change->type);
    size_t bytes = pl_cursor_pack(&memory, there, sizeof there);
    return memcmp(there, change->compare, bytes) == 0;
}

static inline bool apply_change(const struct pl_rma_change *change)
{
    if (pl_unlikely(change->before)) {
        struct pl_cursor memory;
        pl_cursor_init(&memory, change->at, change->count, change->type);
        pl_cursor_pack(&memory, change->before, memory.total);
    }
    bool changes = !apply_is_op(change->op, MPI_NO_OP) && (!change->compare || apply_compare(change));
    if (changes)
        apply_combine(change);
    return changes;
}

bool pl_rma_apply_locked(const struct pl_rma_change *change)
{
    return apply_change(change);
}

void pl_rma_apply(struct pl_win *win, struct pl_win_ctl *ctl, const struct pl_rma_change *change)
{
    if (change->count == 0 || change->type->size == 0)
        return;
    pl_win_ctl_lock_acc(win, ctl);
    apply_change(change);
    pl_win_ctl_unlock_acc(ctl);
}
