/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules: appending steps, executing them, blocking and from the engine's progress. Locking: schedule.h. */
#include "core/coll/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/coll/owed.h"
#include "core/coll/statement.h"
#include "core/engine/comm_break.h"
#include "core/engine/instance.h"
#include "core/engine/p2p.h"
#include "core/engine/p2p_blocking.h"
#include "core/engine/request.h"
#include "core/engine/wait_record.h"

struct pl_chunk {
    struct pl_chunk *next;
    size_t free_bytes; /* at its beginning */
    alignas(16) unsigned char data[];
};

enum {
    DEFERRED_MAX = 8 << 10, /* bytes of the longest receive that is not posted at once: the time until then would delay
                               longer ones, whose data may have to be fetched */
    PAIRED_MAX = 16 << 20,  /* bytes of the longest temporary memory that comes with as much for the next: malloc()
                               returns two blocks side by side to the kernel each time, and keeps one */
};

static int run_hook(struct pl_hook *hook);
static const struct pl_deferred_ops schedule_deferred;

/* --- life ------------------------------------------------------------------------------------------------------ */

void pl_schedule_init(struct pl_schedule *schedule, struct pl_comm *comm, int tag)
{
    schedule->comm = comm;
    schedule->tag = tag;
    schedule->broken = schedule->error = MPI_SUCCESS;
    schedule->count = schedule->next = schedule->settled = schedule->begun = schedule->awaited = 0;
    schedule->capacity = PL_SCHEDULE_STEPS;
    schedule->steps = schedule->few;
    schedule->chunks = NULL;
    schedule->scratch_used = 0;
    schedule->retains = schedule->exact = schedule->part = schedule->busy = schedule->stands = false;
    schedule->cut_from = SIZE_MAX;
    schedule->request = NULL;
    pl_list_init(&schedule->hook.link);
    schedule->hook.run = run_hook;
    schedule->deferred.ops = &schedule_deferred;
}

/* The objects that a step uses, NULL where it uses none. */
static void objects_of(const struct pl_step *step, const void *objects[2])
{
    objects[0] = step->kind == PL_STEP_WAIT ? NULL : step->data.type;
    objects[1] = step->kind == PL_STEP_COPY     ? (const void *)step->to.type
                 : step->kind == PL_STEP_REDUCE ? step->reduce.op
                                                : NULL;
}

static void for_objects(const struct pl_schedule *schedule, int from, void (*act)(void *object))
{
    for (int i = from; i < schedule->count; i++) {
        const void *objects[2];
        objects_of(&schedule->steps[i], objects);
        for (int k = 0; k < 2; k++)
            if (objects[k] && !((const struct pl_object *)objects[k])->predefined)
                act((void *)objects[k]);
    }
}

static void schedule_retain(void *object)
{
    pl_object_retain(object);
}

void pl_schedule_retain(struct pl_schedule *schedule)
{
    assert(!schedule->retains);
    for_objects(schedule, 0, schedule_retain);
    schedule->retains = true;
}

