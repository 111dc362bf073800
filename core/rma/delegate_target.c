/* SPDX-License-Identifier: BSD-3-Clause */
/* What the target of offers does: takes those that are there, in progress. See delegate.h. Engine lock held. */
#include <string.h>

#include "core/engine/instance.h"
#include "core/rma/entry.h"
#include "core/rma/delegate.h"

static bool is_inside(const struct pl_win *win, const struct pl_offer_run *run)
{
    uint64_t at = run->at - (uint64_t)(uintptr_t)win->base;
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return pl_win_is_attached(&win->regions, (uintptr_t)run->at, run->bytes);
    return at <= (uint64_t)win->size && run->bytes <= (uint64_t)win->size - at;
}

/* A put or a get: all of it, or nothing. */
static bool move(struct pl_win *win, struct pl_offer *offer, int runs)
{
    struct pl_offer_run run[PL_OFFER_RUNS];
    unsigned char *data = offer->body + (size_t)runs * sizeof *run;
    uint64_t left = PL_OFFER_BYTES;
    memcpy(run, offer->body, (size_t)runs * sizeof *run);
    for (int i = 0; i < runs; i++) {
        if (run[i].bytes > left || !is_inside(win, &run[i]))
            return false;
        left -= run[i].bytes;
    }
    for (int i = 0; i < runs; i++) {
        void *memory = (void *)(uintptr_t)run[i].at;
        if (offer->kind == PL_RMA_PUT)
            memcpy(memory, data, run[i].bytes);
        else
            memcpy(data, memory, run[i].bytes);
        data += run[i].bytes;
    }
    return true;
}

/* May this be done to elements at one place? Fills in the order. `op`: of accumulates. */
static bool check(struct pl_rma_entry *entry, const struct pl_offer *offer, uint64_t at, uint64_t count,
                  const unsigned char *data, const struct pl_op **op)
{
    const struct pl_win *win = entry->win;
    bool has_data = offer->bytes > 0 && offer->kind != PL_RMA_GET;
    MPI_Count bytes;
    if (count > INT64_MAX || __builtin_mul_overflow((MPI_Count)count, entry->type->size, &bytes))
        return false;
    entry->data = has_data ? data : NULL;
    entry->order = (struct pl_rma_order){
        .kind = offer->kind,
        .op = offer->op,
        .at = (int64_t)(at - (win->flavor == MPI_WIN_FLAVOR_DYNAMIC ? 0 : (uint64_t)(uintptr_t)win->base)),
        .count = count,
        .bytes = !has_data ? 0 : (uint64_t)bytes * (offer->kind == PL_RMA_COMPARE_AND_SWAP ? 2 : 1),
    };
    return pl_rma_check_order(entry, op) == MPI_SUCCESS;
}

/* An accumulate on elements at one place, `bytes` of them packed. */
static bool change(struct pl_rma_entry *entry, const struct pl_offer *offer, uint64_t at, uint64_t bytes,
                   const unsigned char *data, void *before)
{
    const struct pl_op *op;
    if (entry->type->size <= 0 || bytes > PL_OFFER_RESULT ||
        !check(entry, offer, at, bytes / (uint64_t)entry->type->size, data, &op))
        return false;
    struct pl_rma_change wanted = {
        .at = pl_rma_memory_of(entry),
        .count = (MPI_Count)entry->order.count,
        .type = entry->type,
        .op = op,
        .data = entry->data,
        .compare = offer->kind == PL_RMA_COMPARE_AND_SWAP ? data + bytes : NULL,
        .before = before,
    };
    pl_rma_apply(entry->win, pl_rma_own_cell(entry->win), &wanted);
    return true;
}

