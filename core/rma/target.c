/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the target of messages does: applies them, in progress, in the order of each origin's stream. Engine lock held
 * in all functions.
 *
 * What can be done at once is done from the message where it lies. Else it is kept as an entry of the stream: while its
 * data is fetched, while a lock is not to be had, or while something before it is. Puts and gets go past puts whose
 * data is being fetched, since nothing orders them; everything else waits for what is before it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/engine/instance.h"
#include "core/rma/entry.h"

enum done { DONE, NOT_YET, STARTED }; /* the last: it may be gone already */

/* --- entries -------------------------------------------------------------------------------------------------- */

static void rma_target_advance(struct pl_win *win, int rank);

/* `data` NULL: it has to be fetched. NULL: out of memory. */
static struct pl_rma_entry *rma_target_keep(struct pl_win *win, const struct pl_header *header, const void *data)
{
    size_t bytes = header->size;
    struct pl_rma_entry *entry =
        bytes < SIZE_MAX / 2 ? pl_malloc(sizeof *entry + bytes) : NULL; /* hostile sizes are not found by adding */
    if (!entry)
        return NULL;
    *entry = (struct pl_rma_entry){
        .win = win,
        .rank = header->source,
        .sync_id = header->tag,
        .part = header->part,
        .kept = true,
        .bytes = bytes,
    };
    entry->message = entry->copy;
    entry->request.engine = &win->comm->instance->engine;
    entry->request.is.caller_owned = true;
    pl_list_init(&entry->request.link);
    pl_list_init(&entry->link);
    pl_list_init(&entry->queue);
    if (data && bytes)
        memcpy(entry->copy, data, bytes);
    return entry;
}

static void clear_entry(struct pl_rma_entry *entry)
{
    pl_list_remove(&entry->link);
    pl_list_remove(&entry->queue);
    if (entry->rndv)
        pl_match_refuse(&entry->win->comm->instance->engine, entry->rndv);
    pl_object_release(entry->type);
    free(entry->own_data);
}

static void rma_target_drop_entry(struct pl_rma_entry *entry)
{
    clear_entry(entry);
    free(entry);
}

static void refuse_entry(struct pl_rma_entry *entry, int class)
{
    pl_rma_refuse(entry, class);
    rma_target_drop_entry(entry);
}

static void start_fetch(struct pl_rma_entry *entry, uint64_t size, struct pl_rndv *rndv,
                        void (*completed)(struct pl_request *request))
{
    const struct pl_header header = { .size = size };
    entry->fetching = true;
    entry->win->moving++;
    entry->request.on.completed = completed;
    pl_match_fetch(&entry->request, &header, rndv);
}

static void message_fetched(struct pl_request *request)
{
    struct pl_rma_entry *entry = PL_CONTAINER(request, struct pl_rma_entry, request);
    struct pl_win *win = entry->win;
    int rank = entry->rank, rc = request->outcome.error;
    win->moving--;
    entry->fetching = false;
    if (rc == MPI_SUCCESS && entry->part == PL_PART_OP)
        rc = pl_rma_read_wire_op(entry);
    if (rc)
        refuse_entry(entry, rc);
    rma_target_advance(win, rank);
}

/* The data is in the window, or in memory of its own. */
static void data_fetched(struct pl_request *request)
{
    struct pl_rma_entry *entry = PL_CONTAINER(request, struct pl_rma_entry, request);
    struct pl_win *win = entry->win;
    int rank = entry->rank, error = request->outcome.error;
    win->moving--;
    entry->fetching = false;
    if (error)
        pl_rma_refuse(entry, error);
    else if (entry->wire_op.kind != PL_RMA_PUT)
        pl_rma_do_wire_op(entry);
    rma_target_drop_entry(entry);
    rma_target_advance(win, rank);
}

