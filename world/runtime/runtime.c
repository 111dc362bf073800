/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening and closing a runtime, and its progress: runtime_progress() handles the ready sources, without blocking, in
 * the calling thread.
 *
 * At most one thread sleeps in poll() for the runtime (the driver, in plenum_job_wait()); other waiting threads sleep
 * on `changed`. A thread that handles a source while the driver sleeps wakes it, since its job may have finished.
 */
#include "world/runtime/runtime.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/job/stale_files.h"
#include "world/runtime/event/event.h"
#include "world/runtime/event/output.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/answers.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/job/host_beat.h"
#include "world/runtime/job/host_life.h"
#include "world/runtime/job/host_resources.h"
#include "world/runtime/job/keeper_loss.h"
#include "world/runtime/job/queue.h"
#include "world/runtime/pmix/server.h"
#include "world/runtime/runtime_error.h"

/* Sources that are handled before waiters hear of their events: an output that is always ready must not delay them. */
enum { READY_MAX = 32 };

/* --- sources ----------------------------------------------------------------------------------------------- */

bool pl_runtime_try_watch(struct plenum_runtime *rt, int fd, struct pl_source *source)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = source };
    return epoll_ctl(rt->poll.inner, EPOLL_CTL_ADD, fd, &event) == 0;
}

int pl_runtime_watch(struct plenum_runtime *rt, int fd, struct pl_source *source)
{
    return pl_runtime_try_watch(rt, fd, source) ? PLENUM_OK : (int)pl_rt_fail_errno("cannot poll a descriptor");
}

void pl_runtime_watch_writing(struct plenum_runtime *rt, int fd, struct pl_source *source, bool writing)
{
    struct epoll_event event = { .events = writing ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = source };
    epoll_ctl(rt->poll.inner, EPOLL_CTL_MOD, fd, &event);
}

void pl_runtime_unwatch(struct plenum_runtime *rt, int fd)
{
    epoll_ctl(rt->poll.inner, EPOLL_CTL_DEL, fd, NULL);
}

static void eventfd_raise(int fd)
{
    eventfd_write(fd, 1);
}

static void eventfd_lower(int fd)
{
    eventfd_t count;
    eventfd_read(fd, &count);
}

static void runtime_keeper_ready(struct pl_source *source)
{
    struct plenum_runtime *rt = PL_CONTAINER(source, struct plenum_runtime, keeper.source);
    struct pl_keeper_notice notice;
    enum pl_link_state state;
    while ((state = pl_link_receive(&rt->keeper.link, &notice)) == PL_LINK_NOTICE)
        pl_follow_notice(rt, &notice);
    if (state == PL_LINK_CLOSED) {
        pl_runtime_unwatch(rt, rt->keeper.link.fd);
        pl_keeper_loss_handle(rt, pl_link_close(&rt->keeper.link));
    }
}

void pl_runtime_rouse_keeper(struct plenum_runtime *rt)
{
    pl_link_rouse(&rt->keeper.link);
}

static void runtime_wake_ready(struct pl_source *source)
{
    struct plenum_runtime *rt = PL_CONTAINER(source, struct plenum_runtime, poll.wake_source);
    struct pl_pmix_abort abort;
    eventfd_lower(rt->poll.wake);
    while (pl_pmix_next_abort(rt, &abort)) {
        struct plenum_job *job = pl_job_find(rt, abort.job);
        if (job)
            pl_job_abort(job, abort.rank, abort.code, "", abort.message);
    }
}

static void runtime_timer_ready(struct pl_source *source)
{
    struct plenum_runtime *rt = PL_CONTAINER(source, struct plenum_runtime, poll.timer_source);
    int64_t now = pl_clock_ms();
    uint64_t expirations;
    if (read(rt->poll.timer, &expirations, sizeof expirations) < 0)
        return;
    PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive)
        pl_follow_deadlines(job, now);
    pl_hosts_beat(rt, now);
    pl_runtime_set_timer(rt);
}

static void runtime_rest_ready(struct pl_source *source)
{
    pl_output_rest_over(PL_CONTAINER(source, struct plenum_runtime, rest.source));
}

/* The earlier one of two times; 0: never. */
static int64_t runtime_earlier(int64_t first, int64_t other)
{
    return other != 0 && (first == 0 || other < first) ? other : first;
}

void pl_runtime_set_timer(struct plenum_runtime *rt)
{
    int64_t first = rt->beat.at;
    PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive) {
        const int64_t times[] = { job->deadline.limit,   job->deadline.kill,  job->deadline.abort,
                                  job->deadline.barrier, job->deadline.rouse, job->reporting.check_at };
        for (size_t i = 0; i < sizeof times / sizeof *times; i++)
            first = runtime_earlier(first, times[i]);
    }
    const struct itimerspec at = { .it_value = { first / 1000, first % 1000 * 1000000 } };
    timerfd_settime(rt->poll.timer, TFD_TIMER_ABSTIME, &at, NULL);
}

/* --- opening and closing ----------------------------------------------------------------------------------- */

