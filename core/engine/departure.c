/* SPDX-License-Identifier: BSD-3-Clause */
/* See departure.h. */
#include "core/engine/departure.h"

#include "core/base/error.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "core/engine/p2p.h"
#include "core/engine/peer.h"
#include "core/engine/peer_failure.h"
#include "core/engine/request.h"
#include "core/engine/wait_record.h"
#include "core/job/jobs.h"
#include "core/job/process.h"

/* One of another job that cannot be reached at all has left, too: it cannot reach this process either. One of the own
 * job has when its process has ended. */
static bool one_has(struct pl_comm *comm, int rank)
{
    struct pl_peer *peer = pl_comm_peer(comm, rank);
    uint64_t proc = pl_group_proc(comm->inter.remote ? comm->inter.remote : comm->group, rank);
    int rc = peer ? MPI_SUCCESS : pl_engine_resolve(comm, rank, &peer);
    if (rc)
        return rc != PL_AGAIN && rc != MPI_ERR_NO_MEM &&
               (PL_PROC_JOB(proc) != 0 || pl_process_alive(proc) == MPI_ERR_PROC_ABORTED);
    return peer->closed;
}

/* All the others. In an intracommunicator this process itself remains, where another of its threads may send. One who
 * has not left is enough, so that no more connections are made than needed. */
static bool all_have(struct pl_comm *comm)
{
    const struct pl_group *group = comm->inter.remote ? comm->inter.remote : comm->group;
    int self = comm->inter.remote ? -1 : comm->rank;
    if (self >= 0 && (group->size == 1 || comm->instance->engine.lock.real))
        return false;
    for (int i = 0; i < group->size; i++)
        if (i != self && !one_has(comm, i))
            return false;
    comm->health.departed = self == 0 ? 2 : 1;
    return true;
}

bool pl_departure_has(struct pl_comm *comm, int rank)
{
    if (rank == MPI_ANY_SOURCE)
        return all_have(comm);
    bool has = one_has(comm, rank);
    if (has)
        comm->health.departed = rank + 1;
    return has;
}

/* The first receive of a collective or a partitioned operation that waits for one who has left. */
static struct pl_request *vain_part(struct pl_comm *comm, int context)
{
    PL_LIST_EACH(request, &comm->match.queues[context].posted, struct pl_request, link)
        if (pl_departure_has(comm, request->args.peer_rank))
            return request;
    return NULL;
}

/* What is in vain in a wait for this request: itself, or a part of it. NULL: nothing. */
static struct pl_request *departure_vain(struct pl_request *request)
{
    switch ((enum pl_request_kind)request->kind) {
    case PL_REQ_RECV:
        return request->state == PL_STATE_POSTED && pl_departure_has(request->comm, request->args.peer_rank) ? request
                                                                                                             : NULL;
    case PL_REQ_SEND: /* sent, and not acknowledged */
        return request->state == PL_STATE_AWAITING && pl_departure_has(request->comm, request->args.peer_rank) ? request
                                                                                                               : NULL;
    case PL_REQ_PAIR: return departure_vain((struct pl_request *)pl_sendrecv_part(request));
    case PL_REQ_COLL:
    case PL_REQ_COMM: return vain_part(request->comm, PL_MSG_COLL);
    case PL_REQ_PARTITIONED: return vain_part(request->comm, PL_MSG_PARTITIONED);
    default: return NULL;
    }
}

/* Of a handle: those of null requests are no addresses. */
static bool is_under_way(const struct pl_request *request)
{
    return (uintptr_t)request >= PL_ABI_CONSTANTS && !request->is.shared && !pl_request_done(request) &&
           (!request->is.persistent || request->is.active);
}

/* Until it is done, or there is nothing more in vain: others are to bring the rest. */
static void departure_end(struct pl_request *request)
{
    struct pl_request *part;
    while (!pl_request_done(request) && (part = departure_vain(request)) != NULL) {
        if (part->kind == PL_REQ_RECV)
            pl_match_unpost(part);
        else
            pl_list_remove(&part->link);
        pl_request_complete(part, MPI_ERR_PROC_ABORTED);
    }
}

static void look_at_all(const struct pl_engine *engine, const struct pl_waiting *what)
{
    bool all = true;
    for (int i = 0; i < what->count && all; i++)
        if (is_under_way(what->requests[i]))
            all = what->requests[i]->engine == engine && departure_vain(what->requests[i]) != NULL;
    for (int i = 0; i < what->count && all; i++)
        if (is_under_way(what->requests[i]))
            departure_end(what->requests[i]);
}

void pl_departure_check(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *what)
{
    pl_engine_enter(engine);
    if (request)
        departure_end(request);
    else if (what)
        look_at_all(engine, what);
    pl_engine_leave(engine);
}

int pl_departure_record(const struct pl_comm *comm)
{
    return pl_failure_record_about(comm, comm->health.departed - 1, "has finalized: nothing comes from there any more");
}
