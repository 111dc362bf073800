/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules: appending steps, and the memory and the references that they need. */
#include "core/coll/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/engine/p2p.h"
#include "core/engine/request.h"

struct pl_chunk {
    struct pl_chunk *next;
    size_t free_bytes; /* at its beginning */
    alignas(16) unsigned char data[];
};

enum {
    PAIRED_MAX = 16 << 20, /* bytes of the longest temporary memory that comes with as much for the next: malloc()
                              returns two blocks side by side to the kernel each time, and keeps one */
};

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
