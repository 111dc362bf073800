/* SPDX-License-Identifier: BSD-3-Clause */
/* Executing schedules: step by step, blocking, and from the engine's progress. */
#include "core/coll/schedule_run.h"

#include <stdio.h>

#include "core/base/error.h"
#include "core/coll/collective.h"
#include "core/coll/owed.h"
#include "core/coll/statement.h"
#include "core/engine/comm_break.h"
#include "core/engine/instance.h"
#include "core/engine/p2p.h"
#include "core/engine/p2p_blocking.h"
#include "core/engine/request.h"
#include "core/engine/wait_record.h"

enum {
    DEFERRED_MAX = 8 << 10, /* bytes of the longest receive that is not posted at once: the time until then would delay
                               longer ones, whose data may have to be fetched */
};

static int run_hook(struct pl_hook *hook);
static const struct pl_deferred_ops schedule_deferred;

/* --- executing ------------------------------------------------------------------------------------------------- */

static inline bool step_is_message(const struct pl_step *step)
{
    return step->kind == PL_STEP_SEND || step->kind == PL_STEP_RECV;
}

static int schedule_send(struct pl_schedule *schedule, struct pl_step *step)
{
    const struct pl_block *data = &step->data;
    if (pl_coll_send_fast(schedule->comm, data->buf, data->count, data->type, step->peer, schedule->tag))
        return MPI_SUCCESS;
    return pl_coll_isend(schedule->comm, data->buf, data->count, data->type, step->peer, schedule->tag, &step->request);
}

/* Posts the deferred receives before step `end`, in order, as their messages arrive. */
static int schedule_post(struct pl_schedule *schedule, int end)
{
    int rc = MPI_SUCCESS;
    for (; rc == MPI_SUCCESS && schedule->begun < end; schedule->begun++) {
        struct pl_step *step = &schedule->steps[schedule->begun];
        if (step->kind == PL_STEP_RECV)
            rc = pl_coll_irecv(schedule->comm, step->data.buf, step->data.count, step->data.type, step->peer,
                               schedule->tag, &step->request);
    }
    return rc;
}

static inline int schedule_check_amount(struct pl_schedule *schedule, const struct pl_step *step, size_t bytes)
{
    size_t expected = pl_block_size(step->data);
    if (pl_likely(!schedule->exact || bytes == expected))
        return MPI_SUCCESS;
    schedule->wrong = bytes > expected ? bytes : expected;
    return pl_coll_fail_amount(step->peer, bytes, expected);
}

/* The first receive that is not complete: receives its message if it has arrived, else posts all deferred ones. */
static int schedule_take(struct pl_schedule *schedule, const struct pl_step *step)
{
    bool blocking = !schedule->request;
    ptrdiff_t bytes = pl_coll_recv_fast(schedule->comm, step->data.buf, step->data.count, step->data.type, step->peer,
                                        schedule->tag, blocking);
    if (bytes < 0)
        return schedule_post(schedule, schedule->next);
    schedule->begun = schedule->settled + 1;
    return schedule_check_amount(schedule, step, (size_t)bytes);
}

/* Releases a message that is complete; its error. */
static int schedule_finish(struct pl_schedule *schedule, struct pl_step *step)
{
    int error = MPI_SUCCESS;
    if (step->request->outcome.error) {
        error = pl_request_report(step->request);
        schedule->wrong = step->request->in.size;
        if (schedule->request)
            schedule->request->args.peer_rank = step->peer; /* the rank that its record names */
    } else if (step->kind == PL_STEP_RECV) {
        error = schedule_check_amount(schedule, step, (size_t)step->request->outcome.bytes);
    }
    pl_request_recycle(step->request);
    step->request = NULL;
    return error;
}

/* Settles the messages before `end`: PL_PENDING at one that is not complete, or the error of the first that failed. */
static int schedule_settle(struct pl_schedule *schedule, int end)
{
    while (schedule->settled < end) {
        struct pl_step *step = &schedule->steps[schedule->settled];
        int error = MPI_SUCCESS;
        if (step->kind == PL_STEP_RECV && schedule->settled >= schedule->begun)
            error = schedule_take(schedule, step);
        if (error)
            return error;
        if (step_is_message(step) && step->request) {
            if (!pl_request_done(step->request)) {
                schedule->awaited = schedule->settled;
                error = schedule_post(schedule, schedule->next);
                return error ? error : PL_PENDING;
            }
            error = schedule_finish(schedule, step);
        }
        schedule->settled++;
        if (error)
            return error;
    }
    return MPI_SUCCESS;
}

/* The same for the messages from step `first` on; earlier ones may be under way. */
static int schedule_settle_some(struct pl_schedule *schedule, int first, int end)
{
    int error = schedule_post(schedule, schedule->next);
    for (int i = first; error == MPI_SUCCESS && i < end; i++) {
        struct pl_step *step = &schedule->steps[i];
        if (!step_is_message(step) || !step->request)
            continue;
        schedule->awaited = i;
        error = pl_request_done(step->request) ? schedule_finish(schedule, step) : PL_PENDING;
    }
    return error;
}

