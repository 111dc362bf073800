/* SPDX-License-Identifier: BSD-3-Clause */
/* See departure.h. */
#include "core/engine/departure.h"

#include <stdio.h>

#include "core/base/error.h"
#include "core/engine/comm_failures.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "core/engine/p2p.h"
#include "core/engine/peer.h"
#include "core/engine/peer_failure.h"
#include "core/engine/request.h"
#include "core/engine/wait_record.h"
#include "core/job/jobs.h"
#include "core/job/process.h"

static const char departed_words[] = "has finalized: it neither sends nor receives any more";

/* Why does a process take no part any more, as words? The state of the World says nothing of sessions. */
static enum pl_absence departure_absence(const struct pl_comm *comm, uint64_t proc, char words[PL_DETAIL_MAX])
{
    words[0] = '\0';
    return comm->instance->world ? pl_process_absence(proc, words) : PL_STAYS;
}

/* Has a rank that could not be reached departed? One of another job has, since it cannot reach this process either; one
 * of this job, once its process has finalized or ended, or could not initialize MPI. */
static bool departure_explains(const struct pl_comm *comm, uint64_t proc, int rc)
{
    char words[PL_DETAIL_MAX];
    return rc != MPI_SUCCESS && rc != PL_AGAIN && rc != MPI_ERR_NO_MEM &&
           (PL_PROC_JOB(proc) != 0 || departure_absence(comm, proc, words) != PL_STAYS ||
            pl_process_alive(proc) == MPI_ERR_PROC_ABORTED);
}

static uint64_t departure_proc(const struct pl_comm *comm, int rank)
{
    return pl_group_proc(comm->inter.remote ? comm->inter.remote : comm->group, rank);
}

static void departure_note(struct pl_comm *comm, int rank)
{
    if (atomic_exchange(&comm->health.departed, rank + 1) != rank + 1)
        comm->health.departed_how = PL_STAYS;
}

/* All members of a session's communicator had an engine when it was made. One that cannot be reached has closed it,
 * though the process may live on, and open other sessions. */
static bool rank_has_departed(struct pl_comm *comm, int rank)
{
    struct pl_peer *peer = pl_comm_peer(comm, rank);
    int rc = peer ? MPI_SUCCESS : pl_engine_resolve(comm, rank, &peer);
    bool closed = !comm->instance->world && rc != PL_AGAIN && rc != MPI_ERR_NO_MEM;
    return rc ? closed || departure_explains(comm, departure_proc(comm, rank), rc) : peer->closed;
}

static bool is_closed(const struct pl_comm *comm, int rank)
{
    const struct pl_peer *peer = pl_comm_peer(comm, rank);
    return peer && peer->closed;
}

/* Has the process died? Then the launcher will know, and ends the job for the reason of its death, not for the errors
 * of those that miss it. */
static bool departure_is_death(const struct pl_comm *comm, uint64_t proc)
{
    enum { TRIES = 50 };
    char words[PL_DETAIL_MAX];
    enum pl_absence absence = departure_absence(comm, proc, words);
    if (PL_PROC_JOB(proc) != 0 || absence == PL_DEPARTED || absence == PL_UNABLE)
        return false;
    bool died = pl_failure_is_death(proc); /* its memory goes before the process itself */
    for (int i = 0; !died && pl_process_alive(proc) == MPI_ERR_PROC_ABORTED && i < TRIES; i++)
        died = pl_failure_is_death(proc);
    return died;
}

/*
 * A standard send of a short message may be complete before it is received, and is, to a receiver that is connected
 * when it departs. So it is to one that was not: the message is dropped, which only the receiver could have prevented.
 */