/* Begins to fetch the data that waits at the origin: of a put to where it belongs. */
static enum done fetch_data(struct pl_rma_entry *entry)
{
    const struct pl_op *op;
    struct pl_cursor *cursor = &entry->request.in.data;
    struct pl_rndv *rndv = entry->rndv;
    int rc = pl_rma_check_wire_op(entry, &op);
    if (rc == MPI_SUCCESS && entry->wire_op.kind != PL_RMA_PUT) {
        entry->data = entry->own_data = entry->wire_op.bytes < SIZE_MAX / 2 ? pl_malloc(entry->wire_op.bytes) : NULL;
        rc = entry->data ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    if (rc) {
        pl_rma_refuse(entry, rc);
        return DONE;
    }
    if (entry->wire_op.kind == PL_RMA_PUT)
        pl_cursor_init(cursor, pl_rma_memory_of(entry), (MPI_Count)entry->wire_op.count, entry->type);
    else
        pl_cursor_init(cursor, entry->own_data, (MPI_Count)entry->wire_op.bytes, PL_TYPE_BYTE);
    entry->rndv = NULL;
    start_fetch(entry, entry->data_bytes, rndv, data_fetched);
    return STARTED;
}

/* --- the stream ----------------------------------------------------------------------------------------------- */

static void rma_target_answer(struct pl_rma_entry *entry)
{
    struct pl_win_target *target = pl_rma_origin_of(entry);
    if (entry->sync_id == 0)
        return;
    pl_rma_send_control(entry->win, entry->rank, PL_PART_ANSWER, entry->sync_id, &target->refused,
                        sizeof target->refused);
    target->refused.class = MPI_SUCCESS;
}

static uint32_t type_of_lock(const struct pl_rma_entry *entry)
{
    uint32_t type = 0;
    if (entry->bytes == sizeof type)
        memcpy(&type, entry->message, sizeof type);
    return type;
}

static bool try_lock(struct pl_rma_entry *entry)
{
    struct pl_win_target *target = pl_rma_origin_of(entry);
    uint32_t type = type_of_lock(entry);
    if ((type == MPI_LOCK_EXCLUSIVE || type == MPI_LOCK_SHARED) && !target->holds) {
        if (!pl_win_try(pl_rma_own_ctl(entry->win), (int)type))
            return false;
        target->holds = (uint8_t)(type - MPI_LOCK_EXCLUSIVE + 1);
    }
    rma_target_answer(entry);
    return true;
}

/* All are tried: a shared lock does not wait behind an exclusive one that cannot be had. Who holds the locks of
 * MPI_Win_lock_all() asks for them one after the other, and two that do would wait for each other's end. */
static int retry_locks(struct pl_hook *hook)
{
    struct pl_win *win = PL_CONTAINER(hook, struct pl_win, hook);
    struct pl_win_ctl *own = pl_rma_own_ctl(win);
    int events = 0;
    atomic_fetch_or(&own->waiting, pl_win_bit(win->comm->rank)); /* this rank's own lock may have taken it away */
    PL_LIST_EACH(entry, &win->lock_queue, struct pl_rma_entry, queue) {
        int rank = entry->rank;
        if (!try_lock(entry))
            continue;
        rma_target_drop_entry(entry);
        rma_target_advance(win, rank);
        events++;
    }
    if (!pl_list_empty(&win->lock_queue))
        return events;
    pl_list_remove(&hook->link);
    atomic_fetch_and(&own->waiting, ~pl_win_bit(win->comm->rank));
    return events;
}

/* Exclusive locks are given in the order in which they were asked for; whoever gives one back sees that this rank
 * waits. */
static enum done do_lock(struct pl_rma_entry *entry)
{
    struct pl_win *win = entry->win;
    if (!pl_list_empty(&entry->queue))
        return NOT_YET;
    if ((pl_list_empty(&win->lock_queue) || type_of_lock(entry) == MPI_LOCK_SHARED) && try_lock(entry))
        return DONE;
    if (!entry->kept)
        return NOT_YET;
    pl_list_append(&win->lock_queue, &entry->queue);
    if (pl_list_empty(&win->hook.link)) {
        win->hook.run = retry_locks;
        pl_list_append(&win->comm->instance->engine.hooks, &win->hook.link);
        atomic_fetch_or(&pl_rma_own_ctl(win)->waiting, pl_win_bit(win->comm->rank));
    }
    return NOT_YET;
}

static void do_unlock(struct pl_rma_entry *entry)
{
    struct pl_win_target *target = pl_rma_origin_of(entry);
    int type = target->holds - 1 + MPI_LOCK_EXCLUSIVE;
    bool held = target->holds != 0;
    target->holds = 0;
    if (held && pl_win_give(pl_rma_own_ctl(entry->win), type))
        pl_win_ring(entry->win, pl_rma_own_ctl(entry->win));
    rma_target_answer(entry);
}

static enum done do_part(struct pl_rma_entry *entry)
{
    switch (entry->part) {
    case PL_PART_OP:
        if (entry->wire_op.apart && !entry->has_data)
            return NOT_YET;
        if (entry->wire_op.apart && entry->rndv)
            return fetch_data(entry);
        pl_rma_do_wire_op(entry);
        return DONE;
    case PL_PART_LOCK: return do_lock(entry);
    case PL_PART_UNLOCK: do_unlock(entry); return DONE;
    case PL_PART_FLUSH: rma_target_answer(entry); return DONE;
    default:
        pl_rma_origin_of(entry)->completes++;
        pl_rma_wake(entry->win);
        return DONE;
    }
}

/* Need it not wait for puts before it? */
static bool rma_target_is_free(const struct pl_rma_entry *entry)
{
    return entry->part == PL_PART_OP && entry->type && entry->wire_op.kind <= PL_RMA_GET;
}

/* Does what can be done. Each step may change the stream: then from its start again. */
static void rma_target_advance(struct pl_win *win, int rank)
{
    struct pl_list *op_queue = &win->targets[rank].op_queue;
    for (struct pl_list *node = op_queue->next; node != op_queue;) {
        struct pl_rma_entry *entry = PL_CONTAINER(node, struct pl_rma_entry, link);
        if (!rma_target_is_free(entry) && (entry->fetching || node != op_queue->next))
            return;
        if (entry->fetching) {
            node = node->next;
            continue;
        }
        enum done done = do_part(entry);
        if (done == NOT_YET)
            return;
        if (done == DONE)
            rma_target_drop_entry(entry);
        node = op_queue->next;
    }
}

/* --- arriving ------------------------------------------------------------------------------------------------- */

/* From where the transport has it. False: it has to be kept. */
static bool do_now(struct pl_win *win, const struct pl_header *header, const void *data)
{
    struct pl_rma_entry entry = {
        .win = win, .rank = header->source, .sync_id = header->tag, .part = header->part, .bytes = header->size
    };
    entry.message = data;
    pl_list_init(&entry.link);
    pl_list_init(&entry.queue);
    int rc = entry.part == PL_PART_OP ? pl_rma_read_wire_op(&entry) : MPI_SUCCESS;
    if (rc)
        pl_rma_refuse(&entry, rc);
    bool done = rc || do_part(&entry) != NOT_YET;
    clear_entry(&entry);
    return done;
}

/* There is no memory to keep it. Who waits for an answer gets one. */
static void rma_target_lose(struct pl_win *win, const struct pl_header *header, struct pl_rndv *rndv)
{
    struct pl_win_target *target = &win->targets[header->source];
    const struct pl_win_fault fault = { .class = MPI_ERR_NO_MEM };
    if (rndv)
        pl_match_refuse(&win->comm->instance->engine, rndv);
    if (header->part == PL_PART_OP && header->tag == 0)
        target->refused = fault;
    else if (header->tag != 0)
        pl_rma_send_control(win, header->source, header->part == PL_PART_OP ? PL_PART_REFUSED : PL_PART_ANSWER,
                            header->tag, &fault, sizeof fault);
}

static void part_arrived(struct pl_win *win, const struct pl_header *header, const void *data, struct pl_rndv *rndv)
{
    struct pl_list *op_queue = &win->targets[header->source].op_queue;
    if (!rndv && pl_list_empty(op_queue) && do_now(win, header, data))
        return;
    struct pl_rma_entry *entry = rma_target_keep(win, header, rndv ? NULL : data);
    if (!entry) {
        rma_target_lose(win, header, rndv);
        return;
    }
    pl_list_append(op_queue, &entry->link);
    if (rndv) {
        pl_cursor_init(&entry->request.in.data, entry->copy, (MPI_Count)entry->bytes, PL_TYPE_BYTE);
        start_fetch(entry, entry->bytes, rndv, message_fetched);
        return;
    }
    int rc = entry->part == PL_PART_OP ? pl_rma_read_wire_op(entry) : MPI_SUCCESS;
    if (rc)
        refuse_entry(entry, rc);
    rma_target_advance(win, header->source);
}

/* Of the order that came last. */
static void data_arrived(struct pl_win *win, const struct pl_header *header, const void *data, struct pl_rndv *rndv)
{
    struct pl_list *op_queue = &win->targets[header->source].op_queue;
    struct pl_rma_entry *last = PL_CONTAINER(op_queue->prev, struct pl_rma_entry, link);
    bool expected =
        !pl_list_empty(op_queue) && last->part == PL_PART_OP && !last->has_data && (last->wire_op.apart || !last->type);
    if (!expected) {
        if (rndv)
            pl_match_refuse(&win->comm->instance->engine, rndv);
        return;
    }
    last->has_data = true;
    last->data_bytes = header->size;
    last->rndv = rndv;
    if (!rndv && op_queue->next == op_queue->prev && last->type) { /* its turn: from where the transport has it */
        last->data = data;
        pl_rma_do_wire_op(last);
        rma_target_drop_entry(last);
        return;
    }
    if (!rndv) {
        last->data = last->own_data = pl_malloc(header->size ? header->size : 1);
        if (last->data)
            memcpy(last->own_data, data, header->size);
    }
    rma_target_advance(win, header->source);
}

void pl_rma_arrived(struct pl_engine *engine, struct pl_comm *comm, const struct pl_header *header, const void *data,
                    struct pl_rndv *rndv)
{
    struct pl_win *win = comm ? comm->win : NULL;
    bool known = win && header->source >= 0 && header->source < comm->size && header->part <= PL_PART_REFUSED;
    bool whole = header->part == PL_PART_POST || header->part == PL_PART_ANSWER;
    if (!known || (whole && rndv)) {
        engine->dropped_messages++;
        if (rndv)
            pl_match_refuse(engine, rndv);
        return;
    }
    switch (header->part) {
    case PL_PART_POST:
        win->targets[header->source].posts++;
        pl_rma_wake(win);
        break;
    case PL_PART_ANSWER: pl_rma_answered(win, header->source, header, data); break;
    case PL_PART_RESPONSE:
    case PL_PART_REFUSED: pl_rma_responded(win, header->source, header, data, rndv); break;
    case PL_PART_DATA: data_arrived(win, header, data, rndv); break;
    default: part_arrived(win, header, data, rndv);
    }
}

void pl_rma_drop(struct pl_win *win)
{
    struct pl_list *node;
    pl_rma_drop_gets(win);
    for (int i = 0; win->targets && i < win->comm->size; i++)
        while ((node = pl_list_pop(&win->targets[i].op_queue)) != NULL)
            rma_target_drop_entry(PL_CONTAINER(node, struct pl_rma_entry, link));
    pl_list_remove(&win->hook.link);
}
