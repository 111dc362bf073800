/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking sends and receives.
 *
 * Most messages are short, lie in one run, and go to a peer whose transport takes them at once; most are received when
 * nothing else is about. These need no request, no queue and no progress: each operation tries its short way first,
 * which does everything or nothing, and then takes the general one, with a request on the stack.
 */
#include "core/engine.h"
#include "core/error.h"
#include "core/instance.h"
#include "core/p2p.h"
#include "core/bsend.h"
#include "core/status.h"

enum {
    LOOKS = 100, /* at the peer's next message, some 30 ns each, before the general way, which yields and sleeps */
    TURNS = 64,  /* of so many receives one goes the general way: what else is under way must move on */
};

/* A request on the stack of a blocking call: only what is read is set. */
static inline void on_stack(struct pl_request *request, int kind, struct pl_comm *comm, const void *buf,
                            MPI_Count count, struct pl_type *type, int rank, int tag)
{
    atomic_init(&request->done, 0);
    request->kind = (uint8_t)kind;
    request->mode = PL_SEND_STANDARD;
    request->persistent = request->active = request->cancelling = request->detached = false;
    request->on_stack = true;
    request->context = PL_MSG_P2P;
    request->state = PL_STATE_IDLE;
    request->engine = &comm->instance->engine;
    request->comm = comm;
    request->type = NULL;
    request->outcome = (struct pl_outcome)PL_OUTCOME_OF_NOBODY;
    request->buf = buf;
    request->count = count;
    request->datatype = type;
    request->peer_rank = rank;
    request->tag = tag;
    request->completed = NULL;
    pl_list_init(&request->link);
}

/* --- sends ------------------------------------------------------------------------------------------------------- */

static inline bool send_short(struct pl_comm *comm, const void *buf, MPI_Count count, const struct pl_type *type,
                              int dest, int tag)
{
    struct pl_engine *engine = &comm->instance->engine;
    pl_engine_enter(engine);
    const struct pl_peer *peer = pl_comm_peer(comm, dest);
    bool sent = peer && peer->endpoint->ops->send_now && type->dense && !peer->error && pl_list_empty(&peer->pending) &&
                peer->endpoint->ops->send_now(peer->endpoint, &comm->envelope, tag, (size_t)count * (size_t)type->size,
                                              pl_address(buf, type->true_lb));
    pl_engine_leave(engine);
    return sent;
}

bool pl_send_short(struct pl_comm *comm, const void *buf, MPI_Count count, const struct pl_type *type, int dest,
                   int tag)
{
    return send_short(comm, buf, count, type, dest, tag);
}

static __attribute__((noinline)) int send_by_request(struct pl_comm *comm, const void *buf, MPI_Count count,
                                                     struct pl_type *type, int dest, int tag, int mode)
{
    struct pl_request request;
    on_stack(&request, PL_REQ_SEND, comm, buf, count, type, dest, tag);
    request.mode = (uint8_t)mode;
    pl_engine_enter(request.engine);
    pl_send_locked(&request);
    pl_engine_leave(request.engine);
    return pl_request_wait(&request);
}

int pl_send(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type, int dest, int tag, int mode)
{
    if (dest == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (mode == PL_SEND_BUFFERED)
        return pl_bsend(comm, buf, count, type, dest, tag);
    if (mode != PL_SEND_SYNC && send_short(comm, buf, count, type, dest, tag))
        return MPI_SUCCESS;
    return send_by_request(comm, buf, count, type, dest, tag, mode);
}

/* --- receives ---------------------------------------------------------------------------------------------------- */

/* What comes next from a peer can only be for this receive: nothing has come before, nothing is posted before. And
 * nothing else has to be moved on meanwhile. */
static inline bool is_alone(const struct pl_engine *engine, const struct pl_comm *comm)
{
    const struct pl_queues *queues = &comm->queues[PL_MSG_P2P];
    return pl_list_empty(&queues->unexpected) && pl_list_empty(&queues->posted) && pl_list_empty(&engine->busy) &&
           pl_list_empty(&engine->unresolved) && pl_list_empty(&engine->hooks);
}

/* Waits for some microseconds at most. Where threads share the engine, it is theirs between two looks. */
static inline bool recv_short(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type, int source,
                              int tag, MPI_Status *status)
{
    struct pl_engine *engine = &comm->instance->engine;
    unsigned turn = atomic_load_explicit(&engine->turns, memory_order_relaxed) + 1;
    atomic_store_explicit(&engine->turns, turn, memory_order_relaxed);
    if (source < 0 || tag < 0 || !type->dense || turn % TURNS == 0)
        return false;
    struct pl_header wanted = comm->envelope;
    wanted.source = source;
    wanted.tag = tag;
    int left = pl_engine_is_patient(engine) ? 1 : LOOKS, looks = engine->lock.real ? 1 : left, rc;
    size_t room = (size_t)count * (size_t)type->size, bytes;
    void *to = pl_address(buf, type->true_lb);
    do {
        pl_engine_enter(engine);
        const struct pl_peer *peer = pl_comm_peer(comm, source);
        bool able = peer && peer->endpoint->ops->take_next && is_alone(engine, comm);
        rc = !able ? PL_PENDING : peer->endpoint->ops->take_next(peer->endpoint, &wanted, looks, to, room, &bytes);
        pl_engine_leave(engine);
        left -= looks;
    } while (rc == PL_AGAIN && left > 0);
    if (rc == MPI_SUCCESS)
        pl_status_set(status, &(struct pl_outcome){ .source = source, .tag = tag, .bytes = (MPI_Count)bytes });
    return rc == MPI_SUCCESS;
}

static __attribute__((noinline)) int recv_by_request(struct pl_comm *comm, void *buf, MPI_Count count,
                                                     struct pl_type *type, int source, int tag, MPI_Status *status)
{
    struct pl_request request;
    on_stack(&request, PL_REQ_RECV, comm, buf, count, type, source, tag);
    pl_engine_enter(request.engine);
    pl_recv_locked(&request);
    pl_engine_leave(request.engine);
    int rc = pl_request_wait(&request);
    pl_status_set(status, &request.outcome);
    return rc;
}

int pl_recv(struct pl_comm *comm, void *buf, MPI_Count count, struct pl_type *type, int source, int tag,
            MPI_Status *status)
{
    if (source == MPI_PROC_NULL) {
        pl_status_set(status, &(struct pl_outcome)PL_OUTCOME_OF_NOBODY);
        return MPI_SUCCESS;
    }
    if (recv_short(comm, buf, count, type, source, tag, status))
        return MPI_SUCCESS;
    return recv_by_request(comm, buf, count, type, source, tag, status);
}