int pl_departure_of_send(struct pl_request *request, int rc)
{
    enum { SHORT = 16384 };
    struct pl_comm *comm = request->comm;
    bool message = request->kind == PL_REQ_SEND && request->context == PL_MSG_P2P;
    if (!comm)
        return rc;
    uint64_t proc = departure_proc(comm, request->args.peer_rank);
    char words[PL_DETAIL_MAX];
    if (!message && rc != MPI_ERR_NO_MEM && departure_is_death(comm, proc))
        return MPI_ERR_PROC_ABORTED;
    bool explained = departure_explains(comm, proc, rc);
    if (!message && rc == MPI_ERR_PROC_ABORTED && PL_PROC_JOB(proc) == 0 &&
        (explained || is_closed(comm, request->args.peer_rank)))
        departure_note(comm, request->args.peer_rank); /* the words of the error */
    if (!message || pl_comm_fails(comm, PL_MSG_P2P, 0) || pl_comm_member_failed(comm, request->args.peer_rank) ||
        !explained)
        return rc;
    bool never = departure_absence(comm, proc, words) == PL_UNABLE; /* it has never been there to receive */
    if (!never && request->mode != PL_SEND_SYNC && request->out.header.size <= SHORT) {
        pl_error_clear();
        return MPI_SUCCESS;
    }
    departure_note(comm, request->args.peer_rank);
    return MPI_ERR_PROC_ABORTED;
}

/* The failure of a process of another job is noticed by the connection to it alone: a thread that may wait for its
 * messages makes one. */
static void departure_meet_other_jobs(struct pl_comm *comm)
{
    const struct pl_group *group = comm->inter.remote ? comm->inter.remote : comm->group;
    for (int i = 0; i < group->size; i++)
        if (PL_PROC_JOB(pl_group_proc(group, i)) != 0 && !pl_comm_member_failed(comm, i) &&
            rank_has_departed(comm, i) && !is_closed(comm, i))
            pl_comm_fail_member(comm, pl_comm_member(comm, i, comm->inter.remote != NULL));
}

/* Have all other ranks departed? In an intracommunicator this process remains, of which another thread may send. Stops
 * at the first rank that has not, so that no needless connections are made. */
static bool all_have_departed(struct pl_comm *comm)
{
    const struct pl_group *group = comm->inter.remote ? comm->inter.remote : comm->group;
    int self = comm->inter.remote ? -1 : comm->rank;
    if (pl_comm_keeps_failures(comm))
        departure_meet_other_jobs(comm);
    if (self >= 0 && (group->size == 1 || comm->instance->engine.threads.several))
        return false;
    for (int i = 0; i < group->size; i++)
        if (i != self && !rank_has_departed(comm, i))
            return false;
    departure_note(comm, self == 0 ? 1 : 0);
    return true;
}

bool pl_departure_has(struct pl_comm *comm, int rank)
{
    if (rank == MPI_ANY_SOURCE)
        return all_have_departed(comm);
    bool has = rank_has_departed(comm, rank);
    if (has)
        departure_note(comm, rank);
    return has;
}

/* Has it, for a request that waits for it? *news: the question itself has found a failure, and dealt with it. Requests
 * may be complete, or gone, and the caller follows them no more: a later check will. */
static bool departure_ends_wait(struct pl_comm *comm, int rank, bool *news)
{
    const struct pl_engine *engine = &comm->instance->engine;
    unsigned before = engine->comms.news;
    bool has = pl_departure_has(comm, rank);
    *news = engine->comms.news != before;
    return has && !*news;
}

/* The first receive of a collective or a partitioned operation that waits for a departed rank. */
static struct pl_request *departed_receive(struct pl_comm *comm, int context)
{
    bool news = false;
    PL_LIST_EACH(request, &comm->match.queues[context].posted, struct pl_request, link) {
        if (departure_ends_wait(comm, request->args.peer_rank, &news))
            return request;
        if (news)
            break;
    }
    return NULL;
}

static struct pl_request *departure_of_message(struct pl_request *request, enum pl_request_state waits)
{
    bool news;
    return request->state == waits && departure_ends_wait(request->comm, request->args.peer_rank, &news) ? request
                                                                                                         : NULL;
}

