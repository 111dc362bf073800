/* SPDX-License-Identifier: BSD-3-Clause */
/* See queue.h. The dispatch (dispatch/dispatch.h) decides which job starts; a job's time limit says how long it may
 * run. */
#include "world/runtime/job/queue.h"

#include <errno.h>

#include "core/base/clock.h"
#include "world/runtime/event/event.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/job/host_beat.h"
#include "world/runtime/job/host_life.h"
#include "world/runtime/job/launch.h"
#include "world/runtime/runtime_error.h"

/* How long a job with a time limit may take to end: the report before its end, and the kernel's work after SIGKILL. */
enum { QUEUE_END_MS = 1000 };

void pl_queue_describe(struct plenum_job *job)
{
    const long *option = job->desc.option;
    job->task.takes.of[0] = job->launch.placer         ? 0
                            : option[PLENUM_JOB_SLOTS] ? option[PLENUM_JOB_SLOTS]
                                                       : job->desc.size;
    job->task.priority = option[PLENUM_JOB_PRIORITY];
    job->task.most_ms =
        option[PLENUM_JOB_TIME_LIMIT] ? option[PLENUM_JOB_TIME_LIMIT] + option[PLENUM_JOB_GRACE] + QUEUE_END_MS : 0;
}

bool pl_queue_must_wait(struct plenum_job *job)
{
    if (job->tree.root || job->launch.placer)
        return false; /* the parents, which wait for it, hold slots themselves; a placer takes none */
    return !pl_dispatch_admits(&job->runtime->supply.dispatch, &job->task, pl_clock_ms());
}

void pl_queue_append(struct plenum_job *job)
{
    struct pl_event *event = pl_event_new(job, PLENUM_EVENT_QUEUED, PLENUM_ALL, 0);
    int before = pl_dispatch_wait(&job->runtime->supply.dispatch, &job->task);
    if (event)
        event->public.code = before;
    pl_event_queue(job->runtime, event);
    job->phase = PL_JOB_QUEUED;
}

void pl_queue_advance(struct plenum_runtime *rt)
{
    struct pl_task *task;
    while (!rt->use.stopped && (task = pl_dispatch_next(&rt->supply.dispatch, pl_clock_ms()))) {
        struct plenum_job *job = PL_CONTAINER(task, struct plenum_job, task);
        errno = 0;
        if (pl_launch_start(job) != PLENUM_OK) {
            pl_job_fail_start(job, PLENUM_ALL, errno, plenum_error());
            pl_job_finish(job);
        }
    }
}

void pl_queue_set_priority(struct plenum_job *job, long priority)
{
    pl_dispatch_set_priority(&job->runtime->supply.dispatch, &job->task, priority);
    pl_queue_advance(job->runtime);
    pl_runtime_wake_waiters(job->runtime);
}

static int queue_check_option(enum plenum_runtime_option option, long value)
{
    if (option != PLENUM_RUNTIME_SLOTS && option != PLENUM_RUNTIME_POLICY && option != PLENUM_RUNTIME_HEARTBEAT)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "%d is not an option of a runtime", (int)option);
    if (option == PLENUM_RUNTIME_SLOTS && (value < 0 || value > INT32_MAX))
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "a runtime cannot have %ld slots: allowed are 0 (no limit) to %d", value,
                          INT32_MAX);
    if (option == PLENUM_RUNTIME_POLICY && (value < 0 || value > PLENUM_POLICY_BACKFILL))
        return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                          "%ld is not a policy: allowed are 0 (first in, first out) and 1 (backfill)", value);
    if (option == PLENUM_RUNTIME_HEARTBEAT && (value < 0 || value > INT32_MAX))
        return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                          "a heartbeat cannot have %ld milliseconds: allowed are 0 (there is none) to %d", value,
                          INT32_MAX);
    return PLENUM_OK;
}

int plenum_runtime_set(struct plenum_runtime *rt, enum plenum_runtime_option option, long value)
{
    int err = queue_check_option(option, value);
    if (!err)
        err = pl_runtime_enter(rt);
    if (err)
        return err;
    if (option == PLENUM_RUNTIME_SLOTS) {
        rt->supply.slots_given = value > 0;
        pl_dispatch_set_total(&rt->supply.dispatch, 0, value);
        pl_hosts_supply(rt);
    } else if (option == PLENUM_RUNTIME_HEARTBEAT) {
        pl_hosts_set_beat(rt, (int)value);
    } else {
        pl_dispatch_set_policy(&rt->supply.dispatch, pl_policies[value]);
    }
    pl_queue_advance(rt);
    pl_runtime_wake_waiters(rt);
    return pl_runtime_leave(rt, PLENUM_OK);
}
