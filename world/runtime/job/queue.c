/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See queue.h. A runtime with a number of slots starts jobs in the order of their launches, each when the slots that it
 * occupies are free. A job that occupies more than there are waits until no other job runs. No job overtakes another,
 * so narrow jobs do not delay a wide one.
 */
#include "world/runtime/job/queue.h"

#include <errno.h>

#include "world/runtime/event/event.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/job/launch.h"
#include "world/runtime/runtime_error.h"

static bool queue_fits(const struct plenum_runtime *rt, const struct plenum_job *job)
{
    return rt->slots.limit == 0 || rt->slots.used == 0 || rt->slots.used + job->launch.slots <= rt->slots.limit;
}

bool pl_queue_must_wait(const struct plenum_job *job)
{
    if (job->tree.root)
        return false; /* its parents, which wait for it, hold slots themselves */
    return !pl_list_empty(&job->runtime->queue) || !queue_fits(job->runtime, job);
}

void pl_queue_append(struct plenum_job *job)
{
    struct pl_event *event = pl_event_new(job, PLENUM_EVENT_QUEUED, PLENUM_ALL, 0);
    int before = 0;
    PL_LIST_EACH(other, &job->runtime->queue, struct plenum_job, waiting)
        before++;
    if (event)
        event->public.code = before;
    pl_event_queue(job->runtime, event);
    job->phase = PL_JOB_QUEUED;
    pl_list_append(&job->runtime->queue, &job->waiting);
}

void pl_queue_advance(struct plenum_runtime *rt)
{
    while (!pl_list_empty(&rt->queue) && !rt->use.stopped) {
        struct plenum_job *job = PL_CONTAINER(rt->queue.next, struct plenum_job, waiting);
        if (!queue_fits(rt, job))
            return;
        pl_list_remove(&job->waiting);
        errno = 0;
        if (pl_launch_start(job) != PLENUM_OK) {
            pl_job_fail_start(job, PLENUM_ALL, errno, plenum_error());
            pl_job_finish(job);
        }
    }
}

int plenum_runtime_set(struct plenum_runtime *rt, enum plenum_runtime_option option, long value)
{
    if (option != PLENUM_RUNTIME_SLOTS)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "%d is not an option of a runtime", (int)option);
    if (value < 0 || value > INT32_MAX)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "a runtime cannot have %ld slots: allowed are 0 (no limit) to %d", value,
                          INT32_MAX);
    int err = pl_runtime_enter(rt);
    if (err)
        return err;
    rt->slots.limit = value;
    pl_queue_advance(rt);
    pl_runtime_wake_waiters(rt);
    return pl_runtime_leave(rt, PLENUM_OK);
}
