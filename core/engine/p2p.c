/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and receives as requests, probes, cancellation. See p2p.h. */
#include "core/engine/p2p.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/bsend.h"
#include "core/engine/comm_break.h"
#include "core/engine/comm_failures.h"
#include "core/engine/departure.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/send_answer.h"
#include "core/engine/status.h"
#include "core/engine/wait.h"
#include "core/engine/wait_record.h"
#include "core/object/errhandler.h"

/* --- sends and receives, with the engine's lock held ----------------------------------------------------------- */

static inline void start_send(struct pl_comm *comm, struct pl_request *request, const struct pl_type *type)
{
    request->out.header = (struct pl_header){
        .home = comm->id.home,
        .serial = comm->id.serial,
        .source = comm->rank,
        .tag = request->args.tag,
        .kind = request->context,
        .flags = request->mode == PL_SEND_SYNC ? PL_FLAG_SYNC : 0,
        .token = ++request->engine->sends.tokens,
    };
    request->out.rndv = false;
    request->is.by_token = request->is.acked = false;
    pl_cursor_init(&request->out.data, request->args.buf, request->args.count, type);
    request->out.header.size = request->out.data.total;
    pl_engine_send_to(comm, request->args.peer_rank, request);
}

static inline void start_recv(struct pl_request *request, const struct pl_type *type)
{
    pl_cursor_init(&request->in.data, (void *)request->args.buf, request->args.count, type);
    pl_match_post(request);
}

void pl_send_locked(struct pl_request *request)
{
    start_send(request->comm, request, request->args.datatype);
}

void pl_recv_locked(struct pl_request *request)
{
    start_recv(request, request->args.datatype);
}

static const struct pl_outcome outcome_of_nobody = PL_OUTCOME_OF_NOBODY;

/* --- prepared, then started --------------------------------------------------------------------------------------- */

int pl_send_prepare(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type, int dest, int tag,
                    int mode, struct pl_request **request)
{
    int rc = pl_p2p_prepare(PL_REQ_SEND, false, comm, buf, count, type, dest, tag, request);
    if (rc == MPI_SUCCESS)
        (*request)->mode = (uint8_t)mode;
    return rc;
}

int pl_recv_prepare(struct pl_comm *comm, void *buf, MPI_Count count, struct pl_type *type, int source, int tag,
                    struct pl_request **request)
{
    return pl_p2p_prepare(PL_REQ_RECV, false, comm, buf, count, type, source, tag, request);
}

/* A send that cannot begin is an error of the call, after which a program need not wait for the request. A receive that
 * fails at once has matched, or is told so by the call that waits for it. So is a send where failed members are
 * expected: programs for that check the outcomes of requests. */
static inline bool send_has_failed(const struct pl_request *request)
{
    return request->kind == PL_REQ_SEND && pl_request_done(request) && request->outcome.error &&
           !request->engine->comms.go_on && !atomic_load(&request->comm->health.revoked);
}

static PL_COLD int p2p_start_failed(struct pl_request *request)
{
    request->is.active = false;
    return pl_request_report(request);
}

int pl_p2p_start(struct pl_request *request)
{
    if (pl_unlikely(request->comm->health.orphan))
        return pl_comm_fail_orphan();
    request->is.active = true;
    request->outcome = outcome_of_nobody;
    if (request->args.peer_rank == MPI_PROC_NULL) {
        atomic_store_explicit(&request->done, 1, memory_order_release);
        return MPI_SUCCESS;
    }
    if (request->mode == PL_SEND_BUFFERED) { /* receives never have this mode */
        int rc = pl_bsend(request->comm, request->args.buf, request->args.count, request->args.datatype,
                          request->args.peer_rank, request->args.tag);
        request->is.active = rc == MPI_SUCCESS; /* on failure a persistent request may be started again */
        atomic_store_explicit(&request->done, 1, memory_order_release);
        return rc;
    }
    atomic_store_explicit(&request->done, 0, memory_order_relaxed);
    pl_engine_enter(request->engine);
    if (request->kind == PL_REQ_SEND)
        start_send(request->comm, request, request->args.datatype);
    else
        start_recv(request, request->args.datatype);
    pl_engine_leave(request->engine);
    return pl_unlikely(send_has_failed(request)) ? p2p_start_failed(request) : MPI_SUCCESS;
}

