/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See span.h. The agents of the hosts tell what happens to the ranks, and here it is decided what follows, as follow.c
 * does with the notices of the keeper.
 *
 * STARTED comes before every EXITED and LOST, but a host may be faster than another. So what tells of an end waits until
 * all ranks were started, or until the job ends anyway.
 */
#include "world/runtime/job/span.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/vec.h"
#include "world/runtime/event/event_pack.h"
#include "world/runtime/hosts/placement.h"
#include "world/runtime/job/compose.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/job/host_life.h"
#include "world/runtime/job/outcome.h"
#include "world/runtime/job/span_input.h"
#include "world/runtime/job/span_pack.h"
#include "world/runtime/runtime_error.h"

/* What one host has of the job. */
struct span_part {
    struct pl_host *host; /* NULL: nothing runs there any more */
    int ranks;            /* that are counted there */
};

/* A frame that tells of an end too early. */
struct span_early {
    struct pl_list node;
    int part;
    size_t length;
    unsigned char body[];
};

struct pl_span_parts {
    struct pl_vars env;     /* that all programs share */
    struct span_part *part; /* [span->hosts] */
    int running;            /* parts with a host */
    struct pl_list early;   /* struct span_early.node */
    bool *doomed;           /* [size]: an abort of some of the ranks ends it */
    struct pl_span_inputs inputs;
};

static int span_no_memory(void)
{
    return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the hosts of the job");
}

/* --- the launch -------------------------------------------------------------------------------------------------- */

static int span_check(const struct plenum_job *job)
{
    if (job->desc.request_count > 0)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "a job asks for \"%s\", and a runtime with hosts has no resources",
                          job->desc.request[0].name);
    if (job->desc.option[PLENUM_JOB_PMIX] == PLENUM_PMIX_ON)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "a runtime with hosts has no PMIx server for its jobs");
    for (int i = 0; i < job->desc.redirect_count; i++) {
        const struct pl_redirect *redirect = &job->desc.redirects[i];
        if (redirect->file || redirect->null)
            continue;
        if (redirect->number != 0)
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "a descriptor of this process cannot be the output of a process of "
                                                   "another host: name a file, or take the output as events");
        if (redirect->rank == PLENUM_ALL)
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "a descriptor of this process cannot be the standard input of all "
                                                   "processes on several hosts: choose a rank, or name a file");
    }
    return PLENUM_OK;
}

int pl_span_prepare(struct plenum_job *job)
{
    int err = span_check(job);
    if (err)
        return err;
    struct pl_span *span = pl_calloc(1, sizeof *span);
    struct pl_span_parts *parts = pl_calloc(1, sizeof *parts);
    if (!span || !parts) {
        free(span);
        free(parts);
        return span_no_memory();
    }
    pl_list_init(&parts->early);
    pl_span_inputs_init(&parts->inputs, job);
    span->here = -1;
    span->id = job->launch.keeper_id;
    span->parts = parts;
    job->launch.span = span;
    return pl_compose_environment(job, &parts->env);
}

static void span_free_parts(struct pl_span_parts *parts)
{
    PL_LIST_EACH(early, &parts->early, struct span_early, node)
        free(early);
    pl_span_inputs_fini(&parts->inputs);
    pl_vars_fini(&parts->env);
    free(parts->part);
    free(parts->doomed);
    free(parts);
}

void pl_span_close(struct plenum_job *job)
{
    struct pl_span *span = job->launch.span;
    if (!span)
        return;
    if (span->parts)
        span_free_parts(span->parts);
    job->launch.span = NULL;
    pl_span_free(span);
}

/* The usable hosts with the ranks that each has. The caller frees both. Returns an enum plenum_error. */
static int span_find_hosts(const struct plenum_runtime *rt, struct pl_host ***hosts, struct pl_room **room, int *count)
{
    int all = 0;
    const char *why = "they are leaving";
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node)
        all++;
    *count = 0;
    *hosts = pl_calloc((size_t)all + 1, sizeof **hosts);
    *room = pl_calloc((size_t)all + 1, sizeof **room);
    if (!*hosts || !*room)
        return span_no_memory();
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node) {
        if (host->state == PLENUM_HOST_LOST)
            why = host->reason;
        if (!pl_host_is_usable(host))
            continue;
        (*hosts)[*count] = host;
        (*room)[(*count)++] = (struct pl_room){ host->slots, host->ranks };
    }
    return *count ? PLENUM_OK : pl_rt_fail(PLENUM_ERR_STATE, "the runtime has no host any more: %s", why);
}

