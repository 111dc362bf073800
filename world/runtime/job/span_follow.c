/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See span_follow.h. The agents tell what happens to the ranks, and here it is decided what follows, as follow.c does
 * with the notices of the keeper.
 *
 * STARTED comes before every EXITED and LOST, but a host may be faster than another. So what tells of an end waits
 * until all ranks were started, or until the job ends anyway.
 */
#include "world/runtime/job/span_follow.h"
#include "world/runtime/job/spawn_tree.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "mpi.h"
#include "world/runtime/event/event_pack.h"
#include "world/runtime/job/answers.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/job/host_life.h"
#include "world/runtime/job/host_resources.h"
#include "world/runtime/job/job_bind.h"
#include "world/runtime/job/job_report.h"
#include "world/runtime/job/outcome.h"
#include "world/runtime/job/published_names.h"
#include "world/runtime/job/span.h"
#include "world/runtime/job/span_parts.h"
#include "world/runtime/job/span_sets.h"

/* --- what happens ------------------------------------------------------------------------------------------------ */

static void told_pass_end(struct plenum_job *job, int rank, int status)
{
    struct pl_span *span = job->launch.span;
    for (int h = 0; h < span->hosts; h++) {
        struct pl_host *host = pl_span_host_of(job, h);
        if (!host || span->host_of[rank] == (uint32_t)h)
            continue;
        struct pl_writer *to = pl_wire_begin(&host->wire, PL_FRAME_GONE, span->id);
        pl_write_u32(to, (uint32_t)rank);
        pl_write_u8(to, status ? PL_GONE_FAILED : PL_GONE_ENDED);
        pl_wire_end(&host->wire);
        pl_host_flush(host);
    }
}

/* Of the whole spawn tree. */
static bool *told_consequence(struct plenum_job *job)
{
    return &pl_job_root(job)->launch.span->parts->consequence;
}

/* Has the process that ended aborted? Of several on one host only the first has told so itself. */
static bool told_has_aborted(const struct plenum_job *job, const struct plenum_event *e)
{
    return e->flags & PL_EVENT_ABORTED || job->launch.span->parts->rank[e->rank].aborted;
}

/* A process learns from the network that another one is lost, and aborts; the news of that one's host may come later.
 * Then this, the cause, decides. */
static bool told_is_cause(struct plenum_job *job, const struct plenum_event *e)
{
    bool failed = e->kind == PLENUM_EVENT_LOST || e->code != 0 || e->flags & PLENUM_EVENT_UNFINALIZED;
    return *told_consequence(job) && failed && !(e->flags & PLENUM_EVENT_EXPECTED) && !told_has_aborted(job, e);
}

static void told_reconsider(struct plenum_job *job)
{
    *told_consequence(job) = false;
    pl_job_root(job)->outcome.failed = false;
}

static void told_process_ended(struct plenum_job *job, const struct plenum_event *e)
{
    struct pl_rank *rank = &job->ranks[e->rank];
    bool lost = e->kind == PLENUM_EVENT_LOST;
    bool cause = told_is_cause(job, e), doomed = job->launch.span->parts->rank[e->rank].doomed;
    bool aborted = told_has_aborted(job, e), held = aborted && job->deadline.abort;
    int signo = e->signal ? e->signal : SIGKILL;
    int status = lost ? signo | (e->flags & PLENUM_EVENT_CORE ? 0x80 : 0) : (e->code & 255) << 8;
    if (rank->ended)
        return;
    rank->ended = true;
    rank->pid = e->pid;
    pl_job_names_forget(job, e->rank);
    told_pass_end(job, e->rank, status);
    pl_outcome_of_process(job, &(struct pl_ended){
                                   .rank = e->rank,
                                   .pid = e->pid,
                                   .status = status,
                                   .unfinalized = e->flags & PLENUM_EVENT_UNFINALIZED,
                                   .finalized = e->flags & PL_EVENT_FINALIZED,
                                   .aborted = aborted,
                                   .held = held,
                                   .unmet = e->flags & PL_EVENT_UNMET,
                                   .expected = (job->phase == PL_JOB_ENDING && !cause) || doomed || held,
                                   .time_us = e->time_us,
                                   .run_us = e->run_us,
                                   .usage = { e->user_us, e->system_us, e->peak },
                               });
    if (cause) {
        told_reconsider(job);
        pl_outcome_decide(job, lost ? PL_CODE_SIGNAL + signo : e->code ? e->code & 255 : 1);
    }
    if (pl_job_root(job)->outcome.failed)
        pl_job_settle_aborts(job);
}

