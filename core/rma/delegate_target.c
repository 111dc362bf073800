/* SPDX-License-Identifier: BSD-3-Clause */
/* What the target of offers does: takes those that are there, in progress. See delegate.h. Engine lock held. */
#include <string.h>

#include "core/engine/instance.h"
#include "core/rma/delegate.h"
#include "core/rma/entry.h"

static bool is_inside(const struct pl_win *win, const struct pl_delegated_run *run)
{
    uint64_t at = run->at - (uint64_t)(uintptr_t)win->base;
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return pl_win_is_attached(&win->regions, (uintptr_t)run->at, run->bytes);
    return at <= (uint64_t)win->size && run->bytes <= (uint64_t)win->size - at;
}

/* A put or a get: all of it, or nothing. */
static bool delegate_target_move(struct pl_win *win, struct pl_delegated *delegated, int runs)
{
    struct pl_delegated_run run[PL_DELEGATED_RUNS];
    unsigned char *data = delegated->body + (size_t)runs * sizeof *run;
    uint64_t left = PL_DELEGATED_BYTES;
    memcpy(run, delegated->body, (size_t)runs * sizeof *run);
    for (int i = 0; i < runs; i++) {
        if (run[i].bytes > left || !is_inside(win, &run[i]))
            return false;
        left -= run[i].bytes;
    }
    for (int i = 0; i < runs; i++) {
        void *memory = (void *)(uintptr_t)run[i].at;
        if (delegated->kind == PL_RMA_PUT)
            memcpy(memory, data, run[i].bytes);
        else
            memcpy(data, memory, run[i].bytes);
        data += run[i].bytes;
    }
    return true;
}

/* May this be done to elements at one place? Fills in the order. `op`: of accumulates. */
static bool delegate_target_check(struct pl_rma_entry *entry, const struct pl_delegated *delegated, uint64_t at,
                                  uint64_t count, const unsigned char *data, const struct pl_op **op)
{
    const struct pl_win *win = entry->win;
    bool has_data = delegated->bytes > 0 && delegated->kind != PL_RMA_GET;
    MPI_Count bytes;
    if (count > INT64_MAX || __builtin_mul_overflow((MPI_Count)count, entry->type->size, &bytes))
        return false;
    entry->data = has_data ? data : NULL;
    entry->wire_op = (struct pl_rma_wire_op){
        .kind = delegated->kind,
        .op = delegated->op,
        .at = (int64_t)(at - (win->flavor == MPI_WIN_FLAVOR_DYNAMIC ? 0 : (uint64_t)(uintptr_t)win->base)),
        .count = count,
        .bytes = !has_data ? 0 : (uint64_t)bytes * (delegated->kind == PL_RMA_COMPARE_AND_SWAP ? 2 : 1),
    };
    return pl_rma_check_wire_op(entry, op) == MPI_SUCCESS;
}

/* An accumulate on elements at one place, `bytes` of them packed. */
static bool delegate_target_change(struct pl_rma_entry *entry, const struct pl_delegated *delegated, uint64_t at,
                                   uint64_t bytes, const unsigned char *data, void *before)
{
    const struct pl_op *op;
    if (entry->type->size <= 0 || bytes > PL_DELEGATED_RESULT ||
        !delegate_target_check(entry, delegated, at, bytes / (uint64_t)entry->type->size, data, &op))
        return false;
    struct pl_rma_change wanted = {
        .at = pl_rma_memory_of(entry),
        .count = (MPI_Count)entry->wire_op.count,
        .type = entry->type,
        .op = op,
        .data = entry->data,
        .compare = delegated->kind == PL_RMA_COMPARE_AND_SWAP ? data + bytes : NULL,
        .before = before,
    };
    pl_rma_apply(entry->win, pl_rma_own_ctl(entry->win), &wanted);
    return true;
}