/* Numbers the hosts that have ranks, in their order. */
static int span_number_hosts(struct plenum_job *job, struct pl_host *const *hosts, int count)
{
    struct pl_span *span = job->launch.span;
    struct span_part *part = pl_calloc((size_t)count, sizeof *part);
    uint32_t *number = pl_calloc((size_t)count, sizeof *number);
    if (!part || !number) {
        free(part);
        free(number);
        return span_no_memory();
    }
    for (int r = 0; r < job->desc.size; r++)
        part[span->host_of[r]].ranks++;
    for (int h = 0; h < count; h++) {
        if (part[h].ranks == 0)
            continue;
        number[h] = (uint32_t)span->hosts++;
        part[number[h]] = (struct span_part){ hosts[h], part[h].ranks };
    }
    for (int r = 0; r < job->desc.size; r++)
        span->host_of[r] = number[span->host_of[r]];
    free(number);
    span->parts->part = part;
    return PLENUM_OK;
}

static int span_place(struct plenum_job *job)
{
    struct pl_host **hosts;
    struct pl_room *room;
    int count, err = span_find_hosts(job->runtime, &hosts, &room, &count);
    job->launch.span->host_of = pl_calloc((size_t)job->desc.size, sizeof *job->launch.span->host_of);
    if (!err && !job->launch.span->host_of)
        err = span_no_memory();
    if (!err) {
        pl_place(room, count, job->desc.size, job->launch.span->host_of);
        err = span_number_hosts(job, hosts, count);
    }
    free(hosts);
    free(room);
    return err;
}

static int span_make_ranks(struct plenum_job *job)
{
    job->ranks = pl_calloc((size_t)job->desc.size, sizeof *job->ranks);
    job->launch.span->parts->doomed = pl_calloc((size_t)job->desc.size, sizeof(bool));
    if (!job->ranks || !job->launch.span->parts->doomed)
        return span_no_memory();
    for (int r = 0; r < job->desc.size; r++)
        for (int s = 0; s < 2; s++) {
            job->ranks[r].out[s].fd = -1;
            pl_list_init(&job->ranks[r].out[s].resting);
        }
    return PLENUM_OK;
}

static int span_write_parts(struct plenum_job *job, struct pl_writer *part)
{
    struct pl_span *span = job->launch.span;
    int err = PLENUM_OK;
    for (int h = 0; !err && h < span->hosts; h++) {
        part[h] = pl_writer_growing(NULL, 0);
        err = pl_span_write(&part[h], job, h, &span->parts->env);
        if (!err && part[h].failed)
            err = span_no_memory();
    }
    return err;
}

static void span_send_parts(struct plenum_job *job, const struct pl_writer *part)
{
    struct pl_span *span = job->launch.span;
    span->parts->running = span->hosts;
    for (int h = 0; h < span->hosts; h++) {
        struct pl_host *host = span->parts->part[h].host;
        pl_host_count(host, span->parts->part[h].ranks);
        pl_write_raw(pl_wire_begin(&host->wire, PL_FRAME_JOB, span->id), part[h].data, part[h].length);
        pl_wire_end(&host->wire);
    }
    if (job->handle.holds_output)
        pl_span_hold(job, true);
    for (int h = 0; h < span->hosts; h++)
        pl_host_flush(span->parts->part[h].host);
    pl_span_inputs_flow(&span->parts->inputs);
}

/* What a failed start has made. */
static void span_undo(struct plenum_job *job)
{
    struct pl_span *span = job->launch.span;
    free(job->ranks);
    free(span->host_of);
    free(span->parts->part);
    free(span->parts->doomed);
    pl_span_inputs_fini(&span->parts->inputs);
    job->ranks = NULL;
    span->host_of = NULL;
    span->parts->part = NULL;
    span->parts->doomed = NULL;
    span->hosts = 0;
}

int pl_span_start(struct plenum_job *job)
{
    struct pl_writer *part = NULL;
    int err = span_place(job), hosts = job->launch.span->hosts;
    if (!err)
        err = span_make_ranks(job);
    if (!err && !(part = pl_calloc((size_t)hosts, sizeof *part)))
        err = span_no_memory();
    if (!err)
        err = span_write_parts(job, part);
    if (!err)
        err = pl_span_inputs_start(&job->launch.span->parts->inputs);
    if (!err)
        span_send_parts(job, part);
    for (int h = 0; part && h < hosts; h++)
        pl_writer_fini(&part[h]);
    free(part);
    if (err)
        span_undo(job);
    return err;
}

/* --- orders ------------------------------------------------------------------------------------------------------ */