/* For free(); NULL: out of memory. */
static char *told_copy(const char *text, size_t length)
{
    return pl_strndup(text ? text : "", text ? length : 0);
}

static void told_apply_abort(struct plenum_job *job, const struct pl_span_abort *abort)
{
    bool *consequence = told_consequence(job);
    const struct plenum_event *e = &abort->event;
    const char *object = abort->object ? abort->object : "", *text = abort->text ? abort->text : "";
    if (e->code == MPI_ERR_PROC_ABORTED) {
        *consequence |= !pl_job_root(job)->outcome.failed && !job->desc.option[PLENUM_JOB_KEEP_GOING];
    } else if (*consequence) {
        told_reconsider(job);
        job->outcome.aborted = false; /* this abort is told, too */
    }
    if (e->flags & PL_EVENT_SOME && job->desc.option[PLENUM_JOB_KEEP_GOING])
        pl_job_abort_some(job, e->rank, e->code, object, text);
    else
        pl_job_abort(job, e->rank, e->code, object, text);
}

static void told_aborted(struct plenum_job *job, const struct pl_event_view *view)
{
    struct pl_span_parts *parts = job->launch.span->parts;
    struct pl_span_abort abort = { .event = view->event,
                                   .object = told_copy(view->object, view->object_length),
                                   .text = told_copy(view->text, view->length) };
    if (view->event.rank >= 0)
        parts->rank[view->event.rank].aborted = true;
    struct pl_span_abort *held = pl_job_hold_abort(job, view->event.code) ? pl_malloc(sizeof *held) : NULL;
    if (held) {
        *held = abort;
        pl_list_append(&parts->aborts, &held->node);
        return;
    }
    told_apply_abort(job, &abort);
    free(abort.object);
    free(abort.text);
}

void pl_span_settle_aborts(struct plenum_job *job)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&job->launch.span->parts->aborts))) {
        struct pl_span_abort *abort = PL_CONTAINER(node, struct pl_span_abort, node);
        if (job->phase == PL_JOB_RUNNING)
            told_apply_abort(job, abort);
        free(abort->object);
        free(abort->text);
        free(abort);
    }
}

static void told_unstarted(struct plenum_job *job, const struct pl_event_view *view)
{
    char *text = told_copy(view->text, view->length);
    if (job->phase == PL_JOB_RUNNING) {
        pl_outcome_decide(job, (int)(view->event.flags >> PL_EVENT_CODE));
        pl_job_fail_start(job, view->event.rank, view->event.code, text ? text : "");
    }
    free(text);
}

/* The ranks whose end the agent has not told: their host is lost. Of ranks that may not have started there is nothing
 * to tell, because UNSTARTED is the job's event. */
static void told_lose_ranks(struct plenum_job *job, int part)
{
    bool started = job->launch.span->parts->part[part].started;
    for (int r = 0; r < job->desc.size; r++)
        if (job->launch.span->host_of[r] == (uint32_t)part && !job->ranks[r].ended) {
            job->launch.span->parts->rank[r].doomed = true; /* the event about the host says why */
            pl_job_names_forget(job, r);
            if (!started)
                job->ranks[r].ended = true;
            else
                told_process_ended(job,
                                   &(struct plenum_event){ .kind = PLENUM_EVENT_LOST, .rank = r, .signal = SIGKILL });
        }
}

