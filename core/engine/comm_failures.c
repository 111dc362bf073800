/* SPDX-License-Identifier: BSD-3-Clause */
/* See comm_failures.h. */
#include "core/engine/comm_failures.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/client.h"
#include "core/engine/comm_break.h"
#include "core/engine/departure.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "core/engine/p2p.h"
#include "core/engine/peer_failure.h"
#include "core/engine/request.h"
#include "core/engine/wait.h"
#include "mpi-ext.h"

/* Its place in the list, or -1. */
static int failures_find(const struct pl_comm *comm, int member)
{
    for (int i = 0; i < atomic_load(&comm->health.failures.count); i++)
        if (comm->health.failures.members[i] == member)
            return i;
    return -1;
}

bool pl_comm_knows_failed(const struct pl_comm *comm, int member)
{
    return failures_find(comm, member) >= 0;
}

bool pl_comm_member_unreached(const struct pl_comm *comm, int member)
{
    int at = failures_find(comm, member);
    return at >= 0 && comm->health.failures.members[pl_comm_members(comm) + at];
}

/* Enters the member into the list. False: it is there. Without memory the whole communicator breaks. */
static bool failures_note(struct pl_comm *comm, int member, bool unreached)
{
    struct pl_comm_failures *failures = &comm->health.failures;
    if (pl_comm_knows_failed(comm, member))
        return false;
    if (!failures->members)
        failures->members = pl_calloc(2 * (size_t)pl_comm_members(comm), sizeof *failures->members);
    if (!failures->members) {
        failures->starved = true;
        pl_comm_break(comm, 0, MPI_ERR_NO_MEM, "out of memory for the list of failed members");
        return false;
    }
    failures->members[atomic_load(&failures->count)] = member;
    failures->members[pl_comm_members(comm) + atomic_load(&failures->count)] = unreached;
    atomic_fetch_add(&failures->count, 1);
    return true;
}

bool pl_comm_keeps_failures(const struct pl_comm *comm)
{
    return comm->instance->engine.comms.go_on && !comm->role.serves && !comm->role.whole;
}

/* Has the program the request, so that it can wait for it again? */
static bool failures_have_handle(const struct pl_request *request)
{
    return !request->is.caller_owned && atomic_load_explicit(&request->obj.handles, memory_order_relaxed) > 0;
}

bool pl_failures_end_probe(const struct pl_comm *comm, int source)
{
    return pl_comm_fails(comm, PL_MSG_P2P, 0) ||
           (source == MPI_ANY_SOURCE ? pl_comm_unacknowledged(comm) : pl_comm_member_failed(comm, source));
}

int pl_failures_record_probe(const struct pl_comm *comm, int source)
{
    return pl_comm_fails(comm, PL_MSG_P2P, 0) || source == MPI_ANY_SOURCE ? pl_comm_broken_record(comm)
                                                                          : pl_departure_record_failed(comm, source);
}

static bool failures_end_receive(const struct pl_request *request)
{
    int source = request->args.peer_rank;
    return source == MPI_ANY_SOURCE ? pl_comm_unacknowledged(request->comm) && !failures_have_handle(request)
                                    : pl_comm_member_failed(request->comm, source);
}

bool pl_failures_end_receive(const struct pl_request *request, int *error)
{
    const struct pl_comm *comm = request->comm;
    bool all = pl_comm_fails(comm, request->context, request->args.tag);
    *error = all ? pl_comm_broken_class(comm) : MPI_ERR_PROC_ABORTED;
    return all || failures_end_receive(request);
}

static void failures_end_receives(struct pl_comm *comm)
{
    for (int i = 0; i < PL_QUEUES; i++)
        PL_LIST_EACH(request, &comm->match.queues[i].posted, struct pl_request, link)
            if (i == PL_MSG_COLL || failures_end_receive(request)) {
                pl_match_unpost(request);
                pl_request_complete(request, MPI_ERR_PROC_ABORTED);
            }
}

static void failures_tell_clients(struct pl_comm *comm)
{
    for (int i = 0; i < PL_ENGINE_CLIENTS; i++)
        if (pl_engine_clients[i].member_failed)
            pl_engine_clients[i].member_failed(comm);
}

void pl_comm_confine(struct pl_comm *comm, int rank)
{
    pl_comm_break_confined(comm, rank);
    failures_end_receives(comm);
}

