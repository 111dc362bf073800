/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening and closing a runtime, and its one turn of the wheel: runtime_turn() handles what is ready, without
 * blocking, in whatever thread has come in.
 *
 * At most one thread sleeps in poll() on the runtime's behalf (the driver, in plenum_job_wait()); other waiters sleep
 * on `turned`. Whoever handles something while a driver sleeps nudges it, since what it waits for may have happened.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "core/job/stale_files.h"
#include "world/runtime/error.h"
#include "world/runtime/pmix/pmix.h"
#include "world/runtime/runtime.h"

enum { READY_MAX = 32 };

int64_t pl_runtime_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- what is polled ---------------------------------------------------------------------------------------- */

int pl_runtime_watch(struct plenum_runtime *rt, int fd, struct pl_source *source)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = source };
    if (epoll_ctl(rt->work, EPOLL_CTL_ADD, fd, &event) != 0)
        return pl_rt_fail_errno("cannot watch a descriptor");
    return PLENUM_OK;
}

void pl_runtime_unwatch(struct plenum_runtime *rt, int fd)
{
    epoll_ctl(rt->work, EPOLL_CTL_DEL, fd, NULL);
}

static void raise_flag(int eventfd_)
{
    eventfd_write(eventfd_, 1);
}

static void lower_flag(int eventfd_)
{
    eventfd_t count;
    eventfd_read(eventfd_, &count);
}

static void link_ready(struct pl_source *source)
{
    struct plenum_runtime *rt = PL_CONTAINER(source, struct plenum_runtime, link_source);
    struct pl_keeper_notice report;
    enum pl_link_state state;
    while ((state = pl_link_receive(&rt->link, &report)) == PL_LINK_REPORT)
        pl_follow_notice(rt, &report);
    if (state == PL_LINK_LOST) {
        pl_runtime_unwatch(rt, rt->link.fd);
        pl_link_close(&rt->link);
        pl_follow_keeper_lost(rt);
    }
}

static void nudge_ready(struct pl_source *source)
{
    struct plenum_runtime *rt = PL_CONTAINER(source, struct plenum_runtime, nudge_source);
    struct pl_pmix_abort abort;
    lower_flag(rt->nudge);
    while (pl_pmix_next_abort(rt, &abort)) {
        struct plenum_job *job = pl_job_find(rt, abort.job);
        if (job)
            pl_job_abort(job, abort.rank, abort.code, "", abort.message);
    }
}

static void timer_ready(struct pl_source *source)
{
    struct plenum_runtime *rt = PL_CONTAINER(source, struct plenum_runtime, timer_source);
    int64_t now = pl_runtime_now();
    uint64_t expirations;
    if (read(rt->timer, &expirations, sizeof expirations) < 0)
        return;
    PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive)
        pl_follow_deadlines(job, now);
    pl_runtime_set_timer(rt);
}

