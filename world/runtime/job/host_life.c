/* SPDX-License-Identifier: BSD-3-Clause */
/* See host_life.h. What an agent sends is handled as it comes; that a host is lost, after the handlers of sources,
 * since it ends jobs. */
#include "world/runtime/job/host_life.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/visible.h"
#include "world/runtime/event/event.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/job/host_beat.h"
#include "world/runtime/job/host_resources.h"
#include "world/runtime/job/span.h"
#include "world/runtime/job/span_follow.h"
#include "world/runtime/runtime_error.h"

enum {
    PLACER_END_MS = 2000, /* from the end of the connection to SIGTERM, for what starts the agent */
    STOP_MS = 5000,       /* for all agents, when the runtime stops */
    CANNOT_RUN = 126,     /* exit codes of a shell */
    NOT_FOUND = 127,
};

/* --- events ---------------------------------------------------------------------------------------------------- */

static void host_tell(struct pl_host *host)
{
    size_t name = strlen(host->name) + 1, reason = strlen(host->reason) + 1;
    struct pl_event *event = pl_malloc(sizeof *event + name + reason);
    if (!event)
        return;
    char *text = (char *)(event + 1);
    memcpy(text, host->name, name);
    memcpy(text + name, host->reason, reason);
    pl_list_init(&event->node);
    event->public = (struct plenum_event){
        .kind = PLENUM_EVENT_HOST,
        .rank = PLENUM_ALL,
        .code = (int)host->state,
        .object = text,
        .text = reason > 1 ? text + name : NULL,
        .length = reason - 1,
        .time_us = pl_clock_read(CLOCK_REALTIME) / 1000,
    };
    pl_event_queue(host->runtime, event);
}

struct pl_host *pl_host_find(struct plenum_runtime *rt, const char *name)
{
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node)
        if (strcmp(host->name, name) == 0)
            return host;
    return NULL;
}

void pl_hosts_supply(struct plenum_runtime *rt)
{
    long slots = 0;
    pl_host_resources_supply(rt);
    if (rt->supply.slots_given || pl_list_empty(&rt->hosts))
        return;
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node)
        slots += pl_host_is_usable(host) ? host->slots : 0;
    pl_dispatch_set_total(&rt->supply.dispatch, 0, slots);
}

/* --- the connection ---------------------------------------------------------------------------------------------- */

void pl_host_flush(struct pl_host *host)
{
    if (host->wire.in < 0 || !host->wire.greeted)
        return;
    pl_wire_flush(&host->wire);
    bool full = pl_wire_waiting(&host->wire) > 0;
    if (full != host->full)
        pl_runtime_watch_writing(host->runtime, host->wire.in, &host->source, full);
    host->full = full;
}

static void host_greet(struct pl_host *host, struct pl_frame *hello)
{
    char version[64];
    if (!pl_wire_same_version(hello, version, sizeof version)) {
        if (strcmp(version, PLENUM_VERSION) == 0)
            snprintf(host->reason, sizeof host->reason,
                     "it has another build of Plenum %s, with other messages; install the same one there", version);
        else
            snprintf(host->reason, sizeof host->reason,
                     "it has version %s of Plenum, and this is %s; install this one there", version, PLENUM_VERSION);
        host->wire.broken = host->reason;
    } else if (host->state == PLENUM_HOST_STARTING) {
        host->state = PLENUM_HOST_READY;
        host_tell(host);
        pl_host_first_beat(host);
    }
}

static void host_read_places(struct pl_host *host, struct pl_reader *from)
{
    for (int bind = PLENUM_BIND_CORE; bind <= PLENUM_BIND_L3CACHE; bind++) {
        uint32_t count = pl_read_u32(from);
        if (!from->failed && count <= CPU_SETSIZE)
            host->places[bind] = (int)count;
    }
}

/* The placer gets some time to end by itself. */
static void host_hang_up(struct pl_host *host, int patience_ms)
{
    pl_runtime_unwatch(host->runtime, host->wire.in);
    shutdown(host->wire.in, SHUT_RDWR);
    if (host->placer && !host->placer->deadline.limit) {
        host->placer->deadline.limit = pl_clock_ms() + patience_ms;
        pl_runtime_set_timer(host->runtime);
    }
}

void pl_host_give_up(struct pl_host *host)
{
    host->wire.broken = host->reason;
    host_hang_up(host, 0);
}

/* False: nothing was read. */
static bool host_read(struct pl_host *host)
{
    struct pl_frame frame;
    int got = pl_wire_fill(&host->wire);
    if (got > 0)
        host->asked = 0;
    while (pl_wire_next(&host->wire, &frame))
        if (frame.kind == PL_FRAME_HELLO)
            host_greet(host, &frame);
        else if (frame.kind == PL_FRAME_PLACES)
            host_read_places(host, &frame.body);
        else if (frame.kind == PL_FRAME_RESOURCE)
            pl_host_resources_found(host, &frame);
        else
            pl_span_frame(host, &frame);
    if (got >= 0 && !host->wire.broken)
        return got > 0;
    host_hang_up(host, PLACER_END_MS);
    return false;
}

void pl_host_ready(struct pl_source *source)
{
    struct pl_host *host = PL_CONTAINER(source, struct pl_host, source);
    host_read(host);
    pl_host_flush(host);
}

/* The last line that ssh, or what else it is, has printed says why there is no agent. One that says what is wrong with
 * the agent is not the last: srun goes on with the exit code. */
