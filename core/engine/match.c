/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching of messages and receives. See match.h. */
#include "core/engine/match.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/engine/client.h"
#include "core/engine/comm_break.h"
#include "core/engine/comm_break_notice.h"
#include "core/engine/comm_failures.h"
#include "core/engine/comm_table.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/match_index.h"
#include "core/engine/own_message.h"
#include "core/engine/partitioned.h"
#include "core/engine/partitioned_chunks.h"
#include "core/engine/peer.h"
#include "core/engine/peer_failure.h"
#include "core/engine/send_answer.h"
#include "core/engine/wait.h"

static inline bool match_is_from(const struct pl_request *receive, int source)
{
    return receive->args.peer_rank == source || receive->args.peer_rank == MPI_ANY_SOURCE;
}

static inline bool match_fits(const struct pl_header *header, int source, int tag)
{
    return (source == MPI_ANY_SOURCE || source == header->source) && (tag == MPI_ANY_TAG || tag == header->tag);
}

static void *match_transport_self(struct pl_engine *engine, const struct pl_transport_ops *ops)
{
    for (int i = 0; i < engine->transports; i++)
        if (engine->transport[i].ops == ops)
            return engine->transport[i].self;
    return NULL;
}

void pl_match_answer(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header, int kind,
                     int tag)
{
    struct pl_peer *peer;
    struct pl_header reply = {
        .home = header->home, .serial = header->serial, .kind = (uint8_t)kind, .tag = tag, .token = header->token
    };
    int rc = pl_engine_peer(engine, from->card, from->card_length, UINT64_MAX, &peer);
    if (rc == MPI_SUCCESS)
        pl_engine_answer(engine, peer, &reply);
    else if (rc == MPI_ERR_NO_MEM)
        pl_engine_host.failed(engine, NULL, from, rc, "out of memory for a connection");
}