static bool change_runs(struct pl_win *win, struct pl_delegated *delegated, int runs)
{
    struct pl_rma_entry entry = { .win = win, .type = pl_type_predefined(delegated->type) };
    struct pl_delegated_run run;
    unsigned char *data = delegated->body + (size_t)runs * sizeof run;
    size_t done = 0, bytes = delegated->bytes;
    bool good = bytes <= PL_DELEGATED_RESULT && entry.type && entry.type->dense;
    for (int i = 0; i < runs && good; i++, done += run.bytes) {
        memcpy(&run, delegated->body + (size_t)i * sizeof run, sizeof run);
        good = run.bytes <= PL_DELEGATED_RESULT - done &&
               delegate_target_change(&entry, delegated, run.at, run.bytes, data + done,
                                      delegated->result ? data + bytes + done : NULL);
    }
    return good;
}

/* One place with a datatype: all of an accumulate, or a part of a put or get. */
static bool do_layout(struct pl_win *win, struct pl_delegated *delegated)
{
    struct pl_rma_entry entry = { .win = win };
    size_t layout = delegated->layout, bytes = delegated->bytes, start = delegated->start;
    unsigned char *data = delegated->body + (layout + 15) / 16 * 16;
    if (layout > PL_DELEGATED_HEAD || bytes > PL_DELEGATED_BYTES ||
        pl_type_decode(delegated->body, layout, &entry.type))
        return false;
    const struct pl_op *op;
    bool good = false;
    if (delegated->kind > PL_RMA_GET) {
        good = bytes <= PL_DELEGATED_RESULT && delegated->count <= PL_DELEGATED_RESULT &&
               delegate_target_change(&entry, delegated, delegated->at, delegated->count * (uint64_t)entry.type->size,
                                      data, delegated->result ? data + bytes : NULL);
    } else if (delegate_target_check(&entry, delegated, delegated->at, delegated->count, data, &op)) {
        struct pl_cursor memory;
        pl_cursor_init(&memory, pl_rma_memory_of(&entry), (MPI_Count)entry.wire_op.count, entry.type);
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

static int delegate_target_take(struct pl_win *win, struct pl_delegated *delegated)
{
    uint32_t made = PL_DELEGATED_MADE;
    if (atomic_load_explicit(&delegated->state, memory_order_relaxed) != PL_DELEGATED_MADE ||
        delegated->target != win->comm->rank ||
        !atomic_compare_exchange_strong_explicit(&delegated->state, &made, PL_DELEGATED_TAKEN, memory_order_acquire,
                                                 memory_order_relaxed))
        return 0;
    int runs = delegated->runs;
    bool good =
        runs <= PL_DELEGATED_RUNS && (runs == 0                       ? do_layout(win, delegated)
                                      : delegated->kind <= PL_RMA_GET ? delegate_target_move(win, delegated, runs)
                                                                      : change_runs(win, delegated, runs));
    atomic_store_explicit(&delegated->state, good ? PL_DELEGATED_DONE : PL_DELEGATED_REFUSED, memory_order_release);
    return 1;
}

/* An event also when all was taken back: who offers will do so again, and it is time to stay awake. */
int pl_delegate_take(struct pl_win *win)
{
    uint64_t bits = atomic_exchange(&pl_rma_own_ctl(win)->delegated, 0);
    int events = 1;
    for (int i = 0; i < win->comm->size; i++)
        for (int k = 0; k < PL_DELEGATED_SLOTS && bits & pl_win_bit(i) && i != win->comm->rank; k++)
            events += delegate_target_take(win, &pl_delegate_places(win->targets[i].ctl)[k]);
    return events;
}

static int delegate_target_look(struct pl_hook *hook)
{
    struct pl_win *win = PL_CONTAINER(hook, struct pl_win, delegated);
    return atomic_load_explicit(&pl_rma_own_ctl(win)->delegated, memory_order_relaxed) ? pl_delegate_take(win) : 0;
}

void pl_delegate_open(struct pl_win *win)
{
    win->delegated.run = delegate_target_look;
    pl_list_append(&win->comm->instance->engine.slow_hooks, &win->delegated.link);
}

void pl_delegate_close(struct pl_win *win)
{
    pl_list_remove(&win->delegated.link);
}
