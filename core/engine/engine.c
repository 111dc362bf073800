/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine: ordered sends, progress, and the functions that transports call. */
#include "core/engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/engine/comm_break.h"
#include "core/engine/comm_failures.h"
#include "core/engine/departure.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/engine/match.h"
#include "core/engine/p2p.h"
#include "core/engine/peer.h"
#include "core/engine/peer_failure.h"
#include "core/engine/progress.h"
#include "core/engine/request.h"
#include "core/engine/send_answer.h"
#include "core/job/jobs.h"

static void engine_queue(struct pl_engine *engine, struct pl_peer *peer, struct pl_request *request)
{
    if (pl_list_empty(&peer->link)) /* a peer whose pending sends were cancelled may still be in the list */
        pl_list_append(&engine->sends.busy, &peer->link);
    request->state = PL_STATE_QUEUED;
    pl_list_append(&peer->pending, &request->link);
}

/* Tries once. PL_AGAIN: nothing happened. Otherwise the request is under way or complete. */
static int try_send(struct pl_engine *engine, struct pl_peer *peer, struct pl_request *request)
{
    struct pl_endpoint *endpoint = peer->endpoint;
    bool sync = request->out.header.flags & PL_FLAG_SYNC;

    request->state = PL_STATE_MOVING;
    if (sync)
        pl_send_await(request);
    int rc = endpoint->ops->send(endpoint, &request->out);
    bool awaits = rc == MPI_SUCCESS && sync && !request->is.acked;
    if (rc == PL_PENDING || awaits) {
        if (awaits)
            request->state = PL_STATE_AWAITING;
        else if (!sync)
            pl_list_append(&engine->sends.moving, &request->link);
        if (request->comm && pl_unlikely(pl_comm_fails(request->comm, request->context, request->args.tag)))
            pl_send_ask_back(request); /* the receiver may have left the communicator, and never match it */
        return MPI_SUCCESS;
    }
    pl_send_unlink(request);
    if (rc != PL_AGAIN)
        pl_request_complete(request, rc);
    return rc == PL_AGAIN ? PL_AGAIN : MPI_SUCCESS;
}

/* A rank that only sends, as the root of a bcast or the first of a scan, must not run too far ahead of its receivers:
 * early messages take memory there and lengthen every search. So one message of PL_AHEAD_MOST completes only when it is
 * matched. */
static inline void require_match_sometimes(struct pl_peer *peer, struct pl_request *request)
{
    if (++peer->ahead < PL_AHEAD_MOST)
        return;
    peer->ahead = 0;
    request->out.header.flags |= PL_FLAG_SYNC;
}

/* The error of a message to a lost peer, which counts as failed where a communicator goes on without failed members. */
static int engine_loss(const struct pl_peer *peer, const struct pl_request *request)
{
    return request->comm && pl_comm_keeps_failures(request->comm) ? MPI_ERR_PROC_ABORTED : peer->error;
}

void pl_engine_send(struct pl_engine *engine, struct pl_peer *peer, struct pl_request *request)
{
    request->peer = peer;
    if (request->out.header.kind == PL_MSG_COLL)
        require_match_sometimes(peer, request);
    if (pl_unlikely(peer->error))
        pl_request_complete(request, engine_loss(peer, request));
    else if (!pl_list_empty(&peer->pending) || try_send(engine, peer, request) == PL_AGAIN)
        engine_queue(engine, peer, request);
}

static int send_queued(struct pl_engine *engine, struct pl_peer *peer)
{
    int events = 0;
    struct pl_list *node;
    while ((node = pl_list_pop(&peer->pending)) != NULL) {
        struct pl_request *request = PL_CONTAINER(node, struct pl_request, link);
        if (peer->error) {
            pl_request_complete(request, engine_loss(peer, request));
        } else if (try_send(engine, peer, request) == PL_AGAIN) {
            pl_list_append(peer->pending.next, node); /* back to the front */
            request->state = PL_STATE_QUEUED;
            break;
        }
        events++;
    }
    return events;
}

/* Completions in here may take any peer out of the list, or enter it again. */
static int send_pending(struct pl_engine *engine)
{
    int events = 0;
    struct pl_list busy, *node;
    pl_list_move(&busy, &engine->sends.busy);
    while ((node = pl_list_pop(&busy)) != NULL) {
        struct pl_peer *peer = PL_CONTAINER(node, struct pl_peer, link);
        events += send_queued(engine, peer);
        if (!pl_list_empty(&peer->pending) && pl_list_empty(&peer->link))
            pl_list_append(&engine->sends.busy, &peer->link);
    }
    return events;
}