/* The receive has matched this message. Returns the error class with which it completes if the transfer succeeds. */
static inline int match_matched(struct pl_request *request, const struct pl_header *header)
{
    size_t capacity = request->in.data.total;
    request->state = PL_STATE_MOVING;
    request->outcome.source = header->source;
    request->outcome.tag = header->tag;
    request->outcome.bytes = (MPI_Count)(header->size < capacity ? header->size : capacity);
    request->in.size = header->size;
    return pl_unlikely(header->size > capacity) ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/* Takes data that has arrived. */
static inline void match_take(struct pl_request *request, const struct pl_origin *from, const struct pl_header *header,
                              const void *data)
{
    int error = match_matched(request, header);
    size_t bytes = (size_t)request->outcome.bytes;
    void *run = pl_cursor_direct(&request->in.data);
    if (pl_likely(run && bytes))
        memcpy(run, data, bytes);
    else if (bytes)
        pl_cursor_unpack(&request->in.data, data, bytes);
    if (pl_unlikely(header->flags & PL_FLAG_SYNC))
        pl_match_answer(request->engine, from, header, PL_MSG_ACK, 0);
    pl_request_complete(request, error);
}

void pl_match_fetch(struct pl_request *request, const struct pl_header *header, struct pl_rndv *rndv)
{
    int error = match_matched(request, header);
    int rc = rndv->ops->fetch(match_transport_self(request->engine, rndv->ops), rndv, &request->in);
    if (rc != PL_PENDING)
        pl_request_complete(request, rc ? rc : error);
}

static inline void match_deliver(struct pl_request *request, const struct pl_origin *from,
                                 const struct pl_header *header, const void *data, struct pl_rndv *rndv)
{
    if (pl_unlikely(rndv != NULL))
        pl_match_fetch(request, header, rndv);
    else
        match_take(request, from, header, data);
}

static void match_free(struct pl_unexpected *unexpected)
{
    pl_origin_release(unexpected->from);
    free(unexpected);
}

void pl_match_deliver(struct pl_request *request, struct pl_unexpected *unexpected)
{
    match_deliver(request, unexpected->from, &unexpected->header, unexpected->data, unexpected->rndv);
    match_free(unexpected);
}

void pl_match_refuse(struct pl_engine *engine, struct pl_rndv *rndv)
{
    rndv->ops->drop(match_transport_self(engine, rndv->ops), rndv, false);
}

/* A message will not be received. Completes its send: it may wait for the receive. */
static PL_COLD PL_NOINLINE void match_decline(struct pl_engine *engine, const struct pl_origin *from,
                                              const struct pl_header *header, struct pl_rndv *rndv)
{
    if (rndv)
        pl_match_refuse(engine, rndv);
    else if (header->flags & PL_FLAG_SYNC)
        pl_match_answer(engine, from, header, PL_MSG_ACK, 0);
}

void pl_match_drop(struct pl_engine *engine, struct pl_unexpected *unexpected, bool cancelled)
{
    if (!cancelled)
        match_decline(engine, unexpected->from, &unexpected->header, unexpected->rndv);
    else if (unexpected->rndv)
        unexpected->rndv->ops->drop(match_transport_self(engine, unexpected->rndv->ops), unexpected->rndv, true);
    match_free(unexpected);
}

static struct pl_unexpected *match_keep(const struct pl_origin *from, const struct pl_header *header, const void *data,
                                        struct pl_rndv *rndv)
{
    size_t bytes = rndv ? 0 : header->size;
    struct pl_unexpected *unexpected = pl_malloc(sizeof *unexpected + bytes);
    if (!unexpected)
        return NULL;
    unexpected->header = *header;
    unexpected->from = from;
    pl_origin_hold(from);
    unexpected->rndv = rndv;
    if (bytes)
        memcpy(unexpected->data, data, bytes);
    return unexpected;
}

/* Drops a message for lack of memory: completes its send, and fails its receiver. */
static PL_COLD PL_NOINLINE void match_starve(struct pl_engine *engine, struct pl_comm *comm,
                                             const struct pl_origin *from, const struct pl_header *header,
                                             struct pl_rndv *rndv)
{
    match_decline(engine, from, header, rndv);
    pl_failure_message_dropped(engine, comm, header);
}

/* A message whose communicator is freed here is dropped, as those are that had come before. Of a revoked one its sender
 * asks for what is not of a collective. */
static PL_COLD PL_NOINLINE bool match_drop_late(struct pl_engine *engine, const struct pl_origin *from,
                                                const struct pl_header *header, struct pl_rndv *rndv)
{
    bool ends = header->kind == PL_MSG_COLL || header->kind == PL_MSG_BROKEN || header->kind == PL_MSG_AGREEMENT;
    const struct pl_comm_freed *freed = pl_engine_freed_comm(engine, header);
    if (!freed || (freed->failed && !ends))
        return false;
    if (header->kind == PL_MSG_COLL && !freed->failed && (rndv || (header->flags & PL_FLAG_SYNC)))
        pl_comm_break_sender(engine, from, header, freed->rank);
    match_decline(engine, from, header, rndv);
    return true;
}

void pl_match_keep_early(struct pl_engine *engine, struct pl_comm *comm, const struct pl_origin *from,
                         const struct pl_header *header, const void *data, struct pl_rndv *rndv)
{
    if (pl_unlikely(!comm && engine->state != PL_ENGINE_OPEN)) {
        match_decline(engine, from, header, rndv);
        return;
    }
    if (pl_unlikely(!comm) && match_drop_late(engine, from, header, rndv))
        return;
    if (pl_unlikely(!comm && header->kind == PL_MSG_BROKEN && header->part == PL_FAULT_ASKED)) {
        pl_comm_break_answer(engine, from, header, data);
        return;
    }
    bool revoked = comm && pl_unlikely(atomic_load_explicit(&comm->health.revoked, memory_order_relaxed));
    if (revoked && !rndv && !(header->flags & PL_FLAG_SYNC))
        return;
    struct pl_unexpected *unexpected = match_keep(from, header, data, rndv);
    if (!unexpected) {
        match_starve(engine, comm, from, header, rndv);
        return;
    }
    if (revoked)
        comm = NULL; /* until its sender asks for it back */
    pl_list_append(comm ? &comm->match.queues[header->kind].unexpected : &engine->early.messages, &unexpected->link);
    if (comm && pl_unlikely(comm->match.queues[header->kind].index != NULL))
        pl_match_index_add_unexpected(&comm->match.queues[header->kind], unexpected);
    if (atomic_load_explicit(&engine->wait.sleepers, memory_order_relaxed) > 0)
        pl_engine_wake(engine); /* a thread may sleep in a probe */
}

/* The first posted receive that fits. */
static struct pl_request *find_posted(struct pl_comm *comm, const struct pl_header *header)
{
    struct pl_queues *queues = &comm->match.queues[header->kind];
    int steps = 0;
    if (pl_unlikely(queues->index != NULL) && pl_match_index_has_posted(queues))
        return pl_match_index_posted(queues, header->source, header->tag);
    for (struct pl_list *node = queues->posted.next; node != &queues->posted; node = node->next, steps++) {
        struct pl_request *request = PL_CONTAINER(node, struct pl_request, link);
        if (match_fits(header, request->args.peer_rank, request->args.tag))
            return request;
        if (pl_unlikely(steps == PL_SEARCH_LONG) && pl_match_index_make_posted(queues))
            return pl_match_index_posted(queues, header->source, header->tag);
    }
    return NULL;
}

struct pl_request *pl_match_find_posted(struct pl_comm *comm, const struct pl_header *header)
{
    return find_posted(comm, header);
}

/* No rank of the communicator has sent it: the sender's memory is damaged, and the sender counts as lost. */
static PL_COLD PL_NOINLINE bool match_drop_impossible(struct pl_engine *engine, const struct pl_comm *comm,
                                                      const struct pl_origin *from, const struct pl_header *header,
                                                      struct pl_rndv *rndv)
{
    if (header->source >= 0 && header->source < pl_comm_targets(comm)) /* of a remote group larger than the local one */
        return false;
    engine->dropped_messages++;
    pl_log("match", 1, "a message says that it is from rank %d of a communicator of %d: its sender's memory is damaged",
           header->source, pl_comm_targets(comm));
    if (rndv)
        pl_match_refuse(engine, rndv);
    pl_engine_origin_failed(engine, from, MPI_ERR_OTHER, "its memory is damaged");
    return true;
}

/* Returns whether the engine may await another message of the same source: not if the next posted receive is from
 * another one, or there is none. */
static inline bool arrived_message(struct pl_engine *engine, const struct pl_origin *from,
                                   const struct pl_header *header, const void *data, struct pl_rndv *rndv)
{
    struct pl_comm *comm = pl_engine_find_comm(engine, header);
    if (pl_likely(comm != NULL)) {
        if (pl_unlikely((uint32_t)header->source >= (uint32_t)comm->size) &&
            match_drop_impossible(engine, comm, from, header, rndv))
            return true;
        struct pl_request *request = find_posted(comm, header);
        if (request) {
            const struct pl_list *next = request->link.next;
            bool more = next != &comm->match.queues[header->kind].posted &&
                        match_is_from(PL_CONTAINER(next, struct pl_request, link), header->source);
            pl_match_unpost(request);
            match_deliver(request, from, header, data, rndv);
            return more;
        }
    }
    pl_match_keep_early(engine, comm, from, header, data, rndv);
    return true;
}

/* Announcements are matched by tag; chunks, which have negative tags, are found by number. */
static void arrived_partitioned(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                                const void *data, struct pl_rndv *rndv)
{
    if (header->tag >= 0) {
        arrived_message(engine, from, header, data, rndv);
        return;
    }
    struct pl_comm *comm = pl_engine_find_comm(engine, header);
    struct pl_request *chunk = comm ? pl_partitioned_find(comm, header) : NULL;
    if (chunk) {
        pl_match_unpost(chunk);
        match_deliver(chunk, from, header, data, rndv);
    } else {
        pl_match_keep_early(engine, comm, from, header, data, rndv);
    }
}

void pl_match_adopt(struct pl_engine *engine, struct pl_comm *comm)
{
    PL_LIST_EACH(unexpected, &engine->early.messages, struct pl_unexpected, link) {
        if (unexpected->header.home != comm->id.home || unexpected->header.serial != comm->id.serial)
            continue;
        if (atomic_load(&comm->health.revoked) && unexpected->header.kind < PL_QUEUES)
            continue; /* it stays until its sender asks for it back */
        pl_list_remove(&unexpected->link);
        if (unexpected->header.kind == PL_MSG_BROKEN) {
            pl_comm_break_told(comm, &unexpected->header, unexpected->data);
            match_free(unexpected);
        } else if (unexpected->header.kind == PL_MSG_AGREEMENT) {
            pl_message_ops[PL_MSG_AGREEMENT].arrived(engine, comm, unexpected->from, &unexpected->header,
                                                     unexpected->data, NULL);
            match_free(unexpected);
        } else if (match_drop_impossible(engine, comm, unexpected->from, &unexpected->header, unexpected->rndv)) {
            match_free(unexpected);
        } else {
            pl_list_append(&comm->match.queues[unexpected->header.kind].unexpected, &unexpected->link);
        }
    }
    if (pl_unlikely(engine->early.starved.serial))
        pl_failure_apply_dropped(engine, comm);
}

struct pl_unexpected *pl_match_find(struct pl_comm *comm, int context, int source, int tag)
{
    struct pl_queues *queues = &comm->match.queues[context];
    int steps = 0;
    if (pl_unlikely(queues->index != NULL) && pl_match_index_has_unexpected(queues, source, tag))
        return pl_match_index_unexpected(queues, source, tag);
    PL_LIST_EACH(unexpected, &queues->unexpected, struct pl_unexpected, link) {
        if (match_fits(&unexpected->header, source, tag))
            return unexpected;
        if (pl_unlikely(steps++ == PL_SEARCH_LONG) && pl_match_index_make_unexpected(queues, source, tag))
            return pl_match_index_unexpected(queues, source, tag);
    }
    return NULL;
}

void pl_match_take(struct pl_comm *comm, struct pl_unexpected *unexpected)
{
    struct pl_queues *queues = comm ? &comm->match.queues[unexpected->header.kind] : NULL;
    pl_list_remove(&unexpected->link);
    if (pl_unlikely(queues && queues->index))
        pl_match_index_remove_unexpected(queues, unexpected);
}

void pl_match_unpost(struct pl_request *request)
{
    struct pl_queues *queues = &request->comm->match.queues[request->context];
    pl_list_remove(&request->link);
    if (pl_unlikely(queues->index != NULL))
        pl_match_index_remove_posted(queues, request);
}

static inline void match_append(struct pl_queues *queues, struct pl_request *request)
{
    request->state = PL_STATE_POSTED;
    pl_list_append(&queues->posted, &request->link);
    if (pl_unlikely(queues->index != NULL))
        pl_match_index_add_posted(queues, request);
}

void pl_match_append(struct pl_request *request)
{
    match_append(&request->comm->match.queues[request->context], request);
}

void pl_match_post(struct pl_request *request)
{
    struct pl_comm *comm = request->comm;
    struct pl_queues *queues = &comm->match.queues[request->context];
    struct pl_unexpected *unexpected = NULL;
    if (!pl_list_empty(&queues->unexpected))
        unexpected = pl_match_find(comm, request->context, request->args.peer_rank, request->args.tag);
    if (unexpected) {
        pl_match_take(comm, unexpected);
        pl_match_deliver(request, unexpected);
        return;
    }
    int error;
    if (pl_unlikely(comm->health.failed) && pl_failures_end_receive(request, &error)) {
        pl_request_complete(request, error);
        return;
    }
    match_append(queues, request);
}

static PL_NOINLINE void arrived_other(struct pl_engine *engine, const struct pl_origin *from,
                                      const struct pl_header *header, const void *data, struct pl_rndv *rndv)
{
    switch (header->kind) {
    case PL_MSG_PARTITIONED: arrived_partitioned(engine, from, header, data, rndv); break;
    case PL_MSG_ACK: pl_send_acked(engine, header); break;
    case PL_MSG_CANCEL: pl_send_cancel_arrived(engine, from, header); break;
    case PL_MSG_CANCELLED: pl_send_cancel_answered(engine, header); break;
    case PL_MSG_BROKEN:
    case PL_MSG_AGREEMENT:
    case PL_MSG_OWED:
    case PL_MSG_LISTENER: pl_own_message_arrived(engine, from, header, data, rndv); break;
    default:
        if (header->kind < PL_MSG_KINDS && pl_message_ops[header->kind].arrived)
            pl_message_ops[header->kind].arrived(engine, pl_engine_find_comm(engine, header), from, header, data, rndv);
        else
            engine->dropped_messages++;
    }
}

bool pl_match_arrived(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                      const void *data, struct pl_rndv *rndv)
{
    if (pl_likely(header->kind == PL_MSG_P2P || header->kind == PL_MSG_COLL))
        return arrived_message(engine, from, header, data, rndv);
    arrived_other(engine, from, header, data, rndv);
    return true;
}

void pl_message_destroy(void *object)
{
    struct pl_message *message = object;
    if (message->unexpected) {
        struct pl_engine *engine = &message->comm->instance->engine;
        pl_engine_enter(engine);
        if (engine->state == PL_ENGINE_CLOSED)
            free(message->unexpected); /* closing the transport has released its data */
        else
            pl_match_drop(engine, message->unexpected, false);
        pl_engine_leave(engine);
    }
    pl_object_release(message->comm);
}