void pl_runtime_set_timer(struct plenum_runtime *rt)
{
    int64_t first = 0;
    PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive) {
        if (job->limit_at && (!first || job->limit_at < first))
            first = job->limit_at;
        if (job->kill_at && (!first || job->kill_at < first))
            first = job->kill_at;
        if (job->report_at && (!first || job->report_at < first))
            first = job->report_at;
    }
    const struct itimerspec at = { .it_value = { first / 1000, first % 1000 * 1000000 } };
    timerfd_settime(rt->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

/* --- opening and closing ----------------------------------------------------------------------------------- */

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void close_descriptors(struct plenum_runtime *rt)
{
    close_fd(rt->notes[0]);
    close_fd(rt->notes[1]);
    close_fd(rt->timer);
    close_fd(rt->nudge);
    close_fd(rt->event_fd);
    close_fd(rt->outer);
    close_fd(rt->work);
}

static int open_descriptors(struct plenum_runtime *rt)
{
    rt->work = epoll_create1(EPOLL_CLOEXEC);
    rt->outer = epoll_create1(EPOLL_CLOEXEC);
    rt->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rt->nudge = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rt->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event event = { .events = EPOLLIN };
    if (rt->work >= 0 && rt->outer >= 0 && rt->event_fd >= 0 && rt->nudge >= 0 && rt->timer >= 0 &&
        epoll_ctl(rt->outer, EPOLL_CTL_ADD, rt->work, &event) == 0 &&
        epoll_ctl(rt->outer, EPOLL_CTL_ADD, rt->event_fd, &event) == 0)
        return PLENUM_OK;
    return pl_rt_fail_errno("cannot make the descriptors of the runtime");
}

/* Also when the keeper has died: the next job gets a new one. */
int pl_runtime_need_keeper(struct plenum_runtime *rt)
{
    if (rt->link.fd >= 0)
        return PLENUM_OK;
    int err = pl_link_open(&rt->link);
    if (err)
        return err;
    err = pl_runtime_watch(rt, rt->link.fd, &rt->link_source);
    if (err)
        pl_link_close(&rt->link);
    return err;
}

int plenum_runtime_open(struct plenum_runtime **runtime)
{
    if (!runtime)
        return pl_rt_fail_null("place for a runtime");
    struct plenum_runtime *rt = calloc(1, sizeof *rt);
    char *scratch = malloc(PL_SCRATCH);
    int err;
    if (!rt || !scratch) {
        err = pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the runtime");
        goto free_runtime;
    }
    rt->scratch = scratch;
    rt->link.fd = -1;
    rt->notes[0] = rt->notes[1] = -1;
    rt->link_source.ready = link_ready;
    rt->nudge_source.ready = nudge_ready;
    rt->timer_source.ready = timer_ready;
    pthread_mutex_init(&rt->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&rt->turned, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pl_list_init(&rt->jobs);
    pl_list_init(&rt->alive);
    pl_list_init(&rt->queue);
    pl_list_init(&rt->events);

    err = open_descriptors(rt);
    if (err)
        goto close_descriptors;
    err = pl_runtime_watch(rt, rt->nudge, &rt->nudge_source);
    if (!err)
        err = pl_runtime_watch(rt, rt->timer, &rt->timer_source);
    if (!err)
        err = pl_runtime_need_keeper(rt);
    if (err)
        goto close_descriptors;
    pl_stale_files_sweep();
    *runtime = rt;
    return PLENUM_OK;

close_descriptors:
    close_descriptors(rt);
    pthread_cond_destroy(&rt->turned);
    pthread_mutex_destroy(&rt->lock);
free_runtime:
    free(scratch);
    free(rt);
    return err;
}

void plenum_runtime_close(struct plenum_runtime *rt)
{
    if (!rt)
        return;
    pl_link_close(&rt->link);
    PL_LIST_EACH(job, &rt->jobs, struct plenum_job, node) {
        pl_pmix_deregister(job);
        pl_job_free(job);
    }
    PL_LIST_EACH(event, &rt->events, struct pl_event, node)
        plenum_event_free(&event->public);
    close_descriptors(rt);
    free(rt->scratch);
    pthread_cond_destroy(&rt->turned);
    pthread_mutex_destroy(&rt->lock);
    free(rt);
}

int plenum_runtime_fd(const struct plenum_runtime *rt)
{
    return rt ? rt->outer : -1;
}

/* --- moving on --------------------------------------------------------------------------------------------- */

void pl_runtime_turned(struct plenum_runtime *rt)
{
    pthread_cond_broadcast(&rt->turned);
    if (rt->driving)
        raise_flag(rt->nudge);
}

/* One turn: handles what is ready. A handler may remove other sources (a job that ends closes its streams), so one is
 * taken at a time. */
static void runtime_turn(struct plenum_runtime *rt)
{
    struct epoll_event event;
    int handled = 0;
    while (handled < READY_MAX && epoll_wait(rt->work, &event, 1, 0) == 1) {
        struct pl_source *source = event.data.ptr;
        source->ready(source);
        handled++;
    }
    if (handled > 0) {
        pl_queue_advance(rt);
        pl_runtime_turned(rt);
    }
}

int plenum_runtime_next_event(struct plenum_runtime *rt, struct plenum_event **event)
{
    if (!rt || !event)
        return pl_rt_fail_null(rt ? "place for an event" : "runtime");
    pthread_mutex_lock(&rt->lock);
    if (pl_list_empty(&rt->events))
        runtime_turn(rt);
    struct pl_list *node = pl_list_pop(&rt->events);
    if (pl_list_empty(&rt->events))
        lower_flag(rt->event_fd);
    pthread_mutex_unlock(&rt->lock);
    *event = node ? &PL_CONTAINER(node, struct pl_event, node)->public : NULL;
    return PLENUM_OK;
}

void pl_event_queue(struct plenum_runtime *rt, struct pl_event *event)
{
    if (!event)
        return;
    if (pl_list_empty(&rt->events))
        raise_flag(rt->event_fd);
    pl_list_append(&rt->events, &event->node);
}

/* Sleeps until something happens or the deadline (0: none) is over; the lock is given up meanwhile. */
static void runtime_sleep(struct plenum_runtime *rt, int64_t deadline)
{
    if (rt->driving) {
        const struct timespec at = { deadline / 1000, deadline % 1000 * 1000000 };
        if (deadline)
            pthread_cond_timedwait(&rt->turned, &rt->lock, &at);
        else
            pthread_cond_wait(&rt->turned, &rt->lock);
        return;
    }
    int64_t left = deadline ? deadline - pl_runtime_now() : -1;
    struct pollfd p = { .fd = rt->work, .events = POLLIN };
    rt->driving = true;
    pthread_mutex_unlock(&rt->lock);
    poll(&p, 1, deadline && left < 0 ? 0 : (int)left);
    pthread_mutex_lock(&rt->lock);
    rt->driving = false;
    runtime_turn(rt);
    pthread_cond_broadcast(&rt->turned); /* somebody else may have to drive */
}

int plenum_job_wait(struct plenum_job *job, int timeout, int *code)
{
    if (!job)
        return pl_rt_fail_null("job");
    struct plenum_runtime *rt = job->runtime;
    int64_t deadline = timeout >= 0 ? pl_runtime_now() + timeout : 0;
    int err = PLENUM_OK;

    pthread_mutex_lock(&rt->lock);
    if (job->phase == PL_JOB_DESCRIBED)
        err = pl_rt_fail(PLENUM_ERR_STATE, "the job was not launched");
    while (!err && job->phase != PL_JOB_FINISHED) {
        runtime_sleep(rt, deadline);
        if (job->phase != PL_JOB_FINISHED && deadline && pl_runtime_now() >= deadline)
            err = pl_rt_fail(PLENUM_ERR_TIMEOUT, "the job still runs after %d ms", timeout);
    }
    if (!err && code)
        *code = job->code;
    pthread_mutex_unlock(&rt->lock);
    return err;
}