static int schedule_perform(struct pl_schedule *schedule, struct pl_step *step)
{
    switch (step->kind) {
    case PL_STEP_SEND: return schedule_send(schedule, step);
    case PL_STEP_RECV:
        return pl_block_size(step->data) > DEFERRED_MAX ? schedule_post(schedule, schedule->next + 1) : MPI_SUCCESS;
    case PL_STEP_COPY:
        pl_type_copy(step->data.buf, step->data.count, step->data.type, step->to.buf, step->to.count, step->to.type);
        return MPI_SUCCESS;
    case PL_STEP_REDUCE:
        pl_op_apply(step->reduce.op, step->reduce.in, step->data.buf, step->data.count, step->data.type);
        return MPI_SUCCESS;
    case PL_STEP_WAIT:
        return step->wait.first > schedule->settled ? schedule_settle_some(schedule, step->wait.first, step->wait.end)
                                                    : schedule_settle(schedule, step->wait.end);
    case PL_STEP_VERIFY: schedule->awaited = schedule->next; return step->verify.run(schedule, step->verify.context);
    case PL_STEP_SKIP: return MPI_SUCCESS;
    }
    return MPI_ERR_INTERN;
}

static int schedule_execute(struct pl_schedule *schedule)
{
    for (; schedule->next < schedule->count; schedule->next++) {
        int rc = schedule_perform(schedule, &schedule->steps[schedule->next]);
        if (rc == MPI_ERR_TRUNCATE && schedule->steps[schedule->next].kind == PL_STEP_VERIFY)
            schedule->next++; /* it is not called again */
        if (rc)
            return rc;
    }
    return schedule_settle(schedule, schedule->count);
}

/* Cancels what is under way: its buffers are about to be freed. */
static void schedule_cancel(struct pl_schedule *schedule)
{
    for (int i = schedule->settled; i < schedule->next; i++)
        if (step_is_message(&schedule->steps[i]) && schedule->steps[i].request)
            pl_cancel(schedule->steps[i].request);
}

/* After MPI_ERR_TRUNCATE only the contents of one buffer are wrong: the other ranks expect what this one sends, and
 * send what it expects, unless the amount decides on that. After any other error this rank does not know what they do.
 */
static bool goes_on(const struct pl_schedule *schedule)
{
    return schedule->error == MPI_SUCCESS ||
           (schedule->error == MPI_ERR_TRUNCATE && schedule->wrong < schedule->cut_from);
}

static inline struct pl_engine *schedule_engine_of(const struct pl_schedule *schedule)
{
    return &schedule->comm->instance->engine;
}

/* Executes until the end, or until a message is not complete (PL_PENDING): that at `awaited`. No lock held. */
static int schedule_advance(struct pl_schedule *schedule)
{
    char why[PL_DETAIL_MAX]; /* the other messages may fail for another reason */
    int recorded = MPI_SUCCESS;
    for (;;) {
        bool whole = goes_on(schedule);
        int rc = whole ? schedule_execute(schedule) : schedule_settle(schedule, schedule->next);
        if (rc == PL_PENDING)
            return rc;
        if (rc == MPI_SUCCESS)
            return recorded && recorded == schedule->error ? pl_fail(recorded, "%s", why) : schedule->error;
        if (!whole)
            continue;
        schedule->error = rc;
        snprintf(why, sizeof why, "%s", pl_error_detail(&recorded));
        if (!goes_on(schedule)) {
            schedule->begun = schedule->next;
            schedule_cancel(schedule);
            if (schedule->error == MPI_ERR_TRUNCATE)
                pl_coll_tell_amounts(schedule->comm);
        }
    }
}

int pl_schedule_run_for(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    if (schedule->broken)
        return schedule->broken;
    int rc;
    while ((rc = schedule_advance(schedule)) == PL_PENDING) {
        const struct pl_waiting what = {
            .comm = schedule->comm,
            .schedule = schedule,
            .describe = coll ? pl_coll_describe : NULL,
            .context = coll,
        };
        struct pl_request *request = schedule->steps[schedule->awaited].request;
        pl_engine_wait_among(request->engine, request, &what);
        if (pl_unlikely(schedule->stands))
            pl_owed_go_on(schedule);
    }
    return rc;
}

int pl_schedule_run(struct pl_schedule *schedule)
{
    return pl_schedule_run_for(schedule, NULL);
}

/* --- nonblocking ----------------------------------------------------------------------------------------------- */

static inline bool can_advance(const struct pl_schedule *schedule)
{
    const struct pl_step *step = &schedule->steps[schedule->awaited];
    return step_is_message(step) ? pl_request_done(step->request) : pl_comm_knows_nodes(schedule->comm);
}

