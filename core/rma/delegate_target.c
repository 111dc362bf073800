/* SPDX-License-Identifier: BSD-3-Clause */
/* The target of delegated operations. See delegate_target.h. */
#include "core/rma/delegate_target.h"

#include <string.h>

#include "core/base/shared.h"
#include "core/datatype/wire.h"
#include "core/engine/instance.h"
#include "core/rma/accumulate.h"
#include "core/rma/delegate_slot.h"
#include "core/rma/entry.h"
#include "core/rma/rma.h"

static bool delegated_is_inside(const struct pl_win *win, const struct pl_delegated_run *run)
{
    uint64_t at = run->at - (uint64_t)(uintptr_t)win->base;
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return pl_win_is_attached(&win->dynamic.regions, (uintptr_t)run->at, run->bytes);
    return at <= (uint64_t)win->size && run->bytes <= (uint64_t)win->size - at;
}

/* Executes a put or a get with runs: all of it, or nothing. */
static bool delegated_copy_runs(struct pl_win *win, struct pl_delegated *slot, const struct pl_delegated_head *head)
{
    struct pl_delegated_run run[PL_DELEGATED_RUNS];
    unsigned char *data = pl_delegate_data(slot, head);
    uint64_t left = PL_DELEGATED_BYTES;
    int runs = head->runs;
    pl_copy_shared(run, slot->body, (size_t)runs * sizeof *run);
    for (int i = 0; i < runs; i++) {
        if (run[i].bytes > left || !delegated_is_inside(win, &run[i]))
            return false;
        left -= run[i].bytes;
    }
    for (int i = 0; i < runs; i++) {
        void *memory = (void *)(uintptr_t)run[i].at;
        if (head->kind == PL_RMA_PUT)
            memcpy(memory, data, run[i].bytes);
        else
            memcpy(data, memory, run[i].bytes);
        data += run[i].bytes;
    }
    return true;
}

/* May the operation be executed on `count` elements at one address? Fills in the entry. *op: as of
 * pl_rma_entry_check(). */
static bool delegated_check(struct pl_rma_entry *entry, const struct pl_delegated_head *head, uint64_t at,
                            uint64_t count, const unsigned char *data, const struct pl_op **op)
{
    const struct pl_win *win = entry->win;
    bool has_data = head->bytes > 0 && head->kind != PL_RMA_GET;
    MPI_Count bytes;
    if (count > INT64_MAX || __builtin_mul_overflow((MPI_Count)count, entry->type->size, &bytes))
        return false;
    entry->data = has_data ? data : NULL;
    entry->wire_op = (struct pl_rma_wire_op){
        .kind = head->kind,
        .op = head->op,
        .at = (int64_t)(at - (win->flavor == MPI_WIN_FLAVOR_DYNAMIC ? 0 : (uint64_t)(uintptr_t)win->base)),
        .count = count,
        .bytes = !has_data ? 0 : (uint64_t)bytes * (head->kind == PL_RMA_COMPARE_AND_SWAP ? 2 : 1),
    };
    return pl_rma_entry_check(entry, op) == MPI_SUCCESS;
}

/* Accumulates `bytes` packed bytes of elements at one address. */
static bool delegated_change(struct pl_rma_entry *entry, const struct pl_delegated_head *head, uint64_t at,
                             uint64_t bytes, const unsigned char *data, void *before)
{
    const struct pl_op *op;
    if (entry->type->size <= 0 || bytes > PL_DELEGATED_RESULT ||
        !delegated_check(entry, head, at, bytes / (uint64_t)entry->type->size, data, &op))
        return false;
    struct pl_rma_change change = {
        .at = pl_rma_entry_memory(entry),
        .count = (MPI_Count)entry->wire_op.count,
        .type = entry->type,
        .op = op,
        .data = entry->data,
        .compare = head->kind == PL_RMA_COMPARE_AND_SWAP ? data + bytes : NULL,
        .before = before,
    };
    pl_rma_apply(entry->win, pl_win_own_ctl(entry->win), &change);
    return true;
}