/* Does an earlier send to the same rank still wait for its address? */
static bool earlier_send_is_unresolved(const struct pl_list *waiting, const struct pl_request *request)
{
    for (const struct pl_list *node = waiting->next; node != waiting; node = node->next) {
        const struct pl_request *other = PL_CONTAINER(node, const struct pl_request, link);
        if (other->args.peer_rank == request->args.peer_rank && other->comm == request->comm)
            return true;
    }
    return false;
}

static int engine_resolve(struct pl_comm *comm, int rank, const struct pl_request *request, struct pl_peer **peer)
{
    uint8_t kind = request->out.header.kind;
    bool outlives = kind == PL_MSG_BROKEN || kind == PL_MSG_AGREEMENT;
    if (!outlives && pl_comm_fails(comm, kind, request->args.tag))
        return pl_comm_broken_class(comm);
    if (!outlives && pl_comm_member_failed(comm, rank))
        return MPI_ERR_PROC_ABORTED;
    const struct pl_message_ops *ops = &pl_message_ops[request->out.header.kind];
    int rc = pl_engine_resolve(comm, rank, peer);
    bool confined = atomic_load(&comm->health.failed); /* and this is one of the messages that go on */
    return rc == MPI_SUCCESS && ops->check && !confined ? ops->check(comm) : rc;
}

/* A send to a rank that this process cannot connect to. If that rank has not departed, it will wait for the message,
 * and so may others: the communicator is broken. */
static void send_nowhere(struct pl_request *request, int rc)
{
    struct pl_comm *comm = request->comm;
    char why[PL_DETAIL_MAX];
    int told = pl_departure_of_send(request, rc), recorded;
    bool awaited = comm && told == rc && rc != MPI_ERR_NO_MEM && rc != MPI_ERR_PROC_ABORTED;
    snprintf(why, sizeof why, "%s", pl_error_detail(&recorded));
    pl_request_complete(request, told);
    if (!awaited || recorded != rc || comm->health.orphan)
        return;
    pl_comm_break_for_all_locked(comm, rc, why);
    pl_fail(rc, "%s", why);
}

/* Retries the sends whose receiver had no address, in order: one that must still wait holds back later ones to its
 * rank. */
static int send_unresolved(struct pl_engine *engine)
{
    int events = 0;
    struct pl_list waiting;
    pl_list_init(&waiting);
    struct pl_list *node;
    while ((node = pl_list_pop(&engine->sends.unresolved)) != NULL) {
        struct pl_request *request = PL_CONTAINER(node, struct pl_request, link);
        struct pl_peer *peer = NULL;
        int rc = earlier_send_is_unresolved(&waiting, request)
                     ? PL_AGAIN
                     : engine_resolve(request->comm, request->args.peer_rank, request, &peer);
        if (rc == PL_AGAIN) {
            pl_list_append(&waiting, node);
            continue;
        }
        events++;
        if (rc)
            send_nowhere(request, rc);
        else
            pl_engine_send(engine, peer, request);
    }
    while ((node = pl_list_pop(&waiting)) != NULL)
        pl_list_append(&engine->sends.unresolved, node);
    return events;
}

void pl_engine_send_to(struct pl_comm *comm, int rank, struct pl_request *request)
{
    struct pl_engine *engine = &comm->instance->engine;
    struct pl_peer *peer = pl_comm_peer(comm, rank);
    int rc = MPI_SUCCESS;
    if (pl_unlikely(!peer))
        rc = earlier_send_is_unresolved(&engine->sends.unresolved, request)
                 ? PL_AGAIN
                 : engine_resolve(comm, rank, request, &peer);
    if (pl_likely(rc == MPI_SUCCESS)) {
        pl_engine_send(engine, peer, request);
    } else if (rc == PL_AGAIN) {
        request->state = PL_STATE_UNRESOLVED;
        pl_list_append(&engine->sends.unresolved, &request->link);
    } else {
        send_nowhere(request, rc);
    }
}

inline int pl_engine_progress_transports(struct pl_engine *engine)
{
    int events = 0;
    assert(!engine->wait.inside);
    engine->wait.inside = true;
    for (int i = 0; i < engine->transports; i++)
        events += engine->transport[i].ops->progress(engine->transport[i].self);
    engine->wait.inside = false;
    return events;
}

int pl_engine_progress(struct pl_engine *engine)
{
    assert(pl_lock_held(&engine->lock));
    unsigned turn = atomic_load_explicit(&engine->rounds, memory_order_relaxed) + 1;
    atomic_store_explicit(&engine->rounds, turn, memory_order_relaxed);
    int events = pl_engine_progress_transports(engine);
    if (!pl_list_empty(&engine->sends.busy))
        events += send_pending(engine);
    if (!pl_list_empty(&engine->sends.unresolved))
        events += send_unresolved(engine);
    PL_LIST_EACH(hook, &engine->hooks, struct pl_hook, link) {
        if (!hook->run)
            break;
        events += hook->run(hook);
    }
    PL_LIST_EACH(slow, &engine->slow_hooks, struct pl_hook, link)
        events += slow->run(slow);
    return events;
}