static bool change_runs(struct pl_win *win, struct pl_offer *offer, int runs)
{
    struct pl_rma_entry entry = { .win = win, .type = pl_type_predefined(offer->type) };
    struct pl_offer_run run;
    unsigned char *data = offer->body + (size_t)runs * sizeof run;
    size_t done = 0, bytes = offer->bytes;
    bool good = bytes <= PL_OFFER_RESULT && entry.type && entry.type->dense;
    for (int i = 0; i < runs && good; i++, done += run.bytes) {
        memcpy(&run, offer->body + (size_t)i * sizeof run, sizeof run);
        good = run.bytes <= PL_OFFER_RESULT - done &&
               change(&entry, offer, run.at, run.bytes, data + done, offer->result ? data + bytes + done : NULL);
    }
    return good;
}

/* One place with a datatype: all of an accumulate, or a part of a put or get. */
static bool do_layout(struct pl_win *win, struct pl_offer *offer)
{
    struct pl_rma_entry entry = { .win = win };
    size_t layout = offer->layout, bytes = offer->bytes, start = offer->start;
    unsigned char *data = offer->body + (layout + 15) / 16 * 16;
    if (layout > PL_OFFER_HEAD || bytes > PL_OFFER_BYTES || pl_type_decode(offer->body, layout, &entry.type))
        return false;
    const struct pl_op *op;
    bool good = false;
    if (offer->kind > PL_RMA_GET) {
        good = bytes <= PL_OFFER_RESULT && offer->count <= PL_OFFER_RESULT &&
               change(&entry, offer, offer->at, offer->count * (uint64_t)entry.type->size, data,
                      offer->result ? data + bytes : NULL);
    } else if (check(&entry, offer, offer->at, offer->count, data, &op)) {
        struct pl_cursor memory;
        pl_cursor_init(&memory, pl_rma_memory_of(&entry), (MPI_Count)entry.order.count, entry.type);
        good = bytes <= memory.total && start <= memory.total - bytes;
        pl_cursor_seek(&memory, good ? start : 0);
        if (good && entry.order.kind == PL_RMA_PUT)
            pl_cursor_unpack(&memory, data, bytes);
        else if (good)
            pl_cursor_pack(&memory, data, bytes);
    }
    pl_object_release(entry.type);
    return good;
}

static int take(struct pl_win *win, struct pl_offer *offer)
{
    uint32_t made = PL_OFFER_MADE;
    if (atomic_load_explicit(&offer->state, memory_order_relaxed) != PL_OFFER_MADE ||
        offer->target != win->comm->rank ||
        !atomic_compare_exchange_strong_explicit(&offer->state, &made, PL_OFFER_TAKEN, memory_order_acquire,
                                                 memory_order_relaxed))
        return 0;
    int runs = offer->runs;
    bool good = runs <= PL_OFFER_RUNS && (runs == 0                   ? do_layout(win, offer)
                                          : offer->kind <= PL_RMA_GET ? move(win, offer, runs)
                                                                      : change_runs(win, offer, runs));
    atomic_store_explicit(&offer->state, good ? PL_OFFER_DONE : PL_OFFER_REFUSED, memory_order_release);
    return 1;
}

/* An event also when all was taken back: who offers will do so again, and it is time to stay awake. */
int pl_offer_take(struct pl_win *win)
{
    uint64_t bits = atomic_exchange(&pl_rma_own_cell(win)->offers, 0);
    int events = 1;
    for (int i = 0; i < win->comm->size; i++)
        for (int k = 0; k < PL_OFFERS && bits & pl_win_bit(i) && i != win->comm->rank; k++)
            events += take(win, &pl_offer_places(win->targets[i].cell)[k]);
    return events;
}

static int look(struct pl_hook *hook)
{
    struct pl_win *win = PL_CONTAINER(hook, struct pl_win, offers);
    return atomic_load_explicit(&pl_rma_own_cell(win)->offers, memory_order_relaxed) ? pl_offer_take(win) : 0;
}

void pl_offer_open(struct pl_win *win)
{
    win->offers.run = look;
    pl_list_append(&win->comm->instance->engine.watches, &win->offers.link);
}

void pl_offer_close(struct pl_win *win)
{
    pl_list_remove(&win->offers.link);
}
