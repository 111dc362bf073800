/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching of messages and receives, and the control messages of synchronous and cancelled sends. */
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
#include "core/engine/p2p.h"
#include "core/engine/partitioned.h"
#include "core/engine/partitioned_chunks.h"
#include "core/engine/peer.h"
#include "core/engine/peer_failure.h"
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

/* Answers the sender of `header`. A sender that is unreachable by now needs no answer. */
static void match_answer(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                         int kind, int tag)
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
        match_answer(request->engine, from, header, PL_MSG_ACK, 0);
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
        match_answer(engine, from, header, PL_MSG_ACK, 0);
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

static struct pl_comm *find_comm(struct pl_engine *engine, const struct pl_header *header)
{
    struct pl_comm *comm = engine->comms.last;
    if (comm && comm->id.home == header->home && comm->id.serial == header->serial)
        return comm;
    PL_TABLE_EACH_OF(other, &engine->comms.by_id, pl_comm_key(header->home, header->serial), struct pl_comm, by_id)
        if (other->id.home == header->home && other->id.serial == header->serial)
            return engine->comms.last = other;
    return NULL;
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

/* No receive is posted yet; `comm` NULL: the communicator is not made yet. */
static void arrived_early(struct pl_engine *engine, struct pl_comm *comm, const struct pl_origin *from,
                          const struct pl_header *header, const void *data, struct pl_rndv *rndv)
{
    if (pl_unlikely(!comm && engine->state != PL_ENGINE_OPEN)) {
        match_decline(engine, from, header, rndv);
        return;
    }
    if (pl_unlikely(!comm) && match_drop_late(engine, from, header, rndv))
        return;
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
    struct pl_comm *comm = find_comm(engine, header);
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
    arrived_early(engine, comm, from, header, data, rndv);
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
    struct pl_comm *comm = find_comm(engine, header);
    struct pl_request *chunk = comm ? pl_partitioned_find(comm, header) : NULL;
    if (chunk) {
        pl_match_unpost(chunk);
        match_deliver(chunk, from, header, data, rndv);
    } else {
        arrived_early(engine, comm, from, header, data, rndv);
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

/* The message with this token, which its sender withdraws: in one of the communicator's queues, or an early message. */
static struct pl_unexpected *find_token(struct pl_engine *engine, const struct pl_origin *from,
                                        const struct pl_header *header)
{
    struct pl_comm *comm = find_comm(engine, header);
    for (int i = -1; i < (comm ? PL_QUEUES : 0); i++)
        PL_LIST_EACH(unexpected, i < 0 ? &engine->early.messages : &comm->match.queues[i].unexpected,
                     struct pl_unexpected, link)
            if (unexpected->header.token == header->token && unexpected->from->engine == from->engine)
                return unexpected;
    return NULL;
}

static void arrived_cancel(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header)
{
    struct pl_unexpected *unexpected = find_token(engine, from, header);
    if (unexpected) {
        pl_match_take(find_comm(engine, header), unexpected);
        pl_match_drop(engine, unexpected, true);
    }
    match_answer(engine, from, header, PL_MSG_CANCELLED, unexpected != NULL);
}

/* The send with this token, if it expects an answer: a peer is not trusted. */
static struct pl_request *match_awaiting(struct pl_engine *engine, uint64_t token)
{
    return PL_TABLE_FIND(&engine->sends.by_token, token, struct pl_request, index.node);
}

static void arrived_ack(struct pl_engine *engine, const struct pl_header *header)
{
    struct pl_request *request = match_awaiting(engine, header->token);
    if (!request)
        return;
    pl_send_unlink(request);
    bool revoked = atomic_load(&request->comm->health.revoked); /* whose message may have gone with it, unread */
    if (request->state == PL_STATE_MOVING)
        request->is.acked = true;
    else
        pl_request_complete(request, revoked ? pl_comm_broken_class(request->comm) : MPI_SUCCESS);
}

static void arrived_cancelled(struct pl_engine *engine, const struct pl_header *header)
{
    struct pl_request *request = match_awaiting(engine, header->token);
    if (!request || !request->is.cancelling)
        return;
    request->is.cancelling = false;
    if (header->tag != 1)
        return; /* it was matched, and completes as usual */
    int failed = pl_comm_fails(request->comm, request->context) ? pl_comm_broken_class(request->comm)
                                                                : MPI_SUCCESS; /* it was asked back */
    pl_send_unlink(request);
    request->outcome.cancelled = !failed;
    struct pl_endpoint *endpoint = request->peer->endpoint;
    if (request->state == PL_STATE_AWAITING || endpoint->ops->withdraw(endpoint, &request->out))
        pl_request_complete(request, failed);
}

/* A message to the engine itself may be too long to be sent eagerly: it is fetched into memory first. */
struct own_fetch {
    struct pl_request request;
    const struct pl_origin *from;
    struct pl_header header;
    unsigned char data[];
};

static void own_arrived(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                        const void *data)
{
    struct pl_comm *comm = header->kind == PL_MSG_LISTENER ? NULL : find_comm(engine, header);
    if (header->kind == PL_MSG_OWED)
        pl_message_ops[PL_MSG_OWED].arrived(engine, comm, from, header, data, NULL);
    else if (header->kind == PL_MSG_LISTENER && engine->arrived)
        engine->arrived(engine, from, header, data);
    else if (comm && header->kind == PL_MSG_AGREEMENT)
        pl_message_ops[PL_MSG_AGREEMENT].arrived(engine, comm, from, header, data, NULL);
    else if (comm)
        pl_comm_break_told(comm, header, data);
    else if (header->kind != PL_MSG_LISTENER && engine->instance)
        arrived_early(engine, NULL, from, header, data, NULL);
}

static void own_fetched(struct pl_request *request)
{
    struct own_fetch *fetch = PL_CONTAINER(request, struct own_fetch, request);
    if (request->outcome.error == MPI_SUCCESS)
        own_arrived(request->engine, fetch->from, &fetch->header, fetch->data);
    pl_origin_release(fetch->from);
    free(fetch);
}

static void arrived_for_engine(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                               const void *data, struct pl_rndv *rndv)
{
    if (!rndv) {
        own_arrived(engine, from, header, data);
        return;
    }
    bool wanted = header->kind != PL_MSG_LISTENER || engine->arrived;
    struct own_fetch *fetched =
        wanted && header->size < PL_LISTENER_MAX ? pl_calloc(1, sizeof *fetched + header->size) : NULL;
    if (!fetched) {
        pl_match_refuse(engine, rndv);
        if (wanted && header->size < PL_LISTENER_MAX)
            pl_failure_own_message(engine, "out of memory for a message");
        return;
    }
    fetched->from = from;
    pl_origin_hold(from);
    fetched->header = *header;
    fetched->request.engine = engine;
    fetched->request.is.caller_owned = true;
    fetched->request.on.completed = own_fetched;
    pl_list_init(&fetched->request.link);
    pl_cursor_init(&fetched->request.in.data, fetched->data, (MPI_Count)header->size, PL_TYPE_BYTE);
    pl_match_fetch(&fetched->request, header, rndv);
}

static PL_NOINLINE void arrived_other(struct pl_engine *engine, const struct pl_origin *from,
                                      const struct pl_header *header, const void *data, struct pl_rndv *rndv)
{
    switch (header->kind) {
    case PL_MSG_PARTITIONED: arrived_partitioned(engine, from, header, data, rndv); break;
    case PL_MSG_ACK: arrived_ack(engine, header); break;
    case PL_MSG_CANCEL: arrived_cancel(engine, from, header); break;
    case PL_MSG_CANCELLED: arrived_cancelled(engine, header); break;
    case PL_MSG_BROKEN:
    case PL_MSG_AGREEMENT:
    case PL_MSG_OWED:
    case PL_MSG_LISTENER: arrived_for_engine(engine, from, header, data, rndv); break;
    default:
        if (header->kind < PL_MSG_KINDS && pl_message_ops[header->kind].arrived)
            pl_message_ops[header->kind].arrived(engine, find_comm(engine, header), from, header, data, rndv);
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
