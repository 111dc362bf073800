/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: creation, reuse, completion, waiting, freeing. */
#include "core/engine/request.h"
#include "core/base/compiler.h"

#include "core/base/error.h"
#include "core/datatype/datatype.h"
#include "core/engine/client.h"
#include "core/engine/comm.h"
#include "core/engine/comm_break.h"
#include "core/engine/departure.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/status.h"
#include "core/engine/wait.h"

/*
 * Programs make sends and receives by the million. A completed request becomes a spare of its communicator: it keeps
 * its reference to that and has no handle. The next operation then needs no memory, no further lock and no atomic
 * operation. When the user frees the communicator its spares are freed, and no more are kept.
 */
enum { SPARES_MAX = 256 };

static inline struct pl_request *take_spare_locked(struct pl_comm *comm)
{
    struct pl_list *link = pl_list_pop(&comm->requests.spares);
    comm->requests.spare_count -= link != NULL;
    return link ? PL_CONTAINER(link, struct pl_request, link) : NULL;
}

static inline struct pl_request *take_spare_coll_locked(struct pl_comm *comm)
{
    struct pl_request *request = comm->requests.spare_coll;
    comm->requests.spare_coll = NULL;
    comm->requests.spare_count -= request != NULL;
    return request;
}

static struct pl_request *take_spare(struct pl_comm *comm, enum pl_request_kind kind)
{
    struct pl_lock *lock = &comm->instance->engine.lock;
    pl_lock_take(lock);
    struct pl_request *request = kind == PL_REQ_COLL ? take_spare_coll_locked(comm) : take_spare_locked(comm);
    pl_lock_drop(lock);
    return request;
}

static inline bool keep_spare(struct pl_request *request)
{
    struct pl_comm *comm = request->comm;
    pl_lock_take(&request->engine->lock);
    bool coll = request->kind == PL_REQ_COLL;
    bool kept = !comm->health.orphan && (coll ? !comm->requests.spare_coll : comm->requests.spare_count < SPARES_MAX) &&
                atomic_load_explicit(&comm->obj.handles, memory_order_relaxed) > 0;
    if (kept) {
        atomic_store_explicit(&request->obj.handles, 0, memory_order_release);
        if (coll)
            comm->requests.spare_coll = request;
        else
            pl_list_push(&comm->requests.spares, &request->link);
        comm->requests.spare_count++;
    }
    pl_lock_drop(&request->engine->lock);
    return kept;
}

void pl_request_free_spares(struct pl_comm *comm)
{
    struct pl_request *request;
    while ((request = take_spare(comm, PL_REQ_RECV)) != NULL || (request = take_spare(comm, PL_REQ_COLL)) != NULL)
        pl_object_release(request);
}

_Atomic(struct pl_request *) pl_request_the_sent;

struct pl_request *pl_request_sent_make(void)
{
    struct pl_request *known = NULL, *made = pl_request_create(PL_REQ_COMPLETE, NULL, NULL, false);
    if (!made)
        return NULL;
    made->is.shared = true;
    made->outcome = (struct pl_outcome)PL_OUTCOME_OF_NOBODY;
    atomic_init(&made->done, 1);
    if (atomic_compare_exchange_strong(&pl_request_the_sent, &known, made))
        return made;
    pl_handle_drop(made);
    return known;
}

void pl_request_sent_forget(void)
{
    pl_object_release(atomic_exchange(&pl_request_the_sent, NULL));
}

/* Keeps a send or receive as a spare, if it can be reused. */
static inline bool request_reuse(struct pl_request *request)
{
    bool plain = request->kind <= PL_REQ_RECV && request->comm && !request->on.destroyed &&
                 atomic_load_explicit(&request->obj.refs, memory_order_relaxed) == 1;
    if (plain && request->type) {
        pl_object_release(request->type);
        request->type = NULL;
    }
    return plain && keep_spare(request);
}

/* Does nothing hold the request but one handle of the program? */
static inline bool request_is_unshared(const struct pl_request *request)
{
    return atomic_load_explicit(&request->obj.handles, memory_order_relaxed) == 1 &&
           atomic_load_explicit(&request->obj.refs, memory_order_relaxed) == 1;
}