static bool delegated_change_runs(struct pl_win *win, struct pl_delegated *slot, const struct pl_delegated_head *head)
{
    struct pl_rma_entry entry = { .win = win, .type = pl_type_predefined(head->type) };
    struct pl_delegated_run run;
    unsigned char *data = pl_delegate_data(slot, head);
    size_t done = 0, bytes = head->bytes;
    bool good = bytes <= PL_DELEGATED_RESULT && entry.type && entry.type->dense;
    for (int i = 0; i < head->runs && good; i++, done += run.bytes) {
        pl_copy_shared(&run, slot->body + (size_t)i * sizeof run, sizeof run);
        good = run.bytes <= PL_DELEGATED_RESULT - done && delegated_change(&entry, head, run.at, run.bytes, data + done,
                                                                           head->result ? data + bytes + done : NULL);
    }
    return good;
}

/* Executes what has one address and a datatype: a whole accumulate, or a part of a put or get. */
static bool delegated_execute_layout(struct pl_win *win, struct pl_delegated *slot,
                                     const struct pl_delegated_head *head)
{
    struct pl_rma_entry entry = { .win = win };
    unsigned char layout[PL_DELEGATED_HEAD];
    size_t bytes = head->bytes, start = head->start;
    if (head->layout > sizeof layout || bytes > PL_DELEGATED_BYTES)
        return false;
    unsigned char *data = pl_delegate_data(slot, head);
    pl_copy_shared(layout, slot->body, head->layout);
    if (pl_type_decode(layout, head->layout, &entry.type))
        return false;
    const struct pl_op *op;
    bool good = false;
    if (head->kind > PL_RMA_GET) {
        good = bytes <= PL_DELEGATED_RESULT && head->count <= PL_DELEGATED_RESULT &&
               delegated_change(&entry, head, head->at, head->count * (uint64_t)entry.type->size, data,
                                head->result ? data + bytes : NULL);
    } else if (delegated_check(&entry, head, head->at, head->count, data, &op)) {
        struct pl_cursor memory;
        pl_cursor_init(&memory, pl_rma_entry_memory(&entry), (MPI_Count)entry.wire_op.count, entry.type);
        good = bytes <= memory.total && start <= memory.total - bytes;
        pl_cursor_seek(&memory, good ? start : 0);
        if (good && entry.wire_op.kind == PL_RMA_PUT)
            pl_cursor_unpack(&memory, data, bytes);
        else if (good)
            pl_cursor_pack(&memory, data, bytes);
    }
    pl_object_release(entry.type);
    return good;
}

static int delegated_execute(struct pl_win *win, struct pl_delegated *slot)
{
    uint32_t made = pl_delegated_made(win->comm->rank);
    if (atomic_load_explicit(&slot->state, memory_order_relaxed) != made ||
        !atomic_compare_exchange_strong_explicit(&slot->state, &made, PL_DELEGATED_TAKEN, memory_order_acquire,
                                                 memory_order_relaxed))
        return 0;
    struct pl_delegated_head head;
    pl_copy_shared(&head, &slot->head, sizeof head);
    bool good = head.runs <= PL_DELEGATED_RUNS && (head.runs == 0 ? delegated_execute_layout(win, slot, &head)
                                                   : head.kind <= PL_RMA_GET ? delegated_copy_runs(win, slot, &head)
                                                                             : delegated_change_runs(win, slot, &head));
    atomic_store_explicit(&slot->state, good ? PL_DELEGATED_DONE : PL_DELEGATED_REFUSED, memory_order_release);
    return 1;
}

/* Also counts an event when the origins have taken everything back: they will delegate again, so this process should
 * stay awake. */
int pl_delegate_take(struct pl_win *win)
{
    uint64_t bits = atomic_exchange(&pl_win_own_ctl(win)->delegated, 0);
    int events = 1;
    for (int i = 0; i < win->comm->size; i++)
        for (int k = 0; k < PL_DELEGATED_SLOTS && bits & pl_win_bit(i) && i != win->comm->rank; k++)
            events += delegated_execute(win, &pl_delegate_slots(win->targets[i].ctl)[k]);
    return events;
}

static int delegated_poll(struct pl_hook *hook)
{
    struct pl_win *win = PL_CONTAINER(hook, struct pl_win, cma.hook);
    return atomic_load_explicit(&pl_win_own_ctl(win)->delegated, memory_order_relaxed) ? pl_delegate_take(win) : 0;
}

void pl_delegate_open(struct pl_win *win)
{
    win->cma.hook.run = delegated_poll;
    pl_list_append(&win->comm->instance->engine.slow_hooks, &win->cma.hook.link);
}

void pl_delegate_close(struct pl_win *win)
{
    pl_list_remove(&win->cma.hook.link);
}
