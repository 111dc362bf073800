/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target of messages. See target.h.
 *
 * A message is executed at once from the transport's memory if nothing is in the way. Otherwise it becomes an entry of
 * its origin's operation queue: while its data is fetched, while its lock is not free, or while an earlier entry
 * waits. Puts and gets pass puts whose data is being fetched, since MPI does not order them; everything else waits for
 * all earlier entries.
 */
#include "core/rma/target.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "core/rma/entry.h"
#include "core/rma/message_response.h"
#include "core/rma/message_send.h"
#include "core/rma/rma.h"
#include "core/rma/window_wait.h"

/* What became of an entry. STARTED: its fetch has begun, and may have freed it already. */
enum target_step { DONE, NOT_YET, STARTED };

/* --- entries -------------------------------------------------------------------------------------------------- */

static void target_advance(struct pl_win *win, int rank);

/* Does the entry end an access of its origin, so that others may change the memory? */
static bool target_ends_access(const struct pl_rma_entry *entry)
{
    return entry->part == PL_PART_UNLOCK || entry->part == PL_PART_COMPLETE;
}

/* A response has left the window's memory, perhaps while its operation is still executed: only an end may go on. */
static void target_response_left(struct pl_win *win, int rank)
{
    struct pl_win_origin *origin = &win->targets[rank].origin;
    bool waits = !pl_list_empty(&origin->op_queue) &&
                 target_ends_access(PL_CONTAINER(origin->op_queue.next, struct pl_rma_entry, link));
    if (--origin->reading == 0 && waits)
        target_advance(win, rank);
}

