/* SPDX-License-Identifier: BSD-3-Clause */
/* See astray.h. */
#include "core/coll/astray.h"

#include <stdio.h>

#include "core/coll/owed.h"
#include "core/coll/schedule.h"
#include "core/coll/schedule_run.h"
#include "core/engine/comm_break.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "core/engine/request.h"
#include "core/engine/wait_record.h"

/* The schedule that the waiting thread executes, or has started; NULL: none, or another thread executes it. */
static const struct pl_schedule *astray_schedule(const struct pl_request *request, const struct pl_waiting *what)
{
    if (what && what->schedule)
        return what->schedule;
    if (!request || request->kind != PL_REQ_COLL || pl_request_done(request) || !request->coll.schedule)
        return NULL;
    return request->coll.schedule->busy ? NULL : request->coll.schedule;
}

/* Will the schedule post another receive from this rank? */
static bool astray_will_receive(const struct pl_schedule *schedule, int rank)
{
    for (int i = schedule->begun; i < schedule->count; i++)
        if (schedule->steps[i].kind == PL_STEP_RECV && schedule->steps[i].peer == rank)
            return true;
    return false;
}

/* Is a blocking collective earlier than another one? */
static bool astray_precedes(int tag, int other)
{
    bool counted = tag < PL_AREA_TAGS && other < PL_AREA_TAGS;
    return counted ? pl_comm_tag_behind(PL_BLOCKING_TAGS, (uint32_t)other, tag) > 0 : tag < other;
}

/* Does a posted receive wait for an earlier blocking collective than the one that its source is in by now? */
static bool astray_was_left(const struct pl_comm *comm, int source, int tag)
{
    PL_LIST_EACH(posted, &comm->match.queues[PL_MSG_COLL].posted, struct pl_request, link)
        if (posted->args.peer_rank == source && posted->args.tag >= 0 && astray_precedes(posted->args.tag, tag))
            return true;
    return false;
}

/* The nonblocking collective with this tag, if it has to wait, or one that may have it: in the checking mode a
 * collective has another tag first. NULL: there is none. */
static const struct pl_schedule *astray_nonblocking(struct pl_engine *engine, const struct pl_comm *comm, int tag)
{
    PL_LIST_EACH(hook, &engine->hooks, struct pl_hook, link) {
        const struct pl_schedule *schedule = pl_schedule_of_hook(hook);
        if (schedule && schedule->comm == comm && (schedule->tag == tag || schedule->tag >= PL_AGREE_TAGS))
            return schedule;
    }
    return NULL;
}

static const char *astray_nonblocking_reason(struct pl_engine *engine, const struct pl_comm *comm,
                                             const struct pl_header *message)
{
    if (!pl_comm_has_started(comm, message->tag))
        return NULL;
    const struct pl_schedule *schedule = astray_nonblocking(engine, comm, message->tag);
    if (!schedule)
        return "this rank has completed that collective without it";
    return schedule->busy || schedule->part || schedule->tag != message->tag ||
                   astray_will_receive(schedule, message->source)
               ? NULL
               : "this rank expects none from it";
}

/* How the calls of the ranks differ, as far as a message tells; NULL: nothing is wrong with it. `counted`: no other
 * thread begins a blocking collective in this communicator. */
static const char *astray_reason(const struct pl_comm *comm, const struct pl_schedule *schedule, bool counted,
                                 const struct pl_header *message)
{
    if (message->tag >= PL_NONBLOCKING_TAGS && pl_persistent_find(comm, message->tag))
        return NULL; /* it may be of the next start; if its sender waits, that rank asks */
    if (schedule && schedule->comm == comm && message->tag == schedule->tag)
        return schedule->part || astray_will_receive(schedule, message->source) ? NULL
                                                                                : "this rank expects none from it";
    if (message->tag >= PL_NONBLOCKING_TAGS)
        return astray_nonblocking_reason(&comm->instance->engine, comm, message);
    if (message->tag < 0)
        return NULL;
    int current = pl_comm_tag(PL_BLOCKING_TAGS, comm->coll.tags.blocking - 1);
    if (pl_comm_has_ended(comm, message->tag) || (counted && astray_precedes(message->tag, current)))
        return "this rank has completed that collective without it";
    if (counted && astray_precedes(current, message->tag) && astray_was_left(comm, message->source, message->tag))
        return "this rank still waits for one of an earlier collective";
    return NULL;
}

static void astray_break(struct pl_comm *comm, const struct pl_header *message, const char *reason)
{
    char why[128];
    snprintf(why, sizeof why, "rank %d sends %llu bytes in a collective, and %s", message->source,
             (unsigned long long)message->size, reason);
    pl_comm_break_for_all_locked(comm, MPI_ERR_OTHER, why);
}

/* Looks through the messages of a communicator. True: it breaks. */
static bool astray_search(struct pl_comm *comm, const struct pl_schedule *schedule, bool counted)
{
    PL_LIST_EACH(message, &comm->match.queues[PL_MSG_COLL].unexpected, struct pl_unexpected, link) {
        const struct pl_header *header = &message->header;
        const char *reason = astray_reason(comm, schedule, counted, header);
        if (!reason)
            continue;
        astray_break(comm, header, reason);
        return true;
    }
    return false;
}

void pl_astray_check(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *what)
{
    const struct pl_schedule *schedule = astray_schedule(request, what);
    bool blocking = what && (what->schedule || what->what == PL_WHAT_COLLECTIVE);
    PL_TABLE_EACH(comm, &engine->comms.by_id, struct pl_comm, by_id) {
        if (atomic_load(&comm->health.failed))
            continue;
        if (astray_search(comm, schedule, !engine->threads.several || (blocking && what->comm == comm)))
            return;
        pl_owed_ask(comm, what);
    }
}

/* Will this rank take no message of this start from that rank any more? NULL: it may. */
static const char *astray_start_reason(const struct pl_comm *comm, int source, int tag, uint32_t start)
{
    const struct pl_schedule *schedule = pl_persistent_find(comm, tag);
    uint32_t last = pl_persistent_start(comm, tag);
    if (!schedule || (int32_t)(last - start) < 0)
        return NULL;
    if (last != start || pl_request_done(schedule->persistent.request))
        return "this rank has completed that collective without it";
    return pl_list_empty(&schedule->hook.link) || schedule->busy || schedule->part ||
                   astray_will_receive(schedule, source)
               ? NULL
               : "this rank expects none from it";
}

void pl_astray_sent(struct pl_comm *comm, int source, int tag, uint32_t start)
{
    const char *reason = astray_start_reason(comm, source, tag, start);
    if (!reason)
        return;
    PL_LIST_EACH(message, &comm->match.queues[PL_MSG_COLL].unexpected, struct pl_unexpected, link)
        if (message->header.source == source && message->header.tag == tag) {
            astray_break(comm, &message->header, reason);
            return;
        }
}