/* The host of a part, if it is still there. */
static struct pl_host *span_host_of(const struct plenum_job *job, int part)
{
    return job->launch.span->parts->part[part].host;
}

int pl_span_signal(struct plenum_job *job, int rank, int signo)
{
    struct pl_span *span = job->launch.span;
    for (int h = 0; h < span->hosts; h++) {
        struct pl_host *host = span_host_of(job, h);
        if (!host || (rank >= 0 && span->host_of[rank] != (uint32_t)h))
            continue;
        struct pl_writer *to = pl_wire_begin(&host->wire, PL_FRAME_SIGNAL, span->id);
        pl_write_i32(to, rank);
        pl_write_i32(to, signo);
        pl_wire_end(&host->wire);
        pl_host_flush(host);
    }
    return PLENUM_OK;
}

/* A frame with one byte, or with none, to all hosts. */
static void span_send_all(struct plenum_job *job, enum pl_frame_kind kind, const uint8_t *byte)
{
    for (int h = 0; h < job->launch.span->hosts; h++) {
        struct pl_host *host = span_host_of(job, h);
        if (!host)
            continue;
        pl_write_raw(pl_wire_begin(&host->wire, kind, job->launch.span->id), byte, byte ? 1 : 0);
        pl_wire_end(&host->wire);
        pl_host_flush(host);
    }
}

void pl_span_forgo(struct plenum_job *job)
{
    span_send_all(job, PL_FRAME_FORGO, NULL);
}

void pl_span_hold(struct plenum_job *job, bool hold)
{
    span_send_all(job, PL_FRAME_HOLD, &(uint8_t){ hold });
}

void pl_span_send_input(struct plenum_job *job, int rank, const void *data, size_t bytes)
{
    struct pl_span *span = job->launch.span;
    struct pl_host *host = span_host_of(job, (int)span->host_of[rank]);
    if (!host)
        return;
    struct pl_writer *to = pl_wire_begin(&host->wire, PL_FRAME_INPUT, span->id);
    pl_write_u32(to, (uint32_t)rank);
    pl_write_blob(to, data, bytes);
    pl_wire_end(&host->wire);
    pl_host_flush(host);
}

/* --- what happens ------------------------------------------------------------------------------------------------ */

static void span_tell_gone(struct plenum_job *job, int rank)
{
    struct pl_span *span = job->launch.span;
    for (int h = 0; h < span->hosts; h++) {
        struct pl_host *host = span_host_of(job, h);
        if (!host || span->host_of[rank] == (uint32_t)h)
            continue;
        pl_write_u32(pl_wire_begin(&host->wire, PL_FRAME_GONE, span->id), (uint32_t)rank);
        pl_wire_end(&host->wire);
        pl_host_flush(host);
    }
}

static void span_process_ended(struct plenum_job *job, const struct plenum_event *e)
{
    struct pl_rank *rank = &job->ranks[e->rank];
    bool lost = e->kind == PLENUM_EVENT_LOST;
    int signo = e->signal ? e->signal : SIGKILL;
    if (rank->ended)
        return;
    rank->ended = true;
    rank->pid = e->pid;
    span_tell_gone(job, e->rank);
    pl_outcome_of_process(
        job, &(struct pl_ended){
                 .rank = e->rank,
                 .pid = e->pid,
                 .status = lost ? signo | (e->flags & PLENUM_EVENT_CORE ? 0x80 : 0) : (e->code & 255) << 8,
                 .unfinalized = e->flags & PLENUM_EVENT_UNFINALIZED,
                 .finalized = e->flags & PL_EVENT_FINALIZED,
                 .expected = job->phase == PL_JOB_ENDING || job->launch.span->parts->doomed[e->rank],
                 .time_us = e->time_us,
                 .run_us = e->run_us,
                 .usage = { e->user_us, e->system_us, e->peak },
             });
}

/* The texts of an event end with a NUL in the copy. */
static void span_aborted(struct plenum_job *job, const struct pl_event_view *view)
{
    struct pl_event *copy = pl_event_of_view(job, view);
    if (!copy)
        return;
    const struct plenum_event *e = &copy->public;
    const char *object = e->object ? e->object : "", *text = e->text ? e->text : "";
    if (view->event.flags & PL_EVENT_SOME && job->desc.option[PLENUM_JOB_KEEP_GOING])
        pl_job_abort_some(job, e->rank, e->code, object, text);
    else
        pl_job_abort(job, e->rank, e->code, object, text);
    plenum_event_free(&copy->public);
}