/* Makes an entry of a message. `data` NULL: it must be fetched. Returns NULL when out of memory. */
static struct pl_rma_entry *target_keep(struct pl_win *win, const struct pl_header *header, const void *data)
{
    size_t bytes = header->size;
    bool sane = bytes < SIZE_MAX / 2; /* so that the sum does not overflow: the size comes from a peer */
    struct pl_rma_entry *entry = sane ? pl_malloc(sizeof *entry + bytes) : NULL;
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

static void target_clear_entry(struct pl_rma_entry *entry)
{
    pl_list_remove(&entry->link);
    pl_list_remove(&entry->queue);
    if (entry->rndv)
        pl_match_refuse(&entry->win->comm->instance->engine, entry->rndv);
    pl_object_release(entry->type);
    free(entry->own_data);
}

static void target_drop_entry(struct pl_rma_entry *entry)
{
    target_clear_entry(entry);
    free(entry);
}

static void target_refuse_entry(struct pl_rma_entry *entry, int class)
{
    pl_rma_entry_refuse(entry, class);
    target_drop_entry(entry);
}

static void target_start_fetch(struct pl_rma_entry *entry, uint64_t size, struct pl_rndv *rndv,
                               void (*completed)(struct pl_request *request))
{
    const struct pl_header header = { .size = size };
    entry->fetching = true;
    entry->win->msg.in_flight++;
    entry->request.on.completed = completed;
    pl_match_fetch(&entry->request, &header, rndv);
}

static void target_message_fetched(struct pl_request *request)
{
    struct pl_rma_entry *entry = PL_CONTAINER(request, struct pl_rma_entry, request);
    struct pl_win *win = entry->win;
    int rank = entry->rank, rc = request->outcome.error;
    win->msg.in_flight--;
    entry->fetching = false;
    if (rc == MPI_SUCCESS && entry->part == PL_PART_OP)
        rc = pl_rma_entry_read(entry);
    if (rc)
        target_refuse_entry(entry, rc);
    target_advance(win, rank);
}

/* The data of a put is in the window, other data in entry->own_data. */
static void target_data_fetched(struct pl_request *request)
{
    struct pl_rma_entry *entry = PL_CONTAINER(request, struct pl_rma_entry, request);
    struct pl_win *win = entry->win;
    int rank = entry->rank, error = request->outcome.error;
    win->msg.in_flight--;
    entry->fetching = false;
    if (error)
        pl_rma_entry_refuse(entry, error);
    else if (entry->wire_op.kind != PL_RMA_PUT)
        pl_rma_entry_execute(entry, target_response_left);
    target_drop_entry(entry);
    target_advance(win, rank);
}

/* Begins to fetch the data that waits at the origin; that of a put goes straight to the window. */
static enum target_step target_fetch_data(struct pl_rma_entry *entry)
{
    const struct pl_op *op;
    struct pl_cursor *cursor = &entry->request.in.data;
    struct pl_rndv *rndv = entry->rndv;
    int rc = pl_rma_entry_check(entry, &op);
    if (rc == MPI_SUCCESS && entry->wire_op.kind != PL_RMA_PUT) {
        entry->data = entry->own_data = entry->wire_op.bytes < SIZE_MAX / 2 ? pl_malloc(entry->wire_op.bytes) : NULL;
        rc = entry->data ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    if (rc) {
        pl_rma_entry_refuse(entry, rc);
        return DONE;
    }
    if (entry->wire_op.kind == PL_RMA_PUT)
        pl_cursor_init(cursor, pl_rma_entry_memory(entry), (MPI_Count)entry->wire_op.count, entry->type);
    else
        pl_cursor_init(cursor, entry->own_data, (MPI_Count)entry->wire_op.bytes, PL_TYPE_BYTE);
    entry->rndv = NULL;
    target_start_fetch(entry, entry->data_bytes, rndv, target_data_fetched);
    return STARTED;
}

/* --- locks and responses -------------------------------------------------------------------------------------- */

static void target_respond(struct pl_rma_entry *entry)
{
    struct pl_win_fault *refused = &pl_rma_entry_origin(entry)->refused;
    if (entry->sync_id == 0)
        return;
    pl_rma_send_control(entry->win, entry->rank, PL_PART_SYNCED, entry->sync_id, refused, sizeof *refused);
    refused->class = MPI_SUCCESS;
}

static uint32_t target_lock_type(const struct pl_rma_entry *entry)
{
    uint32_t type = 0;
    if (entry->bytes == sizeof type)
        memcpy(&type, entry->message, sizeof type);
    return type;
}

static bool target_try_lock(struct pl_rma_entry *entry)
{
    struct pl_win_origin *origin = pl_rma_entry_origin(entry);
    uint32_t type = target_lock_type(entry);
    if ((type == MPI_LOCK_EXCLUSIVE || type == MPI_LOCK_SHARED) && !origin->holds) {
        if (!pl_win_ctl_try_lock(pl_win_own_ctl(entry->win), (int)type))
            return false;
        origin->holds = (uint16_t)type;
    }
    target_respond(entry);
    return true;
}

/* Tries all: a shared lock must not wait behind an exclusive one that is not free. An origin in MPI_Win_lock_all() asks
 * for its locks one by one, and two such origins would wait for each other. */
static int target_retry_locks(struct pl_hook *hook)
{
    struct pl_win *win = PL_CONTAINER(hook, struct pl_win, msg.lock_hook);
    struct pl_win_ctl *own = pl_win_own_ctl(win);
    int events = 0;
    (void)atomic_load(&own->releases); /* as in window_ctl.c: a release that has not seen this rank wait is seen now */
    PL_LIST_EACH(entry, &win->msg.lock_queue, struct pl_rma_entry, queue) {
        int rank = entry->rank;
        if (!target_try_lock(entry))
            continue;
        target_drop_entry(entry);
        target_advance(win, rank);
        events++;
    }
    if (!pl_list_empty(&win->msg.lock_queue))
        return events;
    pl_list_remove(&hook->link);
    pl_win_ctl_withdraw(own, win->comm->rank);
    return events;
}

/* Exclusive locks are granted in the order of the requests. While any is queued, this rank counts as one that
 * waits, and the process that releases the lock wakes it. */
static enum target_step target_lock(struct pl_rma_entry *entry)
{
    struct pl_win *win = entry->win;
    if (!pl_list_empty(&entry->queue))
        return NOT_YET;
    if ((pl_list_empty(&win->msg.lock_queue) || target_lock_type(entry) == MPI_LOCK_SHARED) && target_try_lock(entry))
        return DONE;
    if (!entry->kept)
        return NOT_YET;
    pl_list_append(&win->msg.lock_queue, &entry->queue);
    if (pl_list_empty(&win->msg.lock_hook.link)) {
        win->msg.lock_hook.run = target_retry_locks;
        pl_list_push(&win->comm->instance->engine.hooks, &win->msg.lock_hook.link);
        pl_win_ctl_announce(pl_win_own_ctl(win), win->comm->rank);
    }
    return NOT_YET;
}

static void target_unlock(struct pl_rma_entry *entry)
{
    struct pl_win_origin *origin = pl_rma_entry_origin(entry);
    int type = origin->holds;
    origin->holds = 0;
    if (type && pl_win_ctl_release(pl_win_own_ctl(entry->win), type))
        pl_win_ctl_wake(entry->win, pl_win_own_ctl(entry->win));
    target_respond(entry);
}

/* --- the operation queue -------------------------------------------------------------------------------------- */

/* Others may change the memory once this origin's access has ended, so its responses must have left by then. */
static enum target_step target_end_access(struct pl_rma_entry *entry)
{
    if (pl_rma_entry_origin(entry)->reading > 0)
        return NOT_YET;
    if (entry->part == PL_PART_UNLOCK) {
        target_unlock(entry);
    } else {
        entry->win->targets[entry->rank].completes++;
        pl_win_wake(entry->win);
    }
    return DONE;
}

static enum target_step target_execute(struct pl_rma_entry *entry)
{
    switch (entry->part) {
    case PL_PART_OP:
        if (entry->wire_op.separate && !entry->has_data)
            return NOT_YET;
        if (entry->wire_op.separate && entry->rndv)
            return target_fetch_data(entry);
        pl_rma_entry_execute(entry, target_response_left);
        return DONE;
    case PL_PART_LOCK: return target_lock(entry);
    case PL_PART_FLUSH: target_respond(entry); return DONE;
    default: return target_end_access(entry);
    }
}

/* May the entry pass puts whose data is being fetched? */
static bool target_may_pass(const struct pl_rma_entry *entry)
{
    return entry->part == PL_PART_OP && entry->type && entry->wire_op.kind <= PL_RMA_GET;
}

/* Executes what can be executed. Each step may change the queue, so it then begins again at the front. */
static void target_advance(struct pl_win *win, int rank)
{
    struct pl_list *op_queue = &win->targets[rank].origin.op_queue;
    for (struct pl_list *node = op_queue->next; node != op_queue;) {
        struct pl_rma_entry *entry = PL_CONTAINER(node, struct pl_rma_entry, link);
        if (!target_may_pass(entry) && (entry->fetching || node != op_queue->next))
            return;
        if (entry->fetching) {
            node = node->next;
            continue;
        }
        enum target_step step = target_execute(entry);
        if (step == NOT_YET)
            return;
        if (step == DONE)
            target_drop_entry(entry);
        node = op_queue->next;
    }
}

/* --- arriving ------------------------------------------------------------------------------------------------- */

/* Executes a message from the transport's memory. False: it must be kept. */
static bool target_execute_now(struct pl_win *win, const struct pl_header *header, const void *data)
{
    struct pl_rma_entry entry = {
        .win = win, .rank = header->source, .sync_id = header->tag, .part = header->part, .bytes = header->size
    };
    entry.message = data;
    pl_list_init(&entry.link);
    pl_list_init(&entry.queue);
    int rc = entry.part == PL_PART_OP ? pl_rma_entry_read(&entry) : MPI_SUCCESS;
    if (rc)
        pl_rma_entry_refuse(&entry, rc);
    bool done = rc || target_execute(&entry) != NOT_YET;
    target_clear_entry(&entry);
    return done;
}

/* Out of memory for an entry: an origin that waits for a response gets one. */
static void target_lose(struct pl_win *win, const struct pl_header *header, struct pl_rndv *rndv)
{
    struct pl_win_origin *origin = &win->targets[header->source].origin;
    const struct pl_win_fault fault = { .class = MPI_ERR_NO_MEM };
    if (rndv)
        pl_match_refuse(&win->comm->instance->engine, rndv);
    if (header->part == PL_PART_OP && header->tag == 0)
        origin->refused = fault;
    else if (header->tag != 0)
        pl_rma_send_control(win, header->source, header->part == PL_PART_OP ? PL_PART_REFUSED : PL_PART_SYNCED,
                            header->tag, &fault, sizeof fault);
}

/* A message of the operation queue, except separate data. */
static void target_queued_arrived(struct pl_win *win, const struct pl_header *header, const void *data,
                                  struct pl_rndv *rndv)
{
    struct pl_list *op_queue = &win->targets[header->source].origin.op_queue;
    if (!rndv && pl_list_empty(op_queue) && target_execute_now(win, header, data))
        return;
    struct pl_rma_entry *entry = target_keep(win, header, rndv ? NULL : data);
    if (!entry) {
        target_lose(win, header, rndv);
        return;
    }
    pl_list_append(op_queue, &entry->link);
    if (rndv) {
        pl_cursor_init(&entry->request.in.data, entry->copy, (MPI_Count)entry->bytes, PL_TYPE_BYTE);
        target_start_fetch(entry, entry->bytes, rndv, target_message_fetched);
        return;
    }
    int rc = entry->part == PL_PART_OP ? pl_rma_entry_read(entry) : MPI_SUCCESS;
    if (rc)
        target_refuse_entry(entry, rc);
    target_advance(win, header->source);
}

/* The separate data of the last operation in the queue. */
static void target_data_arrived(struct pl_win *win, const struct pl_header *header, const void *data,
                                struct pl_rndv *rndv)
{
    struct pl_list *op_queue = &win->targets[header->source].origin.op_queue;
    struct pl_rma_entry *last = PL_CONTAINER(op_queue->prev, struct pl_rma_entry, link);
    bool expected = !pl_list_empty(op_queue) && last->part == PL_PART_OP && !last->has_data &&
                    (last->wire_op.separate || !last->type);
    if (!expected) {
        if (rndv)
            pl_match_refuse(&win->comm->instance->engine, rndv);
        return;
    }
    last->has_data = true;
    last->data_bytes = header->size;
    last->rndv = rndv;
    if (!rndv && op_queue->next == op_queue->prev && last->type) { /* its turn: straight from the transport's memory */
        last->data = data;
        pl_rma_entry_execute(last, target_response_left);
        target_drop_entry(last);
        return;
    }
    if (!rndv) {
        last->data = last->own_data = pl_malloc(header->size ? header->size : 1);
        if (last->data)
            memcpy(last->own_data, data, header->size);
    }
    target_advance(win, header->source);
}

void pl_rma_arrived(struct pl_engine *engine, struct pl_comm *comm, const struct pl_origin *from,
                    const struct pl_header *header, const void *data, struct pl_rndv *rndv)
{
    (void)from;
    struct pl_win *win = comm ? comm->win : NULL;
    bool known = win && header->source >= 0 && header->source < comm->size && header->part <= PL_PART_REFUSED;
    bool is_short = header->part == PL_PART_POST || header->part == PL_PART_SYNCED;
    if (!known || (is_short && rndv)) {
        engine->dropped_messages++;
        if (rndv)
            pl_match_refuse(engine, rndv);
        return;
    }
    switch (header->part) {
    case PL_PART_POST:
        win->targets[header->source].posts++;
        pl_win_wake(win);
        break;
    case PL_PART_SYNCED: pl_rma_synced(win, header->source, header, data); break;
    case PL_PART_RESPONSE:
    case PL_PART_REFUSED: pl_rma_responded(win, header->source, header, data, rndv); break;
    case PL_PART_DATA: target_data_arrived(win, header, data, rndv); break;
    default: target_queued_arrived(win, header, data, rndv);
    }
}

void pl_rma_drop(struct pl_win *win)
{
    struct pl_list *node;
    pl_rma_drop_gets(win);
    for (int i = 0; win->targets && i < win->comm->size; i++)
        while ((node = pl_list_pop(&win->targets[i].origin.op_queue)) != NULL)
            target_drop_entry(PL_CONTAINER(node, struct pl_rma_entry, link));
    pl_list_remove(&win->msg.lock_hook.link);
}