/* A send or receive that has ended well, of a predefined type, and becomes a spare of `comm`. */
static inline bool request_is_plain(const struct pl_request *request, const struct pl_comm *comm)
{
    bool ended = request->comm == comm && request->kind <= PL_REQ_RECV && pl_request_done(request) &&
                 !request->is.persistent && !request->outcome.error;
    return ended && !request->type && !request->on.destroyed && request_is_unshared(request);
}

/* Under the engine's lock, which is taken once. */
static int finish_plain_of(struct pl_comm *comm, int count, MPI_Request requests[], MPI_Status statuses[])
{
    int i = 0, spares = SPARES_MAX - comm->requests.spare_count;
    if (comm->health.orphan || atomic_load_explicit(&comm->obj.handles, memory_order_relaxed) <= 0)
        return 0;
    for (; i < count && i < spares; i++) {
        struct pl_request *request = (struct pl_request *)requests[i];
        if (requests[i] == MPI_REQUEST_NULL || !request_is_plain(request, comm))
            break;
        if (statuses != MPI_STATUSES_IGNORE)
            pl_status_set(&statuses[i], &request->outcome);
        atomic_store_explicit(&request->obj.handles, 0, memory_order_release);
        pl_list_push(&comm->requests.spares, &request->link);
        requests[i] = MPI_REQUEST_NULL;
    }
    comm->requests.spare_count += i;
    return i;
}

int pl_request_finish_plain(int count, MPI_Request requests[], MPI_Status statuses[])
{
    const struct pl_request *first = (struct pl_request *)requests[0];
    if (atomic_load_explicit(&first->obj.handles, memory_order_relaxed) <= 0 || first->kind > PL_REQ_RECV ||
        !first->comm)
        return 0;
    struct pl_comm *comm = first->comm;
    pl_lock_take(&first->engine->lock);
    int finished = finish_plain_of(comm, count, requests, statuses);
    pl_lock_drop(&comm->instance->engine.lock);
    return finished;
}

/* The same for a collective, with its schedule. */
static inline bool reuse_coll(struct pl_request *request)
{
    if (request->kind != PL_REQ_COLL || request->on.owner ||
        atomic_load_explicit(&request->obj.refs, memory_order_relaxed) != 1)
        return false;
    pl_request_ops[PL_REQ_COLL].recycle(request);
    return keep_spare(request);
}

void pl_request_retire(struct pl_request *request)
{
    if (!request->is.shared && !request_reuse(request) && !reuse_coll(request))
        pl_handle_drop(request);
}

void pl_request_recycle(struct pl_request *request)
{
    if (!request_reuse(request))
        pl_object_release(request);
}

static inline struct pl_request *request_renewed(struct pl_request *request, enum pl_request_kind kind, bool hidden)
{
    atomic_store_explicit(&request->obj.handles, !hidden, memory_order_relaxed);
    request->obj.abi = 0;
    pl_request_begin(request, kind);
    request->on.owner = NULL;
    return request;
}

struct pl_request *pl_request_again(struct pl_comm *comm, enum pl_request_kind kind)
{
    struct pl_request *request = take_spare_locked(comm);
    return request ? request_renewed(request, kind, false) : NULL;
}

static struct pl_request *request_create(enum pl_request_kind kind, struct pl_comm *comm, bool hidden)
{
    struct pl_request *request = hidden ? pl_object_create_hidden(PL_REQUEST) : pl_object_create(PL_REQUEST);
    if (!request)
        return NULL;
    pl_request_begin(request, kind);
    pl_list_init(&request->link);
    if (comm) {
        request->comm = pl_object_retain(comm);
        request->engine = &comm->instance->engine;
    }
    return request;
}

struct pl_request *pl_request_create(enum pl_request_kind kind, struct pl_comm *comm, const struct pl_type *type,
                                     bool hidden)
{
    struct pl_request *request = kind <= PL_REQ_COLL && comm ? take_spare(comm, kind) : NULL;
    request = request ? request_renewed(request, kind, hidden) : request_create(kind, comm, hidden);
    if (request && type && !type->obj.predefined)
        request->type = pl_object_retain((struct pl_type *)type);
    return request;
}

int pl_p2p_prepare(enum pl_request_kind kind, bool hidden, struct pl_comm *comm, const void *buf, MPI_Count count,
                   const struct pl_type *type, int rank, int tag, struct pl_request **request)
{
    struct pl_request *made = pl_request_create(kind, comm, type, hidden);
    if (!made)
        return MPI_ERR_NO_MEM;
    pl_request_ask(made, buf, count, type, rank, tag);
    *request = made;
    return MPI_SUCCESS;
}