const struct pl_transport_ops *pl_engine_find_sharing(struct pl_engine *engine, void **self)
{
    for (int i = 0; i < engine->transports; i++)
        if (engine->transport[i].ops->share) {
            *self = engine->transport[i].self;
            return engine->transport[i].ops;
        }
    return NULL;
}

void pl_engine_run_deferred(struct pl_list *deferred)
{
    struct pl_list *node;
    while ((node = pl_list_pop(deferred)) != NULL) {
        struct pl_deferred *work = PL_CONTAINER(node, struct pl_deferred, link);
        work->ops->run(work);
    }
}

void pl_engine_leave_busy(struct pl_engine *engine)
{
    struct pl_list dead, deferred, *node;
    pl_list_move(&dead, &engine->deferred.frees);
    pl_list_move(&deferred, &engine->deferred.work);
    if (pl_unlikely(engine->threads.progress != NULL) && pl_progress_is_this_thread())
        pl_progress_leave_to_user(engine, &deferred);
    pl_lock_drop(&engine->lock);
    while ((node = pl_list_pop(&dead)) != NULL)
        pl_object_release(PL_CONTAINER(node, struct pl_request, link));
    pl_engine_run_deferred(&deferred);
}

/* A peer that has closed before does not count: what was under way to it has been reported. */
static void engine_lose_peer(struct pl_engine *engine, struct pl_peer *peer, int error, const char *why)
{
    bool known = peer->error;
    pl_engine_peer_failed(engine, peer, error);
    if (!known && !peer->closed)
        pl_failure_link(engine, peer, error, why);
}

/* A control message: a request with a copy of the data behind it. */
struct control {
    struct pl_request request;
    int *result; /* for pl_engine_control(), until it returns; NULL: it has */
    unsigned char data[];
};

/* One that fails later has no caller that could be told, and its receiver may wait for it: the link is lost. */
static void control_sent(struct pl_request *request)
{
    struct control *control = PL_CONTAINER(request, struct control, request);
    struct pl_engine_sends *sends = &request->engine->sends;
    if (control->result)
        *control->result = request->outcome.error;
    else if (request->outcome.error)
        engine_lose_peer(request->engine, request->peer, request->outcome.error, "a control message could not be sent");
    if (!sends->spare)
        sends->spare = control;
    else
        free(control);
}

static struct control *control_make(struct pl_engine_sends *sends, size_t bytes)
{
    struct control *control = pl_malloc(sizeof *control + bytes);
    if (!control && bytes == 0) {
        control = sends->spare;
        sends->spare = NULL;
    }
    if (control)
        memset(control, 0, sizeof *control);
    return control;
}

int pl_engine_control(struct pl_engine *engine, struct pl_peer *peer, const struct pl_header *header, const void *data,
                      size_t bytes)
{
    struct control *control = control_make(&engine->sends, bytes);
    if (!control)
        return pl_fail_memory("a control message");
    struct pl_request *request = &control->request;
    request->engine = engine;
    request->is.caller_owned = true;
    request->on.completed = control_sent;
    request->out.header = *header;
    request->out.header.size = bytes;
    if (bytes)
        memcpy(control->data, data, bytes);
    pl_list_init(&request->link);
    pl_cursor_init(&request->out.data, control->data, (MPI_Count)bytes, PL_TYPE_BYTE);
    int result = PL_PENDING;
    control->result = &result;
    pl_engine_send(engine, peer, request);
    if (result != PL_PENDING)
        return result;
    control->result = NULL;
    return MPI_SUCCESS;
}

void pl_engine_answer(struct pl_engine *engine, struct pl_peer *peer, const struct pl_header *header)
{
    int rc = pl_engine_control(engine, peer, header, NULL, 0);
    if (rc)
        engine_lose_peer(engine, peer, rc, "a control message could not be sent");
}

/* --- what transports call ------------------------------------------------------------------------------------- */

static void host_sent(struct pl_engine *engine, struct pl_outgoing *message, int error)
{
    (void)engine;
    struct pl_request *request = PL_CONTAINER(message, struct pl_request, out);
    if (!error && (message->header.flags & PL_FLAG_SYNC) && !message->rndv && !request->is.acked &&
        !request->outcome.cancelled) {
        request->state = PL_STATE_AWAITING;
        return;
    }
    pl_send_unlink(request);
    pl_request_complete(request, error);
}