void pl_schedule_fini(struct pl_schedule *schedule)
{
    if (schedule->retains)
        for_objects(schedule, 0, pl_object_release);
    if (schedule->steps != schedule->few)
        free(schedule->steps);
    for (struct pl_chunk *chunk = schedule->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    schedule->steps = schedule->few;
    schedule->chunks = NULL;
    schedule->count = 0;
    schedule->retains = false;
}

void pl_schedule_recycle(struct pl_request *request)
{
    pl_schedule_fini(request->coll.schedule);
}

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

/* --- appending ------------------------------------------------------------------------------------------------- */

static void break_for_memory(struct pl_schedule *schedule, const char *what)
{
    if (!schedule->broken)
        schedule->broken = pl_fail_memory(what);
}

static bool schedule_grow(struct pl_schedule *schedule)
{
    int capacity = schedule->capacity * 2;
    bool first = schedule->steps == schedule->few;
    struct pl_step *steps = pl_realloc(first ? NULL : schedule->steps, (size_t)capacity * sizeof *steps);
    if (!steps) {
        break_for_memory(schedule, "the steps of a collective");
        return false;
    }
    if (first)
        memcpy(steps, schedule->few, sizeof schedule->few);
    schedule->steps = steps;
    schedule->capacity = capacity;
    return true;
}

/* A new last step; NULL: the schedule is broken. */
static struct pl_step *schedule_append(struct pl_schedule *schedule, enum pl_step_kind kind)
{
    if (schedule->broken || (schedule->count == schedule->capacity && !schedule_grow(schedule)))
        return NULL;
    struct pl_step *step = &schedule->steps[schedule->count++];
    step->kind = kind;
    return step;
}

static void append_message(struct pl_schedule *schedule, enum pl_step_kind kind, struct pl_block data, int peer)
{
    struct pl_step *step = schedule_append(schedule, kind);
    if (!step)
        return;
    step->peer = peer;
    step->data = data;
    step->request = NULL;
}

void pl_schedule_send(struct pl_schedule *schedule, struct pl_block data, int dest)
{
    append_message(schedule, PL_STEP_SEND, data, dest);
}

void pl_schedule_recv(struct pl_schedule *schedule, struct pl_block data, int source)
{
    append_message(schedule, PL_STEP_RECV, data, source);
}

void pl_schedule_copy(struct pl_schedule *schedule, struct pl_block from, struct pl_block to)
{
    if (from.count == 0 || to.count == 0)
        return;
    struct pl_step *step = schedule_append(schedule, PL_STEP_COPY);
    if (!step)
        return;
    step->data = from;
    step->to = to;
}

void pl_schedule_reduce(struct pl_schedule *schedule, const struct pl_op *op, const void *in, struct pl_block inout)
{
    if (inout.count == 0)
        return;
    struct pl_step *step = schedule_append(schedule, PL_STEP_REDUCE);
    if (!step)
        return;
    step->data = inout;
    step->reduce.in = in;
    step->reduce.op = op;
}

void pl_schedule_verify(struct pl_schedule *schedule, int (*run)(struct pl_schedule *schedule, void *context),
                        void *context)
{
    struct pl_step *step = schedule_append(schedule, PL_STEP_VERIFY);
    if (!step)
        return;
    step->data.type = NULL; /* it uses no object */
    step->verify.run = run;
    step->verify.context = context;
}

void pl_schedule_change(struct pl_schedule *schedule, int step, enum pl_step_kind kind, void *buf, MPI_Count count)
{
    struct pl_step *changed = &schedule->steps[step];
    changed->kind = kind;
    changed->data.buf = buf;
    changed->data.count = count;
    changed->request = NULL;
}

void pl_schedule_drop(struct pl_schedule *schedule, int step)
{
    struct pl_step *dropped = &schedule->steps[step];
    if (dropped->request)
        pl_cancel(dropped->request);
    else
        dropped->kind = PL_STEP_SKIP;
}

void pl_schedule_hold(struct pl_schedule *schedule, const struct pl_type *type)
{
    struct pl_step *step = schedule_append(schedule, PL_STEP_SKIP);
    if (step)
        step->data = pl_block(NULL, 0, type);
}

/* Steps that do nothing hold the objects: a copy and a reduction of no elements. */
void pl_schedule_later(struct pl_schedule *schedule, int (*run)(struct pl_schedule *schedule, void *context),
                       void *context, const struct pl_coll *coll)
{
    struct pl_step *step = schedule_append(schedule, PL_STEP_COPY);
    if (step) {
        step->data = pl_block(NULL, 0, coll->sendtype ? coll->sendtype : PL_TYPE_BYTE);
        step->to = pl_block(NULL, 0, coll->recvtype ? coll->recvtype : PL_TYPE_BYTE);
    }
    if (coll->op && (step = schedule_append(schedule, PL_STEP_REDUCE)) != NULL) {
        step->data = pl_block(NULL, 0, coll->recvtype);
        step->reduce.in = NULL;
        step->reduce.op = coll->op;
    }
    pl_schedule_verify(schedule, run, context);
    schedule->part = true; /* until then this rank cannot tell what it will send */
}

int pl_schedule_grown(struct pl_schedule *schedule, int mark)
{
    if (schedule->retains)
        for_objects(schedule, mark, schedule_retain);
    return schedule->broken;
}

/* The step that is executed becomes one that waits for nothing: a persistent collective has these steps now. */
int pl_schedule_came(struct pl_schedule *schedule, int mark)
{
    struct pl_step *step = &schedule->steps[schedule->next];
    step->kind = PL_STEP_WAIT;
    step->wait.first = step->wait.end = 0;
    return pl_schedule_grown(schedule, mark);
}

void pl_schedule_wait_for(struct pl_schedule *schedule, int first, int end)
{
    struct pl_step *step = schedule_append(schedule, PL_STEP_WAIT);
    if (!step)
        return;
    step->wait.first = first;
    step->wait.end = end;
}

void pl_schedule_wait_until(struct pl_schedule *schedule, int mark)
{
    pl_schedule_wait_for(schedule, 0, mark);
}

void pl_schedule_wait(struct pl_schedule *schedule)
{
    pl_schedule_wait_until(schedule, schedule->count);
}

void *pl_schedule_temp(struct pl_schedule *schedule, size_t bytes)
{
    size_t padded = (bytes + 15) & ~(size_t)15;
    if (padded <= sizeof schedule->scratch - schedule->scratch_used) {
        schedule->scratch_used += padded;
        return schedule->scratch + schedule->scratch_used - padded;
    }
    struct pl_chunk *chunk = schedule->chunks;
    if (chunk && padded <= chunk->free_bytes) {
        chunk->free_bytes -= padded;
        return chunk->data + chunk->free_bytes;
    }
    size_t space = padded <= PAIRED_MAX ? 2 * padded : padded;
    chunk = padded < bytes ? NULL : pl_malloc(sizeof *chunk + space);
    if (!chunk) {
        break_for_memory(schedule, "the temporary buffers of a collective");
        return NULL;
    }
    chunk->next = schedule->chunks;
    chunk->free_bytes = space - padded;
    schedule->chunks = chunk;
    return chunk->data + chunk->free_bytes;
}

struct pl_block pl_schedule_temp_block(struct pl_schedule *schedule, MPI_Count count, const struct pl_type *type)
{
    MPI_Aint lowest = 0;
    size_t span = pl_type_span(type, count, &lowest);
    /* Element 0 is aligned as any element may need it; the lowest byte is then somewhere in the first 16. */
    MPI_Aint skew = lowest & 15;
    void *memory = span ? pl_schedule_temp(schedule, span + (size_t)skew) : NULL;
    return pl_block(pl_address(memory, skew - lowest), count, type);
}

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
    schedule->error = MPI_SUCCESS;
    schedule->next = schedule->settled = schedule->begun = schedule->awaited = 0;
    schedule->busy = true; /* no hook runs it before it has to wait */
    schedule_drive(schedule);
    return MPI_SUCCESS;
}