/* Hands an idle schedule to the thread that drops the lock next. */
static void schedule_hand_over(struct pl_schedule *schedule)
{
    schedule->busy = true;
    pl_list_append(&schedule_engine_of(schedule)->deferred.work, &schedule->deferred.link);
}

/* A thread that drives the schedule may free it once it sees that the message is done. */
static void schedule_message_came(struct pl_request *request)
{
    struct pl_schedule *schedule = request->on.owner;
    bool idle = !schedule->busy;
    atomic_store_explicit(&request->done, 1, memory_order_release);
    if (idle)
        schedule_hand_over(schedule);
}

/* An idle schedule waits for the step at `awaited`. Engine lock held. */
static void schedule_await(struct pl_schedule *schedule)
{
    struct pl_engine *engine = schedule_engine_of(schedule);
    struct pl_step *step = &schedule->steps[schedule->awaited];
    pl_list_remove(&schedule->hook.link);
    if (step_is_message(step)) {
        step->request->on.completed = schedule_message_came;
        step->request->on.owner = schedule;
        schedule->hook.run = NULL;
        pl_list_append(&engine->hooks, &schedule->hook.link);
    } else {
        schedule->hook.run = run_hook;
        pl_list_push(&engine->hooks, &schedule->hook.link);
    }
}

/*
 * Executes as far as possible and clears `busy`, under the lock: a message that completes later finds the schedule idle
 * and hands it over again; one that completed earlier is seen here. Nothing is touched after the completion of the
 * request, whose owner may free the schedule at once.
 */
static void schedule_drive(struct pl_schedule *schedule)
{
    struct pl_engine *engine = schedule_engine_of(schedule);
    bool again;
    do {
        int rc = schedule_advance(schedule);
        if (pl_unlikely(rc != MPI_SUCCESS && rc != PL_PENDING))
            pl_comm_break_for_all(schedule->comm, rc);
        pl_engine_enter(engine);
        again = rc == PL_PENDING && can_advance(schedule);
        if (!again)
            schedule->busy = false;
        if (rc != PL_PENDING) {
            pl_list_remove(&schedule->hook.link);
            pl_request_complete(schedule->request, rc);
        } else if (!again) {
            schedule_await(schedule);
        }
        pl_engine_leave(engine);
    } while (again);
}

static void schedule_run_deferred(struct pl_deferred *deferred)
{
    schedule_drive(PL_CONTAINER(deferred, struct pl_schedule, deferred));
}

/* Does a step use an operation of MPI_Op_create()? */
static bool schedule_calls_user(const struct pl_deferred *deferred)
{
    const struct pl_schedule *schedule = PL_CONTAINER(deferred, struct pl_schedule, deferred);
    for (int i = schedule->next; i < schedule->count; i++) {
        const struct pl_step *step = &schedule->steps[i];
        if (step->kind == PL_STEP_REDUCE && !step->reduce.op->obj.predefined)
            return true;
    }
    return false;
}

static const struct pl_deferred_ops schedule_deferred = {
    .run = schedule_run_deferred,
    .calls_user = schedule_calls_user,
};

static int run_hook(struct pl_hook *hook)
{
    struct pl_schedule *schedule = PL_CONTAINER(hook, struct pl_schedule, hook);
    if (schedule->busy || !can_advance(schedule))
        return 0;
    schedule_hand_over(schedule);
    return 1;
}

struct pl_schedule *pl_schedule_of_hook(struct pl_hook *hook)
{
    return !hook->run || hook->run == run_hook ? PL_CONTAINER(hook, struct pl_schedule, hook) : NULL;
}

int pl_schedule_start(struct pl_schedule *schedule, struct pl_request *request)
{
    if (schedule->broken)
        return schedule->broken;
    schedule->request = request;
    schedule->hook.run = run_hook;
    schedule->deferred.ops = &schedule_deferred;
    schedule->error = MPI_SUCCESS;
    schedule->next = schedule->settled = schedule->begun = schedule->awaited = 0;
    schedule->busy = true; /* no hook runs it before it has to wait */
    schedule_drive(schedule);
    return MPI_SUCCESS;
}

/* --- for the engine --------------------------------------------------------------------------------------------- */

void pl_schedule_describe(const struct pl_request *request, struct pl_job_item *item)
{
    const struct pl_schedule *schedule = request->coll.schedule;
    if (!schedule || schedule->busy)
        return;
    const struct pl_step *step = &schedule->steps[schedule->awaited];
    pl_coll_describe_started(schedule, request->is.persistent, item);
    bool message = step->kind == PL_STEP_SEND || step->kind == PL_STEP_RECV;
    if (schedule->awaited < schedule->count && message && step->request && !pl_request_done(step->request))
        pl_wait_record_add_peer(item, schedule->comm, step->peer);
}