/* --- for the library itself --------------------------------------------------------------------------------------- */

static int start_hidden(enum pl_request_kind kind, struct pl_comm *comm, const void *buf, MPI_Count count,
                        const struct pl_type *type, int rank, int tag, struct pl_request **request)
{
    struct pl_request *made;
    if (pl_unlikely(pl_comm_fails(comm, PL_MSG_COLL, tag))) /* to a peer that is known it would go through */
        return pl_comm_broken_record(comm);
    int rc = pl_p2p_prepare(kind, true, comm, buf, count, type, rank, tag, &made);
    if (rc)
        return rc;
    made->context = PL_MSG_COLL;
    rc = pl_p2p_start(made);
    if (rc)
        pl_object_release(made);
    else
        *request = made;
    return rc;
}

int pl_coll_isend(struct pl_comm *comm, const void *buf, MPI_Count count, const struct pl_type *type, int dest, int tag,
                  struct pl_request **request)
{
    return start_hidden(PL_REQ_SEND, comm, buf, count, type, dest, tag, request);
}

int pl_coll_irecv(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type, int source, int tag,
                  struct pl_request **request)
{
    return start_hidden(PL_REQ_RECV, comm, buf, count, type, source, tag, request);
}

/* --- send and receive in one -------------------------------------------------------------------------------------- */

/* The parent completes when both children have, with the receive's outcome. When one half fails, the other is
 * withdrawn: its peer may wait for the half that failed. After MPI_ERR_TRUNCATE only the contents of a buffer are
 * wrong, and the other half goes on. Engine lock held in child_completed(). */
struct pair {
    struct pl_request *parent;
    int left;
    int error;
    struct pl_outcome outcome;
    struct pl_request *child[2];
    void *copy; /* of the data to send, if the receive overwrites it; else NULL */
};

static void pair_complete(struct pair *pair)
{
    pair->parent->outcome = pair->outcome;
    pl_request_complete(pair->parent, pair->error);
}

/* A send that is under way ends when its receiver has answered. */
static void pair_withdraw(struct pl_request *child)
{
    switch (child->state) {
    case PL_STATE_POSTED: pl_match_unpost(child); break;
    case PL_STATE_UNRESOLVED:
    case PL_STATE_QUEUED: pl_list_remove(&child->link); break;
    case PL_STATE_MOVING:
    case PL_STATE_AWAITING:
        if (child->kind == PL_REQ_SEND)
            pl_send_ask_back(child);
        return;
    default: return;
    }
    pl_request_complete(child, MPI_SUCCESS);
}

static void child_completed(struct pl_request *child)
{
    struct pair *pair = child->on.owner;
    bool first = child->outcome.error && child->outcome.error != MPI_ERR_TRUNCATE && !pair->error;
    if (child->outcome.error && !pair->error) {
        pair->error = child->outcome.error;
        pair->parent->args.peer_rank = child->args.peer_rank; /* for pl_request_report() */
    }
    if (child->kind == PL_REQ_RECV) {
        pair->outcome = child->outcome;
        pair->parent->in.size = child->in.size;
        pair->parent->in.data.total = child->in.data.total;
    }
    pair->left--;
    atomic_store_explicit(&child->done, 1, memory_order_release);
    if (first && pair->left > 0)
        pair_withdraw(pair->child[child == pair->child[0]]); /* which may complete the pair */
    else if (pair->left == 0)
        pair_complete(pair);
}

static void pair_destroyed(struct pl_request *parent)
{
    struct pair *pair = parent->on.owner;
    pl_object_release(pair->child[0]);
    pl_object_release(pair->child[1]);
    free(pair->copy);
    free(pair);
}

const struct pl_request *pl_sendrecv_part(const struct pl_request *request)
{
    const struct pair *pair = request->on.owner;
    return pair->child[pl_request_done(pair->child[0])];
}

static void start_child(struct pair *pair, struct pl_request *child)
{
    child->on.owner = pair;
    child->on.completed = child_completed;
    if (child->args.peer_rank == MPI_PROC_NULL) {
        child->outcome = outcome_of_nobody;
        child_completed(child);
    } else if (child->kind == PL_REQ_SEND) {
        start_send(child->comm, child, child->args.datatype);
    } else {
        start_recv(child, child->args.datatype);
    }
}

