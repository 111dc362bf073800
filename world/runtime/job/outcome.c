/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See outcome.h.
 *
 * The first failure decides the exit code: the code of an abort, an exit code other than 0, 128 plus the signal, 1 for
 * a process that exited with 0 between MPI_Init and MPI_Finalize, 124 for the time limit. Failures while the job ends
 * decide nothing, except after plenum_job_cancel(). An abort because of another process waits a moment for the news of
 * that process, which is then the first failure.
 */
#include "world/runtime/job/outcome.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "world/runtime/event/event.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/job/spawn_tree.h"
#include "world/runtime/pmix/server.h"

void pl_outcome_decide(struct plenum_job *job, int code)
{
    if (pl_job_is_starting(job) || pl_job_has_missed(job))
        return;
    job = pl_job_root(job);
    if (!job->outcome.failed)
        job->outcome.code = code;
    job->outcome.failed = true;
}

/* The job's usage is that of all processes of its tree. */
static void outcome_add_usage(struct plenum_job *job, const struct pl_usage *usage)
{
    struct pl_usage *all = &pl_job_root(job)->outcome.usage;
    all->user_us += usage->user_us;
    all->system_us += usage->system_us;
    all->peak = usage->peak > all->peak ? usage->peak : all->peak;
}

void pl_outcome_write_usage(struct plenum_event *event, int64_t run_us, const struct pl_usage *usage)
{
    event->run_us = run_us;
    event->user_us = usage->user_us;
    event->system_us = usage->system_us;
    event->peak = usage->peak;
}

static int outcome_code_of(int status)
{
    return WIFSIGNALED(status) ? PL_CODE_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static unsigned outcome_flags(const struct plenum_job *job, const struct pl_ended *end)
{
    bool lost = WIFSIGNALED(end->status), part = pl_job_is_part(job);
    unsigned flags = 0;
    if (end->expected || pl_job_has_missed(job))
        flags |= PLENUM_EVENT_EXPECTED;
    if (!lost && end->unfinalized)
        flags |= PLENUM_EVENT_UNFINALIZED;
    if (lost && WCOREDUMP(end->status))
        flags |= PLENUM_EVENT_CORE;
    if (part && end->finalized)
        flags |= PL_EVENT_FINALIZED;
    if (part && end->aborted)
        flags |= PL_EVENT_ABORTED;
    if (part && end->unmet)
        flags |= PL_EVENT_UNMET;
    return flags;
}

static void outcome_queue_event(struct plenum_job *job, const struct pl_ended *end)
{
    bool lost = WIFSIGNALED(end->status);
    struct pl_event *event = pl_event_new(job, lost ? PLENUM_EVENT_LOST : PLENUM_EVENT_EXITED, end->rank, 0);
    if (!event)
        return;
    event->public.pid = end->pid;
    event->public.flags = outcome_flags(job, end);
    event->public.signal = lost ? WTERMSIG(end->status) : 0;
    event->public.code = outcome_code_of(end->status);
    if (end->time_us)
        event->public.time_us = end->time_us;
    pl_outcome_write_usage(&event->public, end->run_us, &end->usage);
    pl_event_queue(job->runtime, event);
}

/* Does the end of this process end the job? A process that has finalized may exit with any code: the others have
 * finalized, too, or will. */
static void outcome_judge(struct plenum_job *job, const struct pl_ended *end)
{
    bool lost = WIFSIGNALED(end->status), unfinalized = !lost && end->unfinalized;
    int code = outcome_code_of(end->status);
    if (job->outcome.cancelled && code != 0)
        pl_outcome_decide(job, code);
    if (job->phase != PL_JOB_RUNNING || (code == 0 && !unfinalized))
        return;
    if (!end->held)
        pl_outcome_decide(job, code ? code : 1);
    if (job->desc.option[PLENUM_JOB_KEEP_GOING])
        pl_pmix_process_failed(job, end->rank);
    else if (!end->held && (lost || unfinalized || !end->finalized))
        pl_job_terminate(job);
}

/* The parents wait for a process that has ended. */
static void outcome_tell_parents(struct plenum_job *job, const struct pl_ended *end)
{
    char why[128];
    int signo = WIFSIGNALED(end->status) ? WTERMSIG(end->status) : 0;
    const char *name = signo ? sigdescr_np(signo) : NULL;
    if (signo)
        snprintf(why, sizeof why, "was killed by signal %d (%s) without having completed MPI_Init", signo,
                 name ? name : "unknown");
    else
        snprintf(why, sizeof why, "exited with code %d without having completed MPI_Init", WEXITSTATUS(end->status));
    pl_spawn_tree_missed(job, end->rank, why);
}

void pl_outcome_of_process(struct plenum_job *job, const struct pl_ended *end)
{
    if (end->unmet && job->phase == PL_JOB_RUNNING && !pl_job_is_part(job))
        outcome_tell_parents(job, end);
    outcome_add_usage(job, &end->usage);
    outcome_queue_event(job, end);
    outcome_judge(job, end);
}