static bool host_read_errors(struct pl_host *host)
{
    static const char more[] = "..."; /* the sign of a line that is cut */
    char text[4096];
    ssize_t got = host->errors >= 0 ? read(host->errors, text, sizeof text) : 0;
    for (ssize_t i = 0; i < got && !host->line_stays; i++) {
        size_t used = host->line_ended ? 0 : strlen(host->last_line);
        if (text[i] == '\n' || text[i] == '\r') {
            host->line_ended = true;
            host->line_stays = strstr(host->last_line, "plenum-agent:") != NULL;
        } else if (used + 1 < sizeof host->last_line) {
            host->last_line[used] = text[i];
            host->last_line[used + 1] = '\0';
            host->line_ended = false;
        } else {
            memcpy(host->last_line + sizeof host->last_line - sizeof more, more, sizeof more);
        }
    }
    return got > 0;
}

static void host_close_errors(struct pl_host *host)
{
    if (host->errors < 0)
        return;
    pl_runtime_unwatch(host->runtime, host->errors);
    close(host->errors);
    host->errors = -1;
}

void pl_host_errors_ready(struct pl_source *source)
{
    struct pl_host *host = PL_CONTAINER(source, struct pl_host, errors_source);
    if (!host_read_errors(host))
        host_close_errors(host);
}

static void host_disconnect(struct pl_host *host)
{
    host_close_errors(host);
    if (host->wire.in >= 0)
        pl_runtime_unwatch(host->runtime, host->wire.in);
    pl_wire_close(&host->wire);
}

/* --- the end --------------------------------------------------------------------------------------------------- */

void pl_host_free(struct pl_host *host)
{
    pl_list_remove(&host->node);
    host_disconnect(host);
    free(host->name);
    free(host->command);
    free(host);
}

void pl_host_placer_ended(struct plenum_job *placer)
{
    struct pl_host *host = placer->launch.placer;
    host->code = placer->outcome.code;
    host->over = true;
    host->placer = NULL;
    placer->handle.open = false;
}

/* Has the command reached a host that cannot run the agent? Then a shell, or whatever takes its place, names it. */
static bool host_lacks_agent(const struct pl_host *host)
{
    const char *named = strstr(host->last_line, "/plenum-agent");
    return named && !host->wire.greeted &&
           (host->code == CANNOT_RUN || host->code == NOT_FOUND || named == strstr(host->last_line, "/plenum-agent:"));
}

static void host_find_reason(struct pl_host *host)
{
    char text[sizeof host->last_line + 80];
    if (host->reason[0])
        return;
    if (host->wire.broken)
        snprintf(text, sizeof text, "%s", host->wire.broken);
    else if (host_lacks_agent(host))
        snprintf(text, sizeof text, "%s; install Plenum there, under the same path", host->last_line);
    else if (host->last_line[0])
        snprintf(text, sizeof text, "%s", host->last_line);
    else
        snprintf(text, sizeof text, "\"%.80s\" ended with exit code %d", host->command, host->code);
    pl_visible(host->reason, sizeof host->reason, text);
}

/* The agent is gone, and with it all that it had started. */
static void host_end_lost(struct pl_host *host)
{
    struct plenum_runtime *rt = host->runtime;
    host->over = false;
    while (host->wire.in >= 0 && host_read(host))
        ;
    while (host_read_errors(host))
        ;
    host_find_reason(host);
    host_disconnect(host);
    if (host->leaving && host->ranks == 0) {
        pl_host_free(host);
        return;
    }
    host->state = PLENUM_HOST_LOST;
    host_tell(host);
    pl_hosts_supply(rt);
    PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive)
        if (pl_job_is_spread(job))
            pl_span_lose(job, host);
    if (host->leaving)
        pl_host_free(host);
    pl_host_resources_refuse(rt);
}

/* Its agent gets the end of its input, and ends. */
static void host_dismiss(struct pl_host *host)
{
    if (!host->full)
        shutdown(host->wire.in, SHUT_WR);
    if (host->placer && !host->placer->deadline.limit) {
        host->placer->deadline.limit = pl_clock_ms() + PLACER_END_MS;
        pl_runtime_set_timer(host->runtime);
    }
}

/* Jobs that end before the agent has answered: it has not heard of them, and will not. */
static void host_withdraw(struct pl_host *host)
{
    PL_LIST_EACH(job, &host->runtime->alive, struct plenum_job, alive)
        if (pl_job_is_spread(job) && job->phase == PL_JOB_ENDING)
            pl_span_withdraw(job, host);
}

void pl_hosts_advance(struct plenum_runtime *rt)
{
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node) {
        if (host->over)
            host_end_lost(host);
        else if (!host->wire.greeted && host->ranks > 0)
            host_withdraw(host);
        else if (host->leaving && host->ranks == 0 && host->placer)
            host_dismiss(host);
    }
}

void pl_host_count(struct pl_host *host, int ranks)
{
    host->ranks += ranks;
}

/* Waits until the agent has closed its end of the connection. */
static void host_await_end(struct pl_host *host, int64_t deadline)
{
    char text[4096];
    struct pollfd p = { .fd = host->wire.in, .events = POLLIN };
    while (pl_deadline_left_ms(deadline) > 0 && poll(&p, 1, pl_deadline_left_ms(deadline)) > 0) {
        ssize_t got = read(host->wire.in, text, sizeof text);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            break;
    }
}

void pl_hosts_stop(struct plenum_runtime *rt)
{
    int64_t deadline = pl_deadline_after_ms(STOP_MS);
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node)
        if (host->wire.in >= 0)
            shutdown(host->wire.in, SHUT_WR);
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node)
        if (host->wire.in >= 0 && host->wire.greeted)
            host_await_end(host, deadline);
}

void pl_hosts_free(struct plenum_runtime *rt)
{
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node)
        pl_host_free(host);
}