static void failures_add(struct pl_comm *comm, int member, bool unreached)
{
    struct pl_engine *engine = &comm->instance->engine;
    bool remote = member >= comm->size;
    bool news = !comm->role.whole && failures_note(comm, member, unreached);
    engine->comms.news++;
    if (!pl_comm_keeps_failures(comm)) {
        if (!atomic_load(&comm->health.failed))
            pl_comm_break(comm, remote ? member - comm->size : member, MPI_ERR_PROC_ABORTED, NULL);
    } else if (news && (!atomic_load(&comm->health.failed) || atomic_load(&comm->health.confined))) {
        pl_comm_confine(comm, remote ? member - comm->size : member);
    }
    if (news)
        failures_tell_clients(comm);
    if (news && atomic_load(&engine->wait.sleepers) > 0)
        pl_engine_wake(engine);
}

void pl_comm_fail_member(struct pl_comm *comm, int member)
{
    failures_add(comm, member, false);
}

void pl_comm_lose_member(struct pl_comm *comm, int member)
{
    failures_add(comm, member, true);
}

void pl_comm_share_failures(struct pl_comm *comm, const struct pl_comm *local)
{
    const struct pl_comm_failures *failures = &local->health.failures;
    for (int i = 0; i < atomic_load(&failures->count); i++)
        failures_add(comm, failures->members[i], pl_comm_member_unreached(local, failures->members[i]));
}

bool pl_comm_member_failed(const struct pl_comm *comm, int rank)
{
    return rank >= 0 && pl_comm_knows_failed(comm, pl_comm_member(comm, rank, comm->inter.remote != NULL));
}

bool pl_request_is_held(const struct pl_request *request)
{
    return request->comm && pl_comm_unacknowledged(request->comm) && request->kind == PL_REQ_RECV &&
           request->state == PL_STATE_POSTED && request->args.peer_rank == MPI_ANY_SOURCE &&
           failures_have_handle(request);
}

bool pl_request_seems_held(const struct pl_request *request)
{
    if (!request->comm || !pl_comm_unacknowledged(request->comm))
        return false;
    pl_engine_enter(request->engine);
    bool held = !pl_request_done(request) && pl_request_is_held(request);
    pl_engine_leave(request->engine);
    return held;
}

int pl_request_held_record(const struct pl_request *request)
{
    const struct pl_comm *comm = request->comm;
    pl_engine_enter(request->engine);
    int known = atomic_load(&comm->health.failures.acknowledged), count = atomic_load(&comm->health.failures.count);
    int member = comm->health.failures.members[known < count ? known : count - 1];
    pl_engine_leave(request->engine);
    bool remote = member >= comm->size;
    return pl_fail(
        MPIX_ERR_PROC_FAILED_PENDING,
        "%srank %d of %s has failed, and may have been the source; the receive stays active: acknowledge the "
        "failure with MPIX_Comm_ack_failed and wait again, or cancel the receive",
        remote ? "remote " : "", remote ? member - comm->size : member, pl_comm_label(comm));
}

int pl_failures_acknowledge(struct pl_comm *comm, int count)
{
    struct pl_engine *engine = &comm->instance->engine;
    pl_engine_enter(engine);
    int known = atomic_load(&comm->health.failures.count);
    count = count < known ? count : known;
    if (count > atomic_load(&comm->health.failures.acknowledged))
        atomic_store(&comm->health.failures.acknowledged, count);
    count = atomic_load(&comm->health.failures.acknowledged);
    pl_engine_leave(engine);
    return count;
}

int pl_failures_group(struct pl_comm *comm, int count, struct pl_group **group)
{
    struct pl_engine *engine = &comm->instance->engine;
    *group = NULL;
    pl_engine_enter(engine);
    if (count < 0)
        pl_failure_check_now(engine);
    int known = atomic_load(&comm->health.failures.count);
    count = count < 0 || count > known ? known : count;
    uint64_t *procs = count ? pl_malloc((size_t)count * sizeof *procs) : NULL;
    for (int i = 0; procs && i < count; i++) {
        int member = comm->health.failures.members[i];
        procs[i] = member < comm->size ? pl_group_proc(comm->group, member)
                                       : pl_group_proc(comm->inter.remote, member - comm->size);
    }
    pl_engine_leave(engine);
    if (!count)
        return MPI_SUCCESS;
    if (!procs)
        return pl_fail_memory("a group of failed processes");
    *group = pl_instance_group(comm->instance, count, procs);
    free(procs);
    return *group ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}
