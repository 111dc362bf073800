/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking sends and receives, and fast paths.
 *
 * Most messages are short, are one run of bytes, and go to a peer whose transport takes them at once; most are received
 * while nothing else is under way. These need no queue and no progress, and blocking ones no request: each operation
 * tries its fast path first. The general path uses a request, which for a blocking operation is on the stack.
 */
#include "core/engine/p2p_blocking.h"
#include "core/base/compiler.h"

#include "core/base/error.h"
#include "core/engine/bsend.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/p2p.h"
#include "core/engine/status.h"
#include "core/engine/wait.h"
#include "core/object/errhandler.h"

enum {
    FAST_POLLS = 100,  /* of the peer's next message, some 30 ns each; then the general path yields and sleeps */
    FAST_RUN = 512,    /* one receive of that many takes the general path: other operations must progress too, ... */
    FAST_RUN_FAR = 64, /* ... more often where there is a network */
};

/* A request on the stack of a blocking call: only the fields that are read are set. */
static inline void caller_owned(struct pl_request *request, int kind, struct pl_comm *comm, const void *buf,
                                MPI_Count count, struct pl_type *type, int rank, int tag)
{
    pl_request_begin(request, kind);
    pl_request_ask(request, buf, count, type, rank, tag);
    request->is.caller_owned = true;
    request->engine = &comm->instance->engine;
    request->comm = comm;
    request->type = NULL;
    request->outcome = (struct pl_outcome)PL_OUTCOME_OF_NOBODY;
    pl_list_init(&request->link);
}

/* While this call waits, another thread, or a callback, may free the communicator and the datatype. */
static inline void caller_keeps(struct pl_comm *comm, struct pl_type *type)
{
    pl_object_retain(comm);
    pl_object_retain(type);
}

/* An error is yet to be raised on the communicator. */
static inline int caller_leaves(int rc, struct pl_comm *comm, struct pl_type *type)
{
    pl_object_release(type);
    if (pl_likely(rc == MPI_SUCCESS))
        pl_object_release(comm);
    else
        pl_errhandler_keep(comm);
    return rc;
}

/* --- sends ------------------------------------------------------------------------------------------------------- */

/* Every PL_AHEAD_MOST-th message of collectives takes the general path, which waits for its match (engine.c). */
static inline bool may_run_ahead(struct pl_peer *peer, int kind)
{
    if (kind != PL_MSG_COLL)
        return true;
    bool may = peer->ahead + 1 < PL_AHEAD_MOST;
    peer->ahead += may;
    return may;
}

static inline bool send_fast(struct pl_comm *comm, int kind, const void *buf, MPI_Count count,
                             const struct pl_type *type, int dest, int tag)
{
    struct pl_engine *engine = &comm->instance->engine;
    size_t bytes = (size_t)count * (size_t)type->size;
    const void *data = pl_address(buf, type->true_lb);
    if (pl_unlikely(!type->dense))
        return false;
    pl_engine_enter(engine);
    struct pl_peer *peer = pl_comm_peer(comm, dest);
    bool sent = peer && peer->endpoint->ops->send_now && !peer->error && pl_list_empty(&peer->pending) &&
                may_run_ahead(peer, kind) &&
                peer->endpoint->ops->send_now(peer->endpoint, &comm->envelopes[kind], tag, bytes, data);
    pl_engine_leave(engine);
    return sent;
}

bool pl_send_fast(struct pl_comm *comm, const void *buf, MPI_Count count, const struct pl_type *type, int dest, int tag)
{
    return send_fast(comm, PL_MSG_P2P, buf, count, type, dest, tag);
}

bool pl_coll_send_fast(struct pl_comm *comm, const void *buf, MPI_Count count, const struct pl_type *type, int dest,
                       int tag)
{
    return !comm->health.orphan && send_fast(comm, PL_MSG_COLL, buf, count, type, dest, tag);
}

static PL_NOINLINE int send_by_request(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type,
                                       int dest, int tag, int mode)
{
    struct pl_request request;
    caller_owned(&request, PL_REQ_SEND, comm, buf, count, type, dest, tag);
    caller_keeps(comm, type);
    request.mode = (uint8_t)mode;
    pl_engine_enter(request.engine);
    pl_send_locked(&request);
    pl_engine_leave(request.engine);
    return caller_leaves(pl_request_wait(&request), comm, type);
}