static void host_fetched(struct pl_engine *engine, struct pl_incoming *message, int error)
{
    (void)engine;
    struct pl_request *request = PL_CONTAINER(message, struct pl_request, in);
    if (!error && message->size > message->data.total)
        error = MPI_ERR_TRUNCATE;
    pl_request_complete(request, error);
}

static void peer_note_gone(struct pl_engine *engine, struct pl_peer *peer)
{
    if (pl_list_empty(&peer->gone))
        pl_list_append(&engine->peers.gone, &peer->gone);
}

void pl_engine_peer_failed(struct pl_engine *engine, struct pl_peer *peer, int error)
{
    if (peer->error)
        return;
    peer->error = error;
    peer_note_gone(engine, peer);
    char label[PL_JOB_NAME_MAX + 32];
    pl_jobs_describe(peer->proc, label, sizeof label);
    pl_log("engine", 1, "lost %s", label);
    PL_LIST_EACH(request, &engine->sends.awaiting, struct pl_request, link)
        if (request->peer == peer && request->state == PL_STATE_AWAITING) {
            pl_send_unlink(request);
            pl_request_complete(request, engine_loss(peer, request));
        }
    struct pl_list *node;
    while ((node = pl_list_pop(&peer->pending)) != NULL)
        pl_request_complete(PL_CONTAINER(node, struct pl_request, link),
                            engine_loss(peer, PL_CONTAINER(node, struct pl_request, link)));
    pl_list_remove(&peer->link);
}

/* The peer that sent from this origin; NULL: nothing was sent to it. */
static struct pl_peer *peer_at(const struct pl_engine *engine, const struct pl_origin *from)
{
    return from ? PL_TABLE_FIND(&engine->peers.by_id, from->engine, struct pl_peer, by_id) : NULL;
}

void pl_engine_origin_failed(struct pl_engine *engine, const struct pl_origin *from, int error, const char *why)
{
    struct pl_peer *peer = peer_at(engine, from);
    struct pl_peer unknown = { .engine = from ? from->engine : 0, .proc = UINT64_MAX };
    if (peer)
        engine_lose_peer(engine, peer, error, why);
    else if (from)
        pl_failure_link(engine, &unknown, error, why);
}

static void host_failed(struct pl_engine *engine, struct pl_endpoint *endpoint, const struct pl_origin *from, int error,
                        const char *why)
{
    if (endpoint)
        engine_lose_peer(engine, endpoint->peer, error, why);
    if (!endpoint || peer_at(engine, from))
        pl_engine_origin_failed(engine, from, error, why);
}

static void host_closed(struct pl_engine *engine, struct pl_endpoint *endpoint, const struct pl_origin *from)
{
    struct pl_peer *peers[] = { endpoint ? endpoint->peer : NULL, peer_at(engine, from) };
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++)
        if (peers[i]) {
            peers[i]->closed = true;
            peer_note_gone(engine, peers[i]);
        }
}

static uint64_t host_engine_id(const struct pl_engine *engine)
{
    return engine->id;
}

static const void *host_engine_card(const struct pl_engine *engine, size_t *length)
{
    *length = engine->card_length;
    return engine->card;
}

static bool host_threaded(const struct pl_engine *engine)
{
    return engine->lock.real;
}

static bool host_far(const struct pl_engine *engine)
{
    return engine->outside.far;
}

static uint32_t host_runtime(const struct pl_engine *engine)
{
    (void)engine;
    const struct pl_job_segment *job = pl_process.identity.job;
    return job ? (uint32_t)job->runtime_pid : 0;
}

static void host_quiet(struct pl_engine *engine)
{
    if (pl_unlikely(!pl_list_empty(&engine->peers.gone)))
        pl_engine_forget_gone(engine);
    if (pl_unlikely(pl_process_sees_lacking(false)))
        pl_engine_meet_lacking(engine);
}

const struct pl_transport_host pl_engine_host = {
    .abi = PL_TRANSPORT_ABI,
    .arrived = pl_match_arrived,
    .sent = host_sent,
    .fetched = host_fetched,
    .failed = host_failed,
    .closed = host_closed,
    .quiet = host_quiet,
    .engine_id = host_engine_id,
    .engine_card = host_engine_card,
    .threaded = host_threaded,
    .far = host_far,
    .runtime = host_runtime,
    .pack = pl_cursor_pack,
    .unpack = pl_cursor_unpack,
    .seek = pl_cursor_seek,
    .run = pl_cursor_run,
    .fail = pl_fail,
    .config_long = pl_config_long,
    .config_text = pl_config_text,
    .log = pl_log,
};
