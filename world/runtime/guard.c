/* SPDX-License-Identifier: BSD-3-Clause */
/* See guard.h. A function is counted before it takes the lock, and no longer counted before it gives up the lock: with
 * the lock held, a count of 0 means that no thread is inside. */
#include "world/runtime/guard.h"

#include <stdatomic.h>
#include <unistd.h>

#include "world/runtime/runtime_error.h"

static bool guard_is_foreign(const struct plenum_runtime *rt)
{
    return rt->use.owner != getpid();
}

static int guard_refuse_foreign(const struct plenum_runtime *rt)
{
    return pl_rt_fail(PLENUM_ERR_CLOSED,
                      "the runtime belongs to process %d, from which this one was forked: open a new one here",
                      (int)rt->use.owner);
}

bool pl_runtime_enter_anyway(struct plenum_runtime *rt)
{
    if (!rt || guard_is_foreign(rt))
        return false;
    atomic_fetch_add(&rt->use.calls, 1);
    pthread_mutex_lock(&rt->lock);
    return true;
}

int pl_runtime_enter(struct plenum_runtime *rt)
{
    if (!rt)
        return pl_rt_fail_null("runtime");
    if (!pl_runtime_enter_anyway(rt))
        return guard_refuse_foreign(rt);
    if (!rt->use.stopped)
        return PLENUM_OK;
    return pl_runtime_leave(rt, pl_rt_fail(PLENUM_ERR_CLOSED, "the runtime is closed"));
}

int pl_runtime_leave(struct plenum_runtime *rt, int err)
{
    atomic_fetch_sub(&rt->use.calls, 1);
    if (rt->use.stopped)
        pthread_cond_broadcast(&rt->changed); /* plenum_runtime_close() waits for those inside */
    pthread_mutex_unlock(&rt->lock);
    return err;
}

int pl_job_check_open(const struct plenum_job *job)
{
    if (job->runtime->use.stopped)
        return pl_rt_fail(PLENUM_ERR_CLOSED, "the runtime is closed");
    if (!job->handle.open)
        return pl_rt_fail(PLENUM_ERR_CLOSED, "the job is closed");
    return PLENUM_OK;
}

bool pl_job_enter_anyway(struct plenum_job *job)
{
    if (!job || guard_is_foreign(job->runtime))
        return false;
    atomic_fetch_add(&job->handle.calls, 1);
    return pl_runtime_enter_anyway(job->runtime);
}

int pl_job_enter(const struct plenum_job *job)
{
    if (!job)
        return pl_rt_fail_null("job");
    if (!pl_job_enter_anyway((struct plenum_job *)job))
        return guard_refuse_foreign(job->runtime);
    int err = pl_job_check_open(job);
    return err ? pl_job_leave(job, err) : PLENUM_OK;
}

int pl_job_leave(const struct plenum_job *job, int err)
{
    struct plenum_job *left = (struct plenum_job *)job;
    struct plenum_runtime *rt = left->runtime;
    if (atomic_fetch_sub(&left->handle.calls, 1) == 1)
        pl_job_drop(left);
    return pl_runtime_leave(rt, err);
}