/* Nothing of the job is left on a host. */
static void told_part_ended(struct plenum_job *job, int number)
{
    struct pl_span_parts *parts = job->launch.span->parts;
    struct pl_span_part *part = &parts->part[number];
    if (!part->host)
        return;
    told_lose_ranks(job, number);
    pl_host_count(part->host, -part->ranks);
    pl_host_resources_give(job, part->host, part->ranks);
    part->host = NULL;
    pl_job_report_part_ended(job, number);
    pl_span_sets_check_waiting(job);
    if (--parts->running > 0)
        return;
    pl_job_names_forget(job, PLENUM_ALL);
    pl_job_last_process_ended(job);
}

static void told_started(struct plenum_job *job, int number, const struct pl_event_view *view)
{
    struct pl_span_part *part = &job->launch.span->parts->part[number];
    char *pids = told_copy(view->text, view->length), *at = pids;
    if (part->started) {
        free(pids);
        return;
    }
    part->started = true;
    for (int r = 0; at && r < job->desc.size; r++)
        if (job->launch.span->host_of[r] == (uint32_t)number)
            job->ranks[r].pid = (pid_t)strtol(at, &at, 10);
    free(pids);
    pl_job_ranks_started(job, part->ranks, view->event.time_us);
}

/* A process that its parents wait for cannot initialize MPI. */
static void told_unable(struct plenum_job *job, const struct pl_event_view *view)
{
    char *text = told_copy(view->text, view->length);
    pl_spawn_tree_missed(job, view->event.rank, text ? text : "cannot initialize MPI");
    free(text);
}

static void told_event(struct plenum_job *job, int part, const struct pl_event_view *view)
{
    const struct plenum_event *e = &view->event;
    switch (e->kind) {
    case PLENUM_EVENT_STARTED: told_started(job, part, view); break;
    case PLENUM_EVENT_UNSTARTED: told_unstarted(job, view); break;
    case PLENUM_EVENT_EXITED:
    case PLENUM_EVENT_LOST: told_process_ended(job, e); break;
    case PLENUM_EVENT_ABORTED: told_aborted(job, view); break;
    case PLENUM_EVENT_FINISHED: told_part_ended(job, part); break;
    case PLENUM_EVENT_ERROR:
        if (e->flags & PL_EVENT_UNMET) {
            told_unable(job, view);
            break;
        } /* fallthrough */
    case PLENUM_EVENT_OUTPUT:
    case PLENUM_EVENT_REPORT: pl_event_queue(job->runtime, pl_event_of_view(job, view)); break;
    default: break;
    }
}

/* Is the event of a rank of this part, or of none where it needs none? */
static bool told_is_of(const struct plenum_job *job, int part, const struct plenum_event *e)
{
    bool ended = e->kind == PLENUM_EVENT_EXITED || e->kind == PLENUM_EVENT_LOST;
    if (e->rank < 0)
        return e->rank == PLENUM_ALL && !ended;
    return e->rank < job->desc.size && job->launch.span->host_of[e->rank] == (uint32_t)part;
}

static bool told_is_end(enum plenum_event_kind kind)
{
    return kind == PLENUM_EVENT_EXITED || kind == PLENUM_EVENT_LOST || kind == PLENUM_EVENT_ABORTED ||
           kind == PLENUM_EVENT_FINISHED;
}

/* Must it wait until all ranks were started? What a spawned job says before that is its parents' alone. */
static bool told_must_wait(const struct plenum_job *job, enum plenum_event_kind kind)
{
    return told_is_end(kind) ||
           (pl_job_is_starting(job) && (kind == PLENUM_EVENT_OUTPUT || kind == PLENUM_EVENT_ERROR));
}

static bool told_has_started(const struct plenum_job *job)
{
    return job->started >= job->desc.size || job->phase != PL_JOB_RUNNING;
}