static void runtime_close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void runtime_close_descriptors(struct plenum_runtime *rt)
{
    runtime_close_fd(rt->notes.pipe[0]);
    runtime_close_fd(rt->notes.pipe[1]);
    runtime_close_fd(rt->rest.timer);
    runtime_close_fd(rt->poll.timer);
    runtime_close_fd(rt->poll.wake);
    runtime_close_fd(rt->poll.events);
    runtime_close_fd(rt->poll.outer);
    runtime_close_fd(rt->poll.inner);
}

static int runtime_open_descriptors(struct plenum_runtime *rt)
{
    rt->poll.inner = epoll_create1(EPOLL_CLOEXEC);
    rt->poll.outer = epoll_create1(EPOLL_CLOEXEC);
    rt->poll.events = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rt->poll.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rt->poll.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    rt->rest.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event event = { .events = EPOLLIN };
    if (rt->poll.inner >= 0 && rt->poll.outer >= 0 && rt->poll.events >= 0 && rt->poll.wake >= 0 &&
        rt->poll.timer >= 0 && rt->rest.timer >= 0 &&
        epoll_ctl(rt->poll.outer, EPOLL_CTL_ADD, rt->poll.inner, &event) == 0 &&
        epoll_ctl(rt->poll.outer, EPOLL_CTL_ADD, rt->poll.events, &event) == 0)
        return PLENUM_OK;
    return pl_rt_fail_errno("cannot make the descriptors of the runtime");
}

int pl_runtime_need_keeper(struct plenum_runtime *rt)
{
    if (rt->keeper.link.fd >= 0)
        return PLENUM_OK;
    int err = pl_link_open(&rt->keeper.link);
    if (err)
        return err;
    err = pl_runtime_watch(rt, rt->keeper.link.fd, &rt->keeper.source);
    if (err)
        pl_link_close(&rt->keeper.link);
    return err;
}