static void span_unstarted(struct plenum_job *job, const struct pl_event_view *view)
{
    struct pl_event *copy = pl_event_of_view(job, view);
    if (copy && job->phase == PL_JOB_RUNNING) {
        pl_outcome_decide(job, (int)(view->event.flags >> PL_EVENT_CODE));
        pl_job_fail_start(job, view->event.rank, copy->public.code, copy->public.text ? copy->public.text : "");
    }
    if (copy)
        plenum_event_free(&copy->public);
}

/* Nothing of the job is left on a host. */
static void span_part_ended(struct plenum_job *job, int number)
{
    struct pl_span_parts *parts = job->launch.span->parts;
    struct span_part *part = &parts->part[number];
    if (!part->host)
        return;
    pl_host_count(part->host, -part->ranks);
    part->host = NULL;
    if (--parts->running == 0)
        pl_job_last_process_ended(job);
}

static void span_event(struct plenum_job *job, int part, const struct pl_event_view *view)
{
    const struct plenum_event *e = &view->event;
    switch (e->kind) {
    case PLENUM_EVENT_STARTED: pl_job_ranks_started(job, job->launch.span->parts->part[part].ranks, e->time_us); break;
    case PLENUM_EVENT_UNSTARTED: span_unstarted(job, view); break;
    case PLENUM_EVENT_EXITED:
    case PLENUM_EVENT_LOST: span_process_ended(job, e); break;
    case PLENUM_EVENT_ABORTED: span_aborted(job, view); break;
    case PLENUM_EVENT_FINISHED: span_part_ended(job, part); break;
    case PLENUM_EVENT_OUTPUT:
    case PLENUM_EVENT_PSETS:
    case PLENUM_EVENT_REPORT:
    case PLENUM_EVENT_ERROR: pl_event_queue(job->runtime, pl_event_of_view(job, view)); break;
    default: break;
    }
}

/* Is the event of a rank of this part, or of none where it needs none? */
static bool span_is_of(const struct plenum_job *job, int part, const struct plenum_event *e)
{
    bool ended = e->kind == PLENUM_EVENT_EXITED || e->kind == PLENUM_EVENT_LOST;
    if (e->rank < 0)
        return e->rank == PLENUM_ALL && !ended;
    return e->rank < job->desc.size && job->launch.span->host_of[e->rank] == (uint32_t)part;
}

static bool span_tells_of_end(enum plenum_event_kind kind)
{
    return kind == PLENUM_EVENT_EXITED || kind == PLENUM_EVENT_LOST || kind == PLENUM_EVENT_ABORTED ||
           kind == PLENUM_EVENT_FINISHED;
}

static bool span_has_started(const struct plenum_job *job)
{
    return job->started >= job->desc.size || job->phase != PL_JOB_RUNNING;
}

static bool span_keep_early(struct plenum_job *job, int part, const struct pl_reader *body)
{
    size_t length = pl_reader_left(body);
    struct span_early *early = pl_malloc(sizeof *early + length);
    if (!early)
        return false;
    early->part = part;
    early->length = length;
    memcpy(early->body, body->at, length);
    pl_list_append(&job->launch.span->parts->early, &early->node);
    return true;
}

/* The job may have finished afterwards. */
static void span_flush_early(struct plenum_runtime *rt, uint64_t id)
{
    struct plenum_job *job;
    while ((job = pl_job_find(rt, id)) && job->launch.span && span_has_started(job)) {
        struct pl_list *node = pl_list_pop(&job->launch.span->parts->early);
        if (!node)
            return;
        struct span_early *early = PL_CONTAINER(node, struct span_early, node);
        struct pl_reader body = pl_reader(early->body, early->length);
        struct pl_event_view view;
        if (pl_event_unpack(&body, &view))
            span_event(job, early->part, &view);
        free(early);
    }
}

static void span_event_frame(struct plenum_job *job, int part, struct pl_frame *frame)
{
    struct plenum_runtime *rt = job->runtime;
    struct pl_reader body = frame->body;
    struct pl_event_view view;
    uint64_t id = job->id;
    if (!pl_event_unpack(&frame->body, &view) || !span_is_of(job, part, &view.event))
        return;
    if (!span_tells_of_end(view.event.kind) || span_has_started(job) || !span_keep_early(job, part, &body))
        span_event(job, part, &view);
    span_flush_early(rt, id);
}

/* --- frames ---------------------------------------------------------------------------------------------------- */