int pl_send_standard(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type, int dest, int tag)
{
    return send_fast(comm, PL_MSG_P2P, buf, count, type, dest, tag)
               ? MPI_SUCCESS
               : send_by_request(comm, buf, count, type, dest, tag, PL_SEND_STANDARD);
}

int pl_send(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type, int dest, int tag, int mode)
{
    if (dest == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (mode == PL_SEND_BUFFERED)
        return pl_bsend(comm, buf, count, type, dest, tag);
    if (mode == PL_SEND_SYNC)
        return send_by_request(comm, buf, count, type, dest, tag, mode);
    return pl_send_standard(comm, buf, count, type, dest, tag);
}

/* --- receives ---------------------------------------------------------------------------------------------------- */

static inline bool is_idle(const struct pl_engine *engine)
{
    return pl_list_empty(&engine->sends.busy) && pl_list_empty(&engine->sends.unresolved) &&
           pl_list_empty(&engine->hooks);
}

/* Is the next message from a peer for this receive? It is if no message is unexpected and no other receive is posted.
 * And nothing else needs progress meanwhile. */
static inline bool blocking_is_alone(const struct pl_engine *engine, const struct pl_comm *comm)
{
    const struct pl_queues *queues = &comm->match.queues[PL_MSG_P2P];
    return pl_list_empty(&queues->unexpected) && pl_list_empty(&queues->posted) && is_idle(engine);
}

/* A fast path counts as a round of progress; one of FAST_RUN has to be a real one. */
static inline bool may_be_fast(struct pl_engine *engine, const struct pl_type *type, int source, int tag)
{
    unsigned turn = atomic_load_explicit(&engine->rounds, memory_order_relaxed) + 1;
    atomic_store_explicit(&engine->rounds, turn, memory_order_relaxed);
    return (source | tag) >= 0 && type->dense && turn % (engine->transports > 2 ? FAST_RUN_FAR : FAST_RUN) != 0;
}

static inline ptrdiff_t take_next(struct pl_engine *engine, const struct pl_comm *comm, void *buf, MPI_Count count,
                                  const struct pl_type *type, int source, int tag, int polls)
{
    const struct pl_peer *peer = pl_comm_peer(comm, source);
    if (!peer || !peer->endpoint->ops->take_next || !blocking_is_alone(engine, comm))
        return PL_PENDING;
    return peer->endpoint->ops->take_next(peer->endpoint, &comm->envelopes[PL_MSG_P2P], source, tag, polls,
                                          pl_address(buf, type->true_lb), (size_t)count * (size_t)type->size);
}

/* Where threads share the engine, the lock is free between two polls. */
static PL_NOINLINE ptrdiff_t take_next_shared(struct pl_engine *engine, const struct pl_comm *comm, void *buf,
                                              MPI_Count count, const struct pl_type *type, int source, int tag)
{
    ptrdiff_t bytes;
    int polls = pl_engine_should_yield(engine) ? 1 : FAST_POLLS;
    do {
        pl_lock_take(&engine->lock);
        bytes = take_next(engine, comm, buf, count, type, source, tag, 1);
        pl_lock_drop(&engine->lock);
    } while (bytes == PL_AGAIN && --polls > 0);
    return bytes;
}

/* Polls for some microseconds at most. */
static inline bool recv_fast(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type, int source,
                             int tag, MPI_Status *status)
{
    struct pl_engine *engine = &comm->instance->engine;
    if (!may_be_fast(engine, type, source, tag))
        return false;
    ptrdiff_t bytes;
    if (engine->lock.real)
        bytes = take_next_shared(engine, comm, buf, count, type, source, tag);
    else
        bytes = take_next(engine, comm, buf, count, type, source, tag, pl_engine_should_yield(engine) ? 1 : FAST_POLLS);
    if (bytes >= 0)
        pl_status_set(status, &(struct pl_outcome){ .source = source, .tag = tag, .bytes = bytes });
    return bytes >= 0;
}

/* Tags are unique to one collective: only an unexpected message can precede the next one. */
static inline ptrdiff_t take_next_coll(struct pl_engine *engine, struct pl_comm *comm, void *buf, MPI_Count count,
                                       const struct pl_type *type, int source, int tag, int polls)
{
    const struct pl_peer *peer = pl_comm_peer(comm, source);
    if (!peer || !peer->endpoint->ops->take_next ||
        (!pl_list_empty(&comm->match.queues[PL_MSG_COLL].unexpected) && pl_match_find(comm, PL_MSG_COLL, source, tag)))
        return PL_PENDING;
    return peer->endpoint->ops->take_next(peer->endpoint, &comm->envelopes[PL_MSG_COLL], source, tag,
                                          is_idle(engine) ? polls : 1, pl_address(buf, type->true_lb),
                                          (size_t)count * (size_t)type->size);
}

ptrdiff_t pl_coll_recv_fast(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type, int source,
                            int tag, bool wait)
{
    struct pl_engine *engine = &comm->instance->engine;
    ptrdiff_t bytes;
    int polls = wait && !pl_engine_should_yield(engine) ? FAST_POLLS : 1;
    if (comm->health.orphan || !may_be_fast(engine, type, source, tag))
        return PL_PENDING;
    do {
        pl_lock_take(&engine->lock);
        bytes = take_next_coll(engine, comm, buf, count, type, source, tag, engine->lock.real ? 1 : polls);
        pl_lock_drop(&engine->lock);
    } while (bytes == PL_AGAIN && engine->lock.real && --polls > 0);
    return bytes;
}

/* Uses a spare request and a predefined datatype, so that nothing is retained. Posts the receive unless its message is
 * likely to be there: to poll a line that the peer has yet to write costs the time of a message, and most programs post
 * receives early. */
bool pl_irecv_fast(struct pl_comm *comm, void *buf, MPI_Count count, struct pl_type *type, int source, int tag,
                   struct pl_request **made)
{
    struct pl_engine *engine = &comm->instance->engine;
    if (!type->obj.predefined || !may_be_fast(engine, type, source, tag))
        return false;
    pl_engine_enter(engine);
    struct pl_request *request = pl_request_again(comm, PL_REQ_RECV);
    if (request) {
        request->is.active = true;
        ptrdiff_t bytes = take_next(engine, comm, buf, count, type, source, tag, 0);
        if (bytes >= 0) {
            request->outcome = (struct pl_outcome){ .source = source, .tag = tag, .bytes = bytes };
            atomic_store_explicit(&request->done, 1, memory_order_relaxed); /* no other thread has it */
        } else {
            pl_request_ask(request, buf, count, type, source, tag);
            request->outcome = (struct pl_outcome)PL_OUTCOME_OF_NOBODY;
            pl_recv_locked(request);
        }
    }
    pl_engine_leave(engine);
    *made = request;
    return request != NULL;
}

static PL_NOINLINE int recv_by_request(struct pl_comm *comm, void *buf, MPI_Count count, struct pl_type *type,
                                       int source, int tag, MPI_Status *status)
{
    struct pl_request request;
    caller_owned(&request, PL_REQ_RECV, comm, buf, count, type, source, tag);
    caller_keeps(comm, type);
    pl_engine_enter(request.engine);
    pl_recv_locked(&request);
    pl_engine_leave(request.engine);
    int rc = pl_request_wait(&request);
    pl_status_set(status, &request.outcome);
    return caller_leaves(rc, comm, type);
}

int pl_recv(struct pl_comm *comm, void *buf, MPI_Count count, struct pl_type *type, int source, int tag,
            MPI_Status *status)
{
    if (source == MPI_PROC_NULL) {
        pl_status_set(status, &(struct pl_outcome)PL_OUTCOME_OF_NOBODY);
        return MPI_SUCCESS;
    }
    if (recv_fast(comm, buf, count, type, source, tag, status))
        return MPI_SUCCESS;
    return recv_by_request(comm, buf, count, type, source, tag, status);
}

/* --- both --------------------------------------------------------------------------------------------------------- */

int pl_sendrecv(struct pl_comm *comm, const struct pl_transfer *t, MPI_Status *status)
{
    struct pl_request *request;
    if (t->dest == MPI_PROC_NULL || pl_send_fast(comm, t->sendbuf, t->sendcount, t->sendtype, t->dest, t->sendtag))
        return pl_recv(comm, t->recvbuf, t->recvcount, t->recvtype, t->source, t->recvtag, status);
    int rc = pl_sendrecv_start(comm, t, &request);
    if (rc)
        return rc;
    rc = pl_request_wait(request);
    pl_status_set(status, &request->outcome);
    if (rc)
        pl_errhandler_keep(pl_object_retain(comm)); /* the request has kept it so far */
    pl_handle_drop(request);
    return rc;
}
