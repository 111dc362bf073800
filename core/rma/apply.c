/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accumulates on memory at hand, by whoever does them: the origin of a direct one, the target of one by messages.
 *
 * The guard lies in the memory that they share. It is held for one operation, by spinning, since nobody waits for
 * anything while he holds it; one who is dead will not give it back, and it is taken from him.
 */
#include <sched.h>
#include <string.h>

#include "core/base/cpu.h"
#include "core/base/error.h"
#include "core/job/process.h"
#include "core/rma/rma.h"

enum {
    SPINS = 200,       /* before others may run */
    YIELDS_LOOK = 256, /* yields between looks at whether the holder lives */
    CHUNK = 4096,      /* bytes of elements that are brought together at once */
};

/* --- the guard ------------------------------------------------------------------------------------------------ */

bool pl_rma_is_dead(const struct pl_win *win, uint32_t rank)
{
    return rank < (uint32_t)win->comm->size && rank != (uint32_t)win->comm->rank &&
           pl_process_alive(pl_group_proc(win->comm->group, (int)rank)) == MPI_ERR_PROC_ABORTED;
}

static void __attribute__((noinline, cold)) wait_for_acc_lock(struct pl_win *win, struct pl_win_ctl *ctl, uint32_t own)
{
    for (unsigned round = 0;; round++) {
        uint32_t holder = 0;
        if (atomic_load_explicit(&ctl->acc_lock, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_weak_explicit(&ctl->acc_lock, &holder, own, memory_order_acquire,
                                                  memory_order_relaxed))
            return;
        if (round < SPINS) {
            pl_relax();
            continue;
        }
        sched_yield();
        holder = atomic_load_explicit(&ctl->acc_lock, memory_order_relaxed);
        if (round % YIELDS_LOOK == 0 && holder != 0 && pl_rma_is_dead(win, holder - 1) &&
            atomic_compare_exchange_strong_explicit(&ctl->acc_lock, &holder, own, memory_order_acquire,
                                                    memory_order_relaxed))
            return;
    }
}

void pl_rma_take_acc_lock(struct pl_win *win, struct pl_win_ctl *ctl)
{
    uint32_t nobody = 0, own = (uint32_t)win->comm->rank + 1;
    if (!atomic_compare_exchange_strong_explicit(&ctl->acc_lock, &nobody, own, memory_order_acquire,
                                                 memory_order_relaxed))
        wait_for_acc_lock(win, ctl, own);
}

void pl_rma_drop_acc_lock(struct pl_win_ctl *ctl)
{
    atomic_store_explicit(&ctl->acc_lock, 0, memory_order_release);
}

/* --- what it means -------------------------------------------------------------------------------------------- */

static bool apply_is_op(const struct pl_op *op, MPI_Op constant)
{
    return op->obj.predefined && (uintptr_t)op->obj.abi == (uintptr_t)constant;
}

int pl_rma_check_op(const struct pl_op *op, const struct pl_type *type)
{
    char label[MPI_MAX_OBJECT_NAME];
    if (op->user || op->user_c)
        return pl_fail(MPI_ERR_OP, "op is the user's; one-sided communication takes predefined operations only");
    if (!type->element)
        return type->size == 0 ? MPI_SUCCESS
                               : pl_fail(MPI_ERR_TYPE, "%s has elements of several kinds; an accumulate needs one kind",
                                         pl_type_label(type, label));
    return apply_is_op(op, MPI_REPLACE) || apply_is_op(op, MPI_NO_OP) ? MPI_SUCCESS : pl_op_check(op, type->element);
}

bool pl_rma_fits(int64_t at, MPI_Count count, const struct pl_type *type, MPI_Aint size)
{
    MPI_Aint lowest;
    size_t span = pl_type_span(type, count, &lowest);
    int64_t low;
    return span == 0 || (!__builtin_add_overflow(at, (int64_t)lowest, &low) && low >= 0 && low <= size &&
                         span <= (size_t)(size - low));
}

static bool is_aligned(const void *at, const struct pl_type *element)
{
    return element->align <= 1 || (uintptr_t)at % element->align == 0;
}

/* Elements that are not one after the other as the loops want them: a chunk at a time is brought together. */
static void combine_scattered(const struct pl_rma_change *change, struct pl_cursor *memory)
{
    const struct pl_type *element = change->type->element;
    _Alignas(16) char there[CHUNK], here[CHUNK], packed[CHUNK];
    size_t size = (size_t)element->size,
           room = CHUNK / (size_t)(element->extent > element->size ? element->extent : element->size);
    const char *data = change->data;
    struct pl_cursor back = *memory, elements;
    while (memory->done < memory->total) {
        size_t bytes = pl_cursor_pack(memory, packed, room * size);
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
    else if (run && element->dense && is_aligned(run, element) && is_aligned(change->data, element))
        pl_op_apply(change->op, change->data, run, (MPI_Count)(memory.total / (size_t)element->size), element);
    else
        combine_scattered(change, &memory);
}

/* Is what is there what the origin compares with? One element. */
static bool is_equal(const struct pl_rma_change *change)
{
    char there[64];
    struct pl_cursor memory;
    pl_cursor_init(&memory, change->at, 1, change->type);
    size_t bytes = pl_cursor_pack(&memory, there, sizeof there);
    return memcmp(there, change->compare, bytes) == 0;
}

bool pl_rma_change(const struct pl_rma_change *change)
{
    if (change->before) {
        struct pl_cursor memory;
        pl_cursor_init(&memory, change->at, change->count, change->type);
        pl_cursor_pack(&memory, change->before, memory.total);
    }
    bool changes = !apply_is_op(change->op, MPI_NO_OP) && (!change->compare || is_equal(change));
    if (changes)
        apply_combine(change);
    return changes;
}

void pl_rma_apply(struct pl_win *win, struct pl_win_ctl *ctl, const struct pl_rma_change *change)
{
    if (change->count == 0 || change->type->size == 0)
        return;
    pl_rma_take_acc_lock(win, ctl);
    pl_rma_change(change);
    pl_rma_drop_acc_lock(ctl);
}