/* The data to send is copied where what is received replaces it. */
static int pair_prepare(struct pair *pair, struct pl_comm *comm, const struct pl_transfer *transfer)
{
    const void *sendbuf = transfer->sendbuf;
    MPI_Count sendcount = transfer->sendcount;
    const struct pl_type *sendtype = transfer->sendtype;
    if (transfer->replace && transfer->dest != MPI_PROC_NULL) {
        struct pl_cursor cursor;
        pl_cursor_init(&cursor, sendbuf, sendcount, sendtype);
        pair->copy = pl_malloc(cursor.total ? cursor.total : 1);
        if (!pair->copy)
            return pl_fail_memory("the copy of the data to send");
        sendcount = (MPI_Count)pl_cursor_pack(&cursor, pair->copy, cursor.total);
        sendtype = PL_TYPE_BYTE;
        sendbuf = pair->copy;
    }
    int rc = pl_p2p_prepare(PL_REQ_RECV, true, comm, transfer->recvbuf, transfer->recvcount, transfer->recvtype,
                            transfer->source, transfer->recvtag, &pair->child[0]);
    if (rc == MPI_SUCCESS)
        rc = pl_p2p_prepare(PL_REQ_SEND, true, comm, sendbuf, sendcount, sendtype, transfer->dest, transfer->sendtag,
                            &pair->child[1]);
    return rc;
}

int pl_sendrecv_start(struct pl_comm *comm, const struct pl_transfer *transfer, struct pl_request **request)
{
    int rc = MPI_ERR_NO_MEM;
    struct pl_request *parent = pl_request_create(PL_REQ_PAIR, comm, NULL, false);
    struct pair *pair = pl_calloc(1, sizeof *pair);
    if (!parent || !pair)
        goto nothing;
    rc = pair_prepare(pair, comm, transfer);
    if (rc)
        goto nothing;
    pair->parent = parent;
    pair->left = 2;
    pair->outcome = outcome_of_nobody;
    parent->on.owner = pair;
    parent->on.destroyed = pair_destroyed;
    pl_engine_enter(parent->engine);
    start_child(pair, pair->child[0]);
    if (pair->error && pair->error != MPI_ERR_TRUNCATE)
        pair_complete(pair); /* the other half does not begin */
    else
        start_child(pair, pair->child[1]);
    pl_engine_leave(parent->engine);
    if (pl_request_done(parent) && pl_unlikely(pair->error != MPI_SUCCESS && pair->error != MPI_ERR_TRUNCATE)) {
        rc = pl_request_report(parent);
        pl_handle_drop(parent);
        return rc;
    }
    *request = parent;
    return MPI_SUCCESS;

nothing:
    if (pair) {
        pl_object_release(pair->child[0]);
        free(pair->copy);
    }
    free(pair);
    pl_object_release(parent);
    return rc;
}

/* --- probing ------------------------------------------------------------------------------------------------------ */

enum { PROBE_ROUNDS = 100 }; /* rounds of a probe before it checks whether its source has departed */

static void outcome_of(const struct pl_unexpected *unexpected, struct pl_outcome *outcome)
{
    *outcome = (struct pl_outcome){ .source = unexpected->header.source,
                                    .tag = unexpected->header.tag,
                                    .bytes = (MPI_Count)unexpected->header.size };
}

/* Searches for a message, and once more after progress, which had *events. Takes it if `taken` is not NULL. Engine lock
 * held. */
static bool probe_find_locked(struct pl_comm *comm, int source, int tag, struct pl_outcome *outcome,
                              struct pl_message *taken, int *events)
{
    struct pl_unexpected *unexpected = pl_match_find(comm, PL_MSG_P2P, source, tag);
    *events = unexpected ? 0 : pl_engine_progress(&comm->instance->engine);
    if (*events)
        unexpected = pl_match_find(comm, PL_MSG_P2P, source, tag);
    if (!unexpected)
        return false;
    outcome_of(unexpected, outcome);
    if (taken) {
        pl_match_take(comm, unexpected);
        taken->unexpected = unexpected;
    }
    return true;
}

