/* SPDX-License-Identifier: BSD-3-Clause */
/* See event.h. */
#include "world/runtime/event/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "core/base/clock.h"
#include "core/base/memory.h"

/* For a spawned job the embedder gets events about its processes, but none about its life, which is part of the spawn
 * tree's. What starts an agent is not the embedder's. */
static bool event_is_silent(const struct plenum_job *job, enum plenum_event_kind kind)
{
    if (job->launch.placer)
        return true;
    return job->tree.root && (kind == PLENUM_EVENT_STARTED || kind == PLENUM_EVENT_FINISHED ||
                              kind == PLENUM_EVENT_PSETS || kind == PLENUM_EVENT_QUEUED || pl_job_is_starting(job));
}

bool pl_event_prepare_last(struct plenum_job *job)
{
    job->outcome.last = pl_malloc(sizeof *job->outcome.last + 1);
    return job->outcome.last != NULL;
}

static struct pl_event *event_take_last(struct plenum_job *job)
{
    struct pl_event *event = job->outcome.last;
    job->outcome.last = NULL;
    return event;
}

struct pl_event *pl_event_new(struct plenum_job *job, enum plenum_event_kind kind, int rank, size_t length)
{
    if (event_is_silent(job, kind))
        return NULL;
    rank += rank >= 0 && !pl_job_is_part(job) ? job->tree.first_rank : 0;
    job = pl_job_root(job);
    struct pl_event *event =
        kind == PLENUM_EVENT_FINISHED ? event_take_last(job) : pl_malloc(sizeof *event + length + 1);
    if (!event)
        return NULL;
    char *text = (char *)(event + 1);
    text[length] = '\0';
    pl_list_init(&event->node);
    event->public = (struct plenum_event){
        .kind = kind,
        .job_id = job->id,
        .job = job->handle.open ? job : NULL,
        .user = job->handle.user,
        .rank = rank,
        .text = length > 0 ? text : NULL,
        .length = length,
        .time_us = pl_clock_read(CLOCK_REALTIME) / 1000,
    };
    return event;
}

void pl_event_queue(struct plenum_runtime *rt, struct pl_event *event)
{
    if (!event)
        return;
    if (pl_list_empty(&rt->events))
        eventfd_write(rt->poll.events, 1);
    pl_list_append(&rt->events, &event->node);
}

void pl_event_forget(struct plenum_runtime *rt, const struct plenum_job *job)
{
    PL_LIST_EACH(event, &rt->events, struct pl_event, node)
        if (event->public.job == job)
            event->public.job = NULL;
}

/* Makes a process's text one line that ends within `size` and has no control characters. */
static void event_tidy(char *text, size_t size)
{
    size_t i = 0;
    for (; i + 1 < size && text[i]; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            text[i] = ' ';
    text[i] = '\0';
}

struct pl_event *pl_event_of_object(struct plenum_job *job, enum plenum_event_kind kind, int rank, int code,
                                    const char *object, const char *message)
{
    size_t length = strlen(message), more = strlen(object) + 1;
    struct pl_event *event = pl_event_new(job, kind, rank, length + more);
    if (!event)
        return NULL;
    char *text = (char *)event->public.text;
    memcpy(text, message, length + 1);
    memcpy(text + length + 1, object, more);
    event_tidy(text, length + 1);
    event_tidy(text + length + 1, more);
    event->public.code = code;
    event->public.length = length;
    event->public.text = length > 0 ? text : NULL;
    event->public.object = more > 1 ? text + length + 1 : NULL;
    return event;
}

void plenum_event_free(struct plenum_event *event)
{
    free(event);
}

/* --- in words ---------------------------------------------------------------------------------------------- */

static int event_describe_exit(const struct plenum_event *e, char *text, size_t size)
{
    if (e->flags & PLENUM_EVENT_UNFINALIZED)
        return snprintf(text, size, "rank %d (pid %d) exited with code %d without finalizing MPI", e->rank, e->pid,
                        e->code);
    return snprintf(text, size, "rank %d (pid %d) exited with code %d", e->rank, e->pid, e->code);
}

static int event_describe_lost(const struct plenum_event *e, char *text, size_t size)
{
    const char *name = sigdescr_np(e->signal);
    if (e->pid == 0)
        return snprintf(text, size, "rank %d is lost with its host", e->rank);
    return snprintf(text, size, "rank %d (pid %d) was killed by signal %d (%s%s)", e->rank, e->pid, e->signal,
                    name ? name : "unknown", e->flags & PLENUM_EVENT_CORE ? ", core dumped" : "");
}

static int event_describe_abort(const struct plenum_event *e, char *text, size_t size)
{
    char name[32];
    size_t length = (size_t)snprintf(name, sizeof name, "rank %d ", e->rank);
    if (e->text && strncmp(e->text, name, length) == 0) /* the text names the rank itself */
        return snprintf(text, size, "%s", e->text);
    if (e->text)
        return snprintf(text, size, "rank %d: %s", e->rank, e->text);
    return snprintf(text, size, "rank %d called MPI_Abort%s%s with error code %d", e->rank, e->object ? " on " : "",
                    e->object ? e->object : "", e->code);
}

int plenum_event_describe(const struct plenum_event *e, char *text, size_t size)
{
    if (!e)
        return snprintf(text, size, "no event");
    switch (e->kind) {
    case PLENUM_EVENT_STARTED:
        return snprintf(text, size, "%d %s started", e->code, e->code == 1 ? "process" : "processes");
    case PLENUM_EVENT_UNSTARTED:
        if (e->rank < 0)
            return snprintf(text, size, "cannot start the job: %s", e->text ? e->text : "unknown reason");
        return snprintf(text, size, "cannot start rank %d: %s", e->rank, e->text ? e->text : "unknown reason");
    case PLENUM_EVENT_OUTPUT:
        return snprintf(text, size, "rank %d wrote %zu bytes to %s", e->rank, e->length,
                        e->stream == 1 ? "standard output" : "standard error");
    case PLENUM_EVENT_EXITED: return event_describe_exit(e, text, size);
    case PLENUM_EVENT_LOST: return event_describe_lost(e, text, size);
    case PLENUM_EVENT_ABORTED: return event_describe_abort(e, text, size);
    case PLENUM_EVENT_TIMEOUT:
        return snprintf(text, size, "the time limit of %g seconds has expired; ending the job", e->code / 1000.0);
    case PLENUM_EVENT_FINISHED:
        return snprintf(text, size, "the job has finished with exit code %d%s", e->code,
                        e->flags & PLENUM_EVENT_CANCELLED ? ", cancelled" : "");
    case PLENUM_EVENT_PSETS:
        return snprintf(text, size, "process sets have changed, %d %s published", e->code, e->code == 1 ? "is" : "are");
    case PLENUM_EVENT_ERROR:
        return snprintf(text, size, "rank %d: %s", e->rank, e->text ? e->text : "an error without a message");
    case PLENUM_EVENT_REPORT:
        return snprintf(text, size, "%.*s", e->text ? (int)strcspn(e->text, "\n") : 0, e->text ? e->text : "");
    case PLENUM_EVENT_HOST:
        return snprintf(text, size, "host %s %s%s%s", e->object ? e->object : "",
                        e->code == PLENUM_HOST_LOST ? "is lost" : "is ready", e->text ? ": " : "",
                        e->text ? e->text : "");
    case PLENUM_EVENT_QUEUED:
        return snprintf(text, size, "the job waits for free slots, behind %d %s", e->code,
                        e->code == 1 ? "other" : "others");
    }
    return snprintf(text, size, "unknown event %d", (int)e->kind);
}