void pl_request_destroy(void *object)
{
    struct pl_request *request = object;
    if (request->on.destroyed)
        request->on.destroyed(request);
    if (request->type)
        pl_object_release(request->type);
    if (!request->comm)
        return;
    if (request->is.detached)
        atomic_fetch_sub_explicit(&request->comm->requests.detached, 1, memory_order_release);
    pl_object_release(request->comm);
}

void pl_request_complete(struct pl_request *request, int error)
{
    request->state = PL_STATE_IDLE;
    request->outcome.error = error;
    if (pl_unlikely(request->on.completed != NULL)) {
        request->on.completed(request);
        return;
    }
    struct pl_engine *engine = request->engine;
    bool detached = request->is.detached;
    if (detached)
        pl_list_append(&engine->deferred.frees, &request->link);
    /* From here on the waiting thread owns the request. */
    atomic_store_explicit(&request->done, 1, memory_order_release);
    if (engine && atomic_load_explicit(&engine->wait.sleepers, memory_order_seq_cst) > 0)
        pl_engine_wake(engine);
}

void pl_request_let_go(struct pl_request *request)
{
    struct pl_engine *engine = request->engine;
    if (request->is.shared)
        return;
    if (engine && request->kind != PL_REQ_COMPLETE) {
        pl_engine_enter(engine);
        bool busy = !pl_request_done(request) && (!request->is.persistent || request->is.active);
        request->is.detached = busy;
        if (busy) {
            pl_object_retain(request);
            atomic_fetch_add_explicit(&request->comm->requests.detached, 1, memory_order_relaxed);
        }
        pl_engine_leave(engine);
    }
    pl_handle_drop(request);
}

bool pl_request_test(struct pl_request *request)
{
    if (pl_request_done(request))
        return true;
    if (request->engine) {
        pl_engine_enter(request->engine);
        pl_engine_progress(request->engine);
        pl_engine_leave(request->engine);
    }
    return pl_request_done(request);
}

int pl_request_wait(struct pl_request *request)
{
    if (!pl_request_done(request))
        pl_engine_wait(request->engine, request);
    return request->outcome.error ? pl_request_report(request) : MPI_SUCCESS;
}

int pl_request_finish(struct pl_request *request)
{
    int rc = pl_request_wait(request);
    pl_object_release(request);
    return rc;
}

int pl_request_report(const struct pl_request *request)
{
    int error = request->outcome.error;
    const struct pl_message_ops *messages = &pl_message_ops[request->context];
    if (error == MPI_ERR_TRUNCATE && request->kind == PL_REQ_RECV && messages->truncated)
        return messages->truncated(request);
    if (error == MPI_ERR_TRUNCATE && (request->kind == PL_REQ_RECV || request->kind == PL_REQ_PAIR))
        return pl_fail(
            error, "the message of %llu bytes from rank %d with tag %d is longer than the receive buffer of %zu bytes",
            (unsigned long long)request->in.size, request->outcome.source, request->outcome.tag,
            request->in.data.total);
    if (request->comm && request->comm->health.failed && error == pl_comm_broken_class(request->comm)) {
        bool one = request->comm->health.confined && request->context != PL_MSG_COLL && request->kind != PL_REQ_COLL &&
                   request->args.peer_rank >= 0;
        return one ? pl_departure_record_failed(request->comm, request->args.peer_rank)
                   : pl_comm_broken_record(request->comm);
    }
    if (error == MPI_ERR_PROC_ABORTED && request->comm->health.departed)
        return pl_departure_record(request->comm);
    if (error == MPI_ERR_PROC_ABORTED && request->kind == PL_REQ_AGREEMENT)
        return pl_fail(error, "a member of %s has failed, and not all others have acknowledged it",
                       pl_comm_label(request->comm));
    if (error == MPI_ERR_PROC_ABORTED)
        return pl_fail(error, "the process of rank %d in %s is gone", request->args.peer_rank,
                       pl_comm_label(request->comm));
    return pl_request_ops[request->kind].report ? pl_request_ops[request->kind].report(request, error) : error;
}