static bool told_keep_early(struct plenum_job *job, int part, const struct pl_reader *body)
{
    size_t length = pl_reader_left(body);
    struct pl_span_early *early = pl_malloc(sizeof *early + length);
    if (!early)
        return false;
    early->part = part;
    early->length = length;
    memcpy(early->body, body->at, length);
    pl_list_append(&job->launch.span->parts->early, &early->node);
    return true;
}

/* The job may have finished afterwards. */
static void told_flush_early(struct plenum_runtime *rt, uint64_t id)
{
    struct plenum_job *job;
    while ((job = pl_job_find(rt, id)) && job->launch.span && told_has_started(job)) {
        struct pl_list *node = pl_list_pop(&job->launch.span->parts->early);
        if (!node)
            return;
        struct pl_span_early *early = PL_CONTAINER(node, struct pl_span_early, node);
        struct pl_reader body = pl_reader(early->body, early->length);
        struct pl_event_view view;
        if (pl_event_unpack(&body, &view))
            told_event(job, early->part, &view);
        free(early);
    }
}

/* The keeper of a host was killed while it started ranks. Nothing else tells that the job will never have started. */
static void told_check_start(struct plenum_job *job, int part, enum plenum_event_kind kind)
{
    char reason[300];
    if (kind != PLENUM_EVENT_FINISHED || told_has_started(job) || job->launch.span->parts->part[part].started)
        return;
    snprintf(reason, sizeof reason, "host %s: the processes ended before all of them had started",
             pl_span_host_of(job, part)->name);
    pl_job_fail_start(job, PLENUM_ALL, 0, reason);
}

static void told_event_frame(struct plenum_job *job, int part, struct pl_frame *frame)
{
    struct plenum_runtime *rt = job->runtime;
    struct pl_reader body = frame->body;
    struct pl_event_view view;
    uint64_t id = job->id;
    if (!pl_event_unpack(&frame->body, &view) || !told_is_of(job, part, &view.event))
        return;
    told_check_start(job, part, view.event.kind);
    if (!told_must_wait(job, view.event.kind) || told_has_started(job) || !told_keep_early(job, part, &body))
        told_event(job, part, &view);
    told_flush_early(rt, id);
}

/* --- frames ------------------------------------------------------------------------------------------------------ */

/* A slot of a rank of this part goes to the other hosts. */
static void told_pass_slot(struct plenum_job *job, int part, const struct pl_frame *frame)
{
    struct pl_reader body = frame->body;
    uint32_t rank = pl_read_u32(&body);
    if (body.failed || rank >= (uint32_t)job->desc.size || job->launch.span->host_of[rank] != (uint32_t)part)
        return;
    for (int h = 0; h < job->launch.span->hosts; h++) {
        struct pl_host *host = pl_span_host_of(job, h);
        if (!host || h == part)
            continue;
        pl_write_raw(pl_wire_begin(&host->wire, PL_FRAME_SLOT, job->launch.span->id), frame->body.at,
                     pl_reader_left(&frame->body));
        pl_wire_end(&host->wire);
        pl_host_flush(host);
    }
}

static void told_refused(struct plenum_job *job, int part, struct pl_frame *frame)
{
    struct plenum_runtime *rt = job->runtime;
    uint64_t id = job->id;
    enum plenum_error error = (enum plenum_error)pl_read_u8(&frame->body);
    size_t length;
    const char *text = pl_read_text(&frame->body, 1024, &length);
    char reason[1400];
    snprintf(reason, sizeof reason, "host %s: %.*s", pl_span_host_of(job, part)->name, text ? (int)length : 0,
             text ? text : "");
    if (job->phase == PL_JOB_RUNNING) {
        pl_outcome_decide(job, error == PLENUM_ERR_NOT_FOUND        ? PL_CODE_NOT_FOUND
                               : error == PLENUM_ERR_NOT_EXECUTABLE ? PL_CODE_NOT_EXECUTABLE
                                                                    : 1);
        pl_job_fail_start(job, PLENUM_ALL, 0, reason);
    }
    told_part_ended(job, part);
    told_flush_early(rt, id);
}