/* `rt` is zero. */
static void runtime_init(struct plenum_runtime *rt, char *scratch)
{
    pthread_condattr_t monotonic;
    rt->scratch = scratch;
    rt->use.owner = getpid();
    rt->keeper.link.fd = -1;
    rt->notes.pipe[0] = rt->notes.pipe[1] = -1;
    rt->keeper.source.ready = runtime_keeper_ready;
    rt->poll.wake_source.ready = runtime_wake_ready;
    rt->poll.timer_source.ready = runtime_timer_ready;
    rt->rest.source.ready = runtime_rest_ready;
    pthread_mutex_init(&rt->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&rt->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pl_list_init(&rt->jobs);
    pl_list_init(&rt->alive);
    pl_dispatch_init(&rt->supply.dispatch);
    rt->supply.dispatch.has_place = pl_host_resources_place;
    rt->supply.kinds = 1;
    pl_list_init(&rt->events);
    pl_list_init(&rt->hosts);
    pl_list_init(&rt->rest.outputs);
    pl_list_init(&rt->answers.asked);
    pl_list_init(&rt->answers.passed);
    pl_list_init(&rt->answers.names);
}

int plenum_runtime_open(struct plenum_runtime **runtime)
{
    if (!runtime)
        return pl_rt_fail_null("runtime pointer");
    struct plenum_runtime *rt = pl_calloc(1, sizeof *rt);
    char *scratch = pl_malloc(PL_SCRATCH);
    int err;
    if (!rt || !scratch) {
        err = pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the runtime");
        goto free_runtime;
    }
    runtime_init(rt, scratch);
    err = runtime_open_descriptors(rt);
    if (!err)
        err = pl_runtime_watch(rt, rt->poll.wake, &rt->poll.wake_source);
    if (!err)
        err = pl_runtime_watch(rt, rt->poll.timer, &rt->poll.timer_source);
    if (!err)
        err = pl_runtime_watch(rt, rt->rest.timer, &rt->rest.source);
    if (!err)
        err = pl_runtime_need_keeper(rt);
    if (err)
        goto close_descriptors;
    pl_stale_files_sweep(0);
    *runtime = rt;
    return PLENUM_OK;

close_descriptors:
    runtime_close_descriptors(rt);
    pthread_cond_destroy(&rt->changed);
    pthread_mutex_destroy(&rt->lock);
free_runtime:
    free(scratch);
    free(rt);
    return err;
}

/* Nothing runs afterwards, and nothing can be started. Threads that wait or poll find out. */
static void runtime_stop(struct plenum_runtime *rt)
{
    if (rt->use.stopped)
        return;
    rt->use.stopped = true;
    pl_hosts_stop(rt);
    if (rt->keeper.link.fd >= 0)
        pl_runtime_unwatch(rt, rt->keeper.link.fd);
    pl_link_close(&rt->keeper.link);
    eventfd_raise(rt->poll.events);
    pl_runtime_wake_waiters(rt);
}

void plenum_runtime_stop(struct plenum_runtime *rt)
{
    if (!pl_runtime_enter_anyway(rt))
        return;
    runtime_stop(rt);
    pl_runtime_leave(rt, PLENUM_OK);
}

static void runtime_free(struct plenum_runtime *rt)
{
    PL_LIST_EACH(job, &rt->jobs, struct plenum_job, node) {
        pl_pmix_deregister(job);
        pl_job_free(job);
    }
    pl_answers_free(rt);
    pl_hosts_free(rt);
    PL_LIST_EACH(event, &rt->events, struct pl_event, node)
        plenum_event_free(&event->public);
    for (int kind = 1; kind < rt->supply.kinds; kind++)
        pl_resource_fini(&rt->supply.resource[kind]);
    runtime_close_descriptors(rt);
    free(rt->scratch);
    pthread_cond_destroy(&rt->changed);
    pthread_mutex_destroy(&rt->lock);
    free(rt);
}

void plenum_runtime_close(struct plenum_runtime *rt)
{
    if (!pl_runtime_enter_anyway(rt))
        return;
    if (rt->use.closing) {
        pl_runtime_leave(rt, PLENUM_OK);
        return;
    }
    rt->use.closing = true;
    runtime_stop(rt);
    while (atomic_load(&rt->use.calls) > 1)
        pthread_cond_wait(&rt->changed, &rt->lock);
    pthread_mutex_unlock(&rt->lock);
    runtime_free(rt);
}

int plenum_runtime_fd(const struct plenum_runtime *runtime)
{
    struct plenum_runtime *rt = (struct plenum_runtime *)runtime;
    if (!pl_runtime_enter_anyway(rt)) /* a stopped runtime too: its descriptor says so */
        return -1;
    int fd = rt->poll.outer;
    pl_runtime_leave(rt, PLENUM_OK);
    return fd;
}

/* --- progress ---------------------------------------------------------------------------------------------- */

void pl_runtime_wake_waiters(struct plenum_runtime *rt)
{
    pthread_cond_broadcast(&rt->changed);
    if (rt->poll.driven)
        eventfd_raise(rt->poll.wake);
}

/* Handles the ready sources, one at a time: a handler may remove others, as a job that ends closes its outputs. */
static void runtime_progress(struct plenum_runtime *rt)
{
    struct epoll_event event;
    int handled = 0;
    while (handled < READY_MAX && !rt->use.stopped && epoll_wait(rt->poll.inner, &event, 1, 0) == 1) {
        struct pl_source *source = event.data.ptr;
        source->ready(source);
        pl_hosts_advance(rt);
        pl_answers_advance(rt);
        handled++;
    }
    if (handled > 0) {
        pl_queue_advance(rt);
        pl_runtime_wake_waiters(rt);
    }
}

int plenum_runtime_next_event(struct plenum_runtime *rt, struct plenum_event **event)
{
    int err = event ? pl_runtime_enter(rt) : pl_rt_fail_null("event pointer");
    if (err)
        return err;
    if (pl_list_empty(&rt->events) && !rt->poll.taking)
        runtime_progress(rt);
    struct pl_list *node = pl_list_pop(&rt->events);
    rt->poll.taking = node != NULL;
    if (pl_list_empty(&rt->events) && !rt->use.stopped)
        eventfd_lower(rt->poll.events);
    *event = node ? &PL_CONTAINER(node, struct pl_event, node)->public : NULL;
    return pl_runtime_leave(rt, PLENUM_OK);
}

/* Sleeps until a source is handled or the deadline (0: none) has passed. Gives up the lock meanwhile. */
static void runtime_sleep(struct plenum_runtime *rt, int64_t deadline)
{
    if (rt->poll.driven) {
        const struct timespec at = { deadline / 1000, deadline % 1000 * 1000000 };
        if (deadline)
            pthread_cond_timedwait(&rt->changed, &rt->lock, &at);
        else
            pthread_cond_wait(&rt->changed, &rt->lock);
        return;
    }
    int64_t left = deadline ? deadline - pl_clock_ms() : -1;
    struct pollfd p = { .fd = rt->poll.inner, .events = POLLIN };
    rt->poll.driven = true;
    pthread_mutex_unlock(&rt->lock);
    if (poll(&p, 1, deadline && left < 0 ? 0 : (int)left) < 0 && errno != EINTR)
        pl_clock_sleep_ns(PL_NS_PER_MS); /* denied */
    pthread_mutex_lock(&rt->lock);
    rt->poll.driven = false;
    runtime_progress(rt);
    pthread_cond_broadcast(&rt->changed); /* another waiting thread may have to become the driver */
}

int plenum_job_wait(struct plenum_job *job, int timeout, int *code)
{
    int64_t deadline = timeout >= 0 ? pl_clock_ms() + timeout : 0;
    int err = pl_job_enter(job);
    if (err)
        return err;
    if (job->phase == PL_JOB_DESCRIBED)
        err = pl_rt_fail(PLENUM_ERR_STATE, "the job was not launched");
    while (!err && job->phase != PL_JOB_FINISHED) {
        runtime_sleep(job->runtime, deadline);
        if (job->phase == PL_JOB_FINISHED)
            break;
        err = pl_job_check_open(job);
        if (!err && deadline && pl_clock_ms() >= deadline)
            err = pl_rt_fail(PLENUM_ERR_TIMEOUT, "the job still runs after %d ms", timeout);
    }
    if (!err && code)
        *code = job->outcome.code;
    return pl_job_leave(job, err);
}