/* Without `wait` it tries once more if its round of progress had events: they may have been those of a connection. */
static int probe_run(struct pl_comm *comm, int source, int tag, bool wait, bool *found, struct pl_outcome *outcome,
                     struct pl_message *taken)
{
    struct pl_engine *engine = &comm->instance->engine;
    const struct pl_waiting what = {
        .what = PL_WHAT_PROBE, .comm = comm, .peer = source, .tag = tag == MPI_ANY_TAG ? PL_ANY : tag
    };
    struct pl_wait idling = { .what = &what };
    for (bool tried = false;; tried = true) {
        int events;
        pl_engine_enter(engine);
        *found = probe_find_locked(comm, source, tag, outcome, taken, &events);
        bool left = !*found && wait && idling.rounds > PROBE_ROUNDS && pl_departure_has(comm, source);
        bool failed = !*found && comm->health.failed && pl_failures_end_probe(comm, source);
        if (left || failed) /* what the dead had sent was taken meanwhile */
            *found = probe_find_locked(comm, source, tag, outcome, taken, &events);
        pl_engine_leave(engine);
        if (*found)
            return MPI_SUCCESS;
        if (failed)
            return pl_failures_record_probe(comm, source);
        if (left)
            return pl_departure_record(comm);
        if (wait) {
            idling.rounds = events ? 0 : idling.rounds;
            pl_engine_idle(engine, &idling);
        } else if (tried || events == 0) {
            pl_wait_record_poll(engine, NULL, &idling);
            pl_engine_polled(engine);
            return MPI_SUCCESS;
        }
    }
}

int pl_probe(struct pl_comm *comm, int source, int tag, bool wait, bool *found, struct pl_outcome *outcome,
             struct pl_message **message)
{
    struct pl_message *made = NULL;
    if (message) {
        made = pl_object_create(PL_MESSAGE);
        if (!made)
            return MPI_ERR_NO_MEM;
        made->comm = pl_object_retain(comm);
    }
    if (wait) /* another thread may free it meanwhile */
        pl_object_retain(comm);
    int rc = probe_run(comm, source, tag, wait, found, outcome, made);
    if (wait && rc)
        pl_errhandler_keep(comm); /* an error is yet to be raised on it */
    else if (wait)
        pl_object_release(comm);
    if (made && !*found) {
        pl_handle_drop(made);
        made = NULL;
    }
    if (message)
        *message = made;
    return rc;
}

int pl_mrecv_start(struct pl_message *message, void *buf, MPI_Count count, struct pl_type *type,
                   struct pl_request **request)
{
    struct pl_request *made;
    if (message->comm->health.orphan)
        return pl_comm_fail_orphan();
    int rc = pl_p2p_prepare(PL_REQ_RECV, false, message->comm, buf, count, type, message->unexpected->header.source,
                            message->unexpected->header.tag, &made);
    if (rc)
        return rc;
    struct pl_unexpected *unexpected = message->unexpected;
    message->unexpected = NULL;
    made->is.active = true;
    pl_cursor_init(&made->in.data, buf, count, type);
    pl_engine_enter(made->engine);
    pl_match_deliver(made, unexpected);
    pl_engine_leave(made->engine);
    pl_handle_drop(message);
    *request = made;
    return MPI_SUCCESS;
}

/* --- cancelling --------------------------------------------------------------------------------------------------- */

int pl_cancel(struct pl_request *request)
{
    int rc = MPI_SUCCESS;
    pl_engine_enter(request->engine);
    switch (request->state) {
    case PL_STATE_POSTED:
        pl_match_unpost(request);
        request->outcome.cancelled = true;
        pl_request_complete(request, MPI_SUCCESS);
        break;
    case PL_STATE_UNRESOLVED:
    case PL_STATE_QUEUED:
        pl_list_remove(&request->link);
        request->outcome.cancelled = true;
        pl_request_complete(request, MPI_SUCCESS);
        break;
    case PL_STATE_MOVING:
    case PL_STATE_AWAITING:
        if (request->kind == PL_REQ_SEND)
            rc = pl_send_ask_back(request);
        break;
    default: break;
    }
    pl_engine_leave(request->engine);
    return rc;
}