static void told_doomed(struct plenum_job *job, struct pl_frame *frame)
{
    uint32_t rank = pl_read_u32(&frame->body);
    if (!pl_reader_done(&frame->body) || rank >= (uint32_t)job->desc.size || job->ranks[rank].ended ||
        !job->desc.option[PLENUM_JOB_KEEP_GOING])
        return;
    job->launch.span->parts->rank[rank].doomed = true;
    pl_span_signal(job, (int)rank, SIGKILL);
}

static struct plenum_job *told_find_job(const struct pl_host *host, uint32_t id, int *part)
{
    PL_LIST_EACH(job, &host->runtime->alive, struct plenum_job, alive) {
        if (!pl_job_is_spread(job) || job->launch.span->id != id)
            continue;
        for (int h = 0; h < job->launch.span->hosts; h++)
            if (pl_span_host_of(job, h) == host) {
                *part = h;
                return job;
            }
    }
    return NULL;
}

void pl_span_frame(struct pl_host *host, struct pl_frame *frame)
{
    int part;
    struct plenum_job *job = told_find_job(host, frame->job, &part);
    if (!job)
        return;
    switch (frame->kind) {
    case PL_FRAME_EVENT: told_event_frame(job, part, frame); break;
    case PL_FRAME_SLOT: told_pass_slot(job, part, frame); break;
    case PL_FRAME_REFUSED: told_refused(job, part, frame); break;
    case PL_FRAME_DOOMED: told_doomed(job, frame); break;
    case PL_FRAME_QUESTION: pl_answers_hear(job, part, &frame->body); break;
    case PL_FRAME_SETS: pl_span_sets_known(job, part, &frame->body); break;
    case PL_FRAME_BOUND: pl_job_bind_told(job, part, frame); break;
    case PL_FRAME_REPORT: pl_job_report_answer(job, part, frame); break;
    case PL_FRAME_TAKEN: pl_span_inputs_taken(&job->launch.span->parts->inputs, frame); break;
    default: break;
    }
}

/* --- a host that has not answered, or is lost -------------------------------------------------------------------- */

/* The part of a job that is on a host; -1: none, or not any more. */
static int told_find_part(const struct plenum_job *job, const struct pl_host *host)
{
    int part = job->launch.span->hosts - 1;
    while (part >= 0 && pl_span_host_of(job, part) != host)
        part--;
    return part;
}

void pl_span_withdraw(struct plenum_job *job, struct pl_host *host)
{
    struct plenum_runtime *rt = job->runtime;
    uint64_t id = job->id;
    int part = told_find_part(job, host);
    if (part < 0)
        return;
    pl_wire_drop(&host->wire, job->launch.span->id);
    if (job->outcome.cancelled)
        pl_outcome_decide(job, PL_CODE_SIGNAL + (job->desc.option[PLENUM_JOB_GRACE] ? SIGTERM : SIGKILL));
    told_part_ended(job, part);
    told_flush_early(rt, id);
}

void pl_span_lose(struct plenum_job *job, const struct pl_host *host)
{
    struct plenum_runtime *rt = job->runtime;
    uint64_t id = job->id;
    char reason[800];
    int part = told_find_part(job, host);
    if (part < 0)
        return;
    if (!told_has_started(job)) {
        snprintf(reason, sizeof reason, "host %s: %s", host->name, host->reason);
        pl_job_fail_start(job, PLENUM_ALL, 0, reason);
    }
    told_flush_early(rt, id);
    if (pl_job_find(rt, id) != job || !job->launch.span || !pl_span_host_of(job, part))
        return;
    told_part_ended(job, part);
    told_flush_early(rt, id);
}