/* A slot of a rank of this part goes to the other hosts. */
static void span_pass_on(struct plenum_job *job, int part, const struct pl_frame *frame)
{
    struct pl_reader body = frame->body;
    uint32_t rank = pl_read_u32(&body);
    if (body.failed || rank >= (uint32_t)job->desc.size || job->launch.span->host_of[rank] != (uint32_t)part)
        return;
    for (int h = 0; h < job->launch.span->hosts; h++) {
        struct pl_host *host = span_host_of(job, h);
        if (!host || h == part)
            continue;
        pl_write_raw(pl_wire_begin(&host->wire, PL_FRAME_SLOT, job->launch.span->id), frame->body.at,
                     pl_reader_left(&frame->body));
        pl_wire_end(&host->wire);
        pl_host_flush(host);
    }
}

static void span_refused(struct plenum_job *job, int part, struct pl_frame *frame)
{
    struct plenum_runtime *rt = job->runtime;
    uint64_t id = job->id;
    enum plenum_error error = (enum plenum_error)pl_read_u8(&frame->body);
    size_t length;
    const char *text = pl_read_text(&frame->body, 1024, &length);
    char reason[1400];
    snprintf(reason, sizeof reason, "host %s: %.*s", span_host_of(job, part)->name, text ? (int)length : 0,
             text ? text : "");
    if (job->phase == PL_JOB_RUNNING) {
        pl_outcome_decide(job, error == PLENUM_ERR_NOT_FOUND        ? PL_CODE_NOT_FOUND
                               : error == PLENUM_ERR_NOT_EXECUTABLE ? PL_CODE_NOT_EXECUTABLE
                                                                    : 1);
        pl_job_fail_start(job, PLENUM_ALL, 0, reason);
    }
    span_part_ended(job, part);
    span_flush_early(rt, id);
}

static void span_doomed(struct plenum_job *job, struct pl_frame *frame)
{
    uint32_t rank = pl_read_u32(&frame->body);
    if (!pl_reader_done(&frame->body) || rank >= (uint32_t)job->desc.size || job->ranks[rank].ended ||
        !job->desc.option[PLENUM_JOB_KEEP_GOING])
        return;
    job->launch.span->parts->doomed[rank] = true;
    pl_span_signal(job, (int)rank, SIGKILL);
}

static struct plenum_job *span_find_job(const struct pl_host *host, uint32_t id, int *part)
{
    PL_LIST_EACH(job, &host->runtime->alive, struct plenum_job, alive) {
        if (!pl_job_is_spread(job) || job->launch.span->id != id)
            continue;
        for (int h = 0; h < job->launch.span->hosts; h++)
            if (span_host_of(job, h) == host) {
                *part = h;
                return job;
            }
    }
    return NULL;
}

void pl_span_frame(struct pl_host *host, struct pl_frame *frame)
{
    int part;
    struct plenum_job *job = span_find_job(host, frame->job, &part);
    if (!job)
        return;
    switch (frame->kind) {
    case PL_FRAME_EVENT: span_event_frame(job, part, frame); break;
    case PL_FRAME_SLOT: span_pass_on(job, part, frame); break;
    case PL_FRAME_REFUSED: span_refused(job, part, frame); break;
    case PL_FRAME_DOOMED: span_doomed(job, frame); break;
    case PL_FRAME_TAKEN: pl_span_inputs_taken(&job->launch.span->parts->inputs, frame); break;
    default: break;
    }
}

/* --- a lost host ------------------------------------------------------------------------------------------------- */

static void span_lose_ranks(struct plenum_job *job, int part)
{
    for (int r = 0; r < job->desc.size; r++)
        if (job->launch.span->host_of[r] == (uint32_t)part && !job->ranks[r].ended) {
            job->launch.span->parts->doomed[r] = true; /* the event about the host says why */
            span_process_ended(job, &(struct plenum_event){ .kind = PLENUM_EVENT_LOST, .rank = r, .signal = SIGKILL });
        }
}

void pl_span_lose(struct plenum_job *job, const struct pl_host *host)
{
    struct plenum_runtime *rt = job->runtime;
    uint64_t id = job->id;
    char reason[600];
    int part = 0;
    while (part < job->launch.span->hosts && span_host_of(job, part) != host)
        part++;
    if (part == job->launch.span->hosts)
        return;
    if (!span_has_started(job)) {
        snprintf(reason, sizeof reason, "host %s: %s", host->name, host->reason);
        pl_job_fail_start(job, PLENUM_ALL, 0, reason);
    }
    span_flush_early(rt, id);
    if (pl_job_find(rt, id) != job || !job->launch.span || !span_host_of(job, part))
        return;
    span_lose_ranks(job, part);
    span_part_ended(job, part);
    span_flush_early(rt, id);
}