/* The part of this request, or the request itself, that waits for a departed rank; NULL: none does. */
static struct pl_request *departure_find_part(struct pl_request *request)
{
    switch ((enum pl_request_kind)request->kind) {
    case PL_REQ_RECV: return departure_of_message(request, PL_STATE_POSTED);
    case PL_REQ_SEND: return departure_of_message(request, PL_STATE_AWAITING); /* sent, and not acknowledged */
    case PL_REQ_PAIR: return departure_find_part((struct pl_request *)pl_sendrecv_part(request));
    case PL_REQ_COLL: return departed_receive(request->comm, PL_MSG_COLL);
    case PL_REQ_PARTITIONED: return departed_receive(request->comm, PL_MSG_PARTITIONED);
    default: return NULL;
    }
}

/* Takes a handle; those of null requests cannot be followed. */
static bool is_under_way(const struct pl_request *request)
{
    return (uintptr_t)request >= PL_ABI_CONSTANTS && !request->is.shared && !pl_request_done(request) &&
           (!request->is.persistent || request->is.active);
}

/* Ends all parts that wait for departed ranks. The other ranks complete the rest. */
static void departure_end(struct pl_request *request)
{
    struct pl_request *part;
    while (!pl_request_done(request) && (part = departure_find_part(request)) != NULL) {
        if (part->kind == PL_REQ_RECV)
            pl_match_unpost(part);
        else
            pl_list_remove(&part->link);
        pl_request_complete(part, MPI_ERR_PROC_ABORTED);
    }
}

static void departure_end_all(const struct pl_engine *engine, const struct pl_waiting *what)
{
    bool all = true;
    for (int i = 0; i < what->count && all; i++)
        if (is_under_way(what->requests[i]))
            all = what->requests[i]->engine == engine && departure_find_part(what->requests[i]) != NULL;
    for (int i = 0; i < what->count && all; i++)
        if (is_under_way(what->requests[i]))
            departure_end(what->requests[i]);
}

static void departure_end_collectives(struct pl_engine *engine)
{
    struct pl_request *part;
    PL_TABLE_EACH(comm, &engine->comms.by_id, struct pl_comm, by_id) {
        if (pl_comm_keeps_failures(comm))
            departure_meet_other_jobs(comm);
        while ((part = departed_receive(comm, PL_MSG_COLL)) != NULL) {
            pl_match_unpost(part);
            pl_request_complete(part, MPI_ERR_PROC_ABORTED);
        }
    }
}

void pl_departure_check(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *what)
{
    if (request)
        departure_end(request);
    else if (what)
        departure_end_all(engine, what);
    else
        departure_end_collectives(engine);
}

/* A process that dies loses its memory first, and is missed before its end is known. Waits for that once, whatever the
 * number of operations that miss it. */
int pl_departure_record(struct pl_comm *comm)
{
    int rank = comm->health.departed - 1;
    uint64_t proc = departure_proc(comm, rank);
    char words[PL_DETAIL_MAX];
    if (departure_absence(comm, proc, words) != PL_STAYS)
        return pl_failure_record_about(comm, rank, words);
    if (comm->health.departed_how == PL_STAYS)
        comm->health.departed_how = departure_is_death(comm, proc) ? PL_DIED : PL_DEPARTED;
    return pl_failure_record_about(comm, rank, comm->health.departed_how == PL_DIED ? "has died" : departed_words);
}

/* Is no more known than that a link to it is lost? Its process may have died since. In a pool another one may be in its
 * place. */
static bool departure_is_unreached(const struct pl_comm *comm, int rank)
{
    uint64_t proc = pl_failure_proc(comm, rank);
    bool remote = comm->inter.remote && rank < comm->inter.remote->size;
    return pl_comm_member_unreached(comm, pl_comm_member(comm, rank, remote)) && !pl_process_deaths(proc) &&
           !pl_process_died(proc, true);
}

int pl_departure_record_failed(const struct pl_comm *comm, int rank)
{
    char words[PL_DETAIL_MAX];
    if (departure_absence(comm, pl_failure_proc(comm, rank), words) != PL_STAYS)
        return pl_failure_record_about(comm, rank, words);
    bool departed = comm->health.departed == rank + 1 && comm->health.departed_how != PL_DIED;
    if (departed || !departure_is_unreached(comm, rank))
        return pl_failure_record_about(comm, rank, departed ? departed_words : "has died");
    return pl_failure_record_about(comm, rank, "counts as failed: a connection to it is lost, and it may live");
}
