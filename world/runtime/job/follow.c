/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of a running job: the keeper's reports become events, failures end the job, and the exit code is
 * decided.
 *
 * The first failure decides the exit code: the code of an abort, an exit code other than 0, 128 plus the signal, 1 for
 * a process that left between MPI_Init and MPI_Finalize with 0, 124 for the time limit.
 * What happens after the job is being ended decides nothing any more, unless somebody has cancelled it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/job/stale_files.h"
#include "world/runtime/error.h"
#include "world/runtime/job/spawn_tree.h"
#include "world/runtime/keeper/sweep.h"
#include "world/runtime/pmix/pmix.h"
#include "world/runtime/runtime.h"

enum { CODE_TIMEOUT = 124, CODE_NOT_EXECUTABLE = 126, CODE_NOT_FOUND = 127, CODE_SIGNAL = 128 };

static struct plenum_job *find_kept(struct plenum_runtime *rt, uint32_t kept_as)
{
    PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive)
        if (job->kept_as == kept_as)
            return job;
    return NULL;
}

/* The first failure decides. */
static void follow_decide(struct plenum_job *job, int code)
{
    if (pl_spawn_tree_is_new(job))
        return;
    job = pl_spawn_tree_head(job);
    if (!job->failed)
        job->code = code;
    job->failed = true;
}

/* --- ending ------------------------------------------------------------------------------------------------ */

int pl_job_send_signal(struct plenum_job *job, int rank, int signo)
{
    const struct pl_keeper_request request = {
        .op = PL_KEEPER_SIGNAL, .job = job->kept_as, .first = rank, .signal = signo
    };
    return pl_link_send(&job->runtime->link, &request, NULL, 0);
}

static void kill_now(struct plenum_job *job)
{
    job->kill_at = 0;
    pl_job_send_signal(job, PLENUM_ALL, SIGKILL);
}

/* Each job of a family, its first one too. */
#define EACH_IN_SPAWN_TREE(member, of)                                                                                 \
    PL_LIST_EACH(member, &(of)->runtime->alive, struct plenum_job, alive)                                              \
        if (pl_spawn_tree_head(member) == pl_spawn_tree_head(of))

static void end_one(struct plenum_job *job);

void pl_job_end(struct plenum_job *job)
{
    if (pl_spawn_tree_is_new(job))
        end_one(job); /* the parents hear of it */
    else
        EACH_IN_SPAWN_TREE(member, job)
    end_one(member);
}

static void end_one(struct plenum_job *job)
{
    if (job->phase != PL_JOB_RUNNING)
        return;
    job->phase = PL_JOB_ENDING;
    job->limit_at = 0;
    job->report_ends = false;
    const struct pl_keeper_request forgo = { .op = PL_KEEPER_FORGO, .job = job->kept_as };
    pl_link_send(&job->runtime->link, &forgo, NULL, 0);
    if (job->option[PLENUM_JOB_GRACE] == 0) {
        kill_now(job);
        return;
    }
    pl_job_send_signal(job, PLENUM_ALL, SIGTERM);
    pl_job_send_signal(job, PLENUM_ALL, SIGCONT); /* a stopped process would not hear it */
    job->kill_at = pl_runtime_now() + job->option[PLENUM_JOB_GRACE];
    pl_runtime_set_timer(job->runtime);
}

int plenum_job_cancel(struct plenum_job *job)
{
    if (!job)
        return pl_rt_fail_null("job");
    int err = PLENUM_OK;
    pthread_mutex_lock(&job->runtime->lock);
    if (job->phase == PL_JOB_QUEUED) {
        job->cancelled = true;
        pl_list_remove(&job->waiting);
        pl_job_finish(job);
        pl_queue_advance(job->runtime);
        pl_runtime_turned(job->runtime);
    } else if (job->phase == PL_JOB_RUNNING) {
        job->cancelled = true;
        pl_job_end(job);
    } else if (job->phase == PL_JOB_ENDING) {
        EACH_IN_SPAWN_TREE(member, job)
        kill_now(member);
    } else if (job->phase == PL_JOB_DESCRIBED) {
        err = pl_rt_fail(PLENUM_ERR_STATE, "the job was not launched");
    }
    pthread_mutex_unlock(&job->runtime->lock);
    return err;
}

int plenum_job_signal(struct plenum_job *job, int rank, int signo)
{
    int err = PLENUM_OK;
    if (!job)
        return pl_rt_fail_null("job");
    if (signo < 1 || signo >= NSIG)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "%d is no signal", signo);
    pthread_mutex_lock(&job->runtime->lock);
    if (rank < PLENUM_ALL || rank >= job->size)
        err = pl_rt_fail(PLENUM_ERR_ARGUMENT, "rank %d is not in a job of %d", rank, job->size);
    else if (!pl_job_alive(job))
        err = pl_rt_fail(PLENUM_ERR_STATE, "the job does not run");
    else if (rank != PLENUM_ALL)
        err = pl_job_send_signal(job, rank, signo);
    else
        EACH_IN_SPAWN_TREE(member, job)
    err = err ? err : pl_job_send_signal(member, PLENUM_ALL, signo);
    pthread_mutex_unlock(&job->runtime->lock);
    return err;
}

void pl_follow_deadlines(struct plenum_job *job, int64_t now)
{
    if (job->limit_at && now >= job->limit_at && job->phase == PL_JOB_RUNNING) {
        struct pl_event *event = pl_event_new(job, PLENUM_EVENT_TIMEOUT, PLENUM_ALL, 0);
        if (event)
            event->public.code = (int)job->option[PLENUM_JOB_TIME_LIMIT];
        pl_event_queue(job->runtime, event);
        follow_decide(job, CODE_TIMEOUT);
        job->limit_at = 0;
        if (!pl_report_before_end(job))
            pl_job_end(job);
    }
    if (job->report_at && now >= job->report_at)
        pl_report_deadline(job, now);
    if (job->kill_at && now >= job->kill_at)
        kill_now(job);
}

/* --- aborts ------------------------------------------------------------------------------------------------ */

static int follow_exit_code_of(int code)
{
    return code != 0 && (code & 255) == 0 ? 1 : code & 255;
}

static void report_abort(struct plenum_job *job, int rank, int code, const char *object, const char *message)
{
    pl_event_queue(job->runtime, pl_event_of_object(job, PLENUM_EVENT_ABORTED, rank, code, object, message));
    follow_decide(job, follow_exit_code_of(code));
}

void pl_job_abort(struct plenum_job *job, int rank, int code, const char *object, const char *message)
{
    if (job->aborted || !pl_job_alive(job))
        return;
    job->aborted = true;
    report_abort(job, rank, code, object, message);
    pl_job_end(job);
}

static bool is_aborting(const struct plenum_job *job, int rank)
{
    return atomic_load(&job->segment->ranks[rank].must_end) != 0;
}

/* A part of the job ends, and the rest goes on; the record is free for the next. */
static void end_aborting(struct plenum_job *job)
{
    struct pl_job_abort *record = (struct pl_job_abort *)&job->segment->abort;
    for (int r = 0; r < job->size; r++)
        if (is_aborting(job, r) && !job->ranks[r].ended)
            pl_job_send_signal(job, r, SIGKILL);
    atomic_store(&record->set, 0);
    atomic_store(&record->claimed, 0);
}

/* Has the process that ended aborted? Others may have done so since, for want of it: that is looked at when they end,
 * and counts only if nothing has ended the job before. */
static void look_for_abort(struct plenum_job *job, uint32_t state)
{
    const struct pl_job_abort *record = &job->segment->abort;
    char object[sizeof record->object], message[sizeof record->message];
    if (job->aborted || job->phase != PL_JOB_RUNNING || state != PL_PROCESS_ABORTED ||
        !atomic_load_explicit(&record->set, memory_order_acquire))
        return;
    memcpy(object, record->object, sizeof object);
    memcpy(message, record->message, sizeof message);
    object[sizeof object - 1] = message[sizeof message - 1] = '\0';
    int rank = record->rank >= 0 && record->rank < job->size ? record->rank : PLENUM_ALL;
    if (record->partial && job->option[PLENUM_JOB_KEEP_GOING]) {
        report_abort(job, rank, record->code, object, message);
        end_aborting(job);
    } else {
        pl_job_abort(job, rank, record->code, object, message);
    }
}

/* --- ends of processes ------------------------------------------------------------------------------------- */

static void queue_exit(struct plenum_job *job, int rank, int status, unsigned flags)
{
    bool lost = WIFSIGNALED(status);
    if (lost)
        pl_report_crash(job, rank, WTERMSIG(status));
    struct pl_event *event = pl_event_new(job, lost ? PLENUM_EVENT_LOST : PLENUM_EVENT_EXITED, rank, 0);
    if (!event)
        return;
    event->public.pid = job->ranks[rank].pid;
    event->public.flags = flags | (lost && WCOREDUMP(status) ? PLENUM_EVENT_CORE : 0);
    event->public.signal = lost ? WTERMSIG(status) : 0;
    event->public.code = lost ? CODE_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
    pl_event_queue(job->runtime, event);
}

/* Does this end of a process end the job? A process that has finalized may exit as it likes; the others have, too, or
 * will. */
static void judge_exit(struct plenum_job *job, int rank, int status, uint32_t state)
{
    bool lost = WIFSIGNALED(status);
    bool unfinalized = !lost && state == PL_PROCESS_INITIALIZED;
    int code = lost ? CODE_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
    if (job->cancelled && code != 0)
        follow_decide(job, code);
    if (job->phase != PL_JOB_RUNNING || (code == 0 && !unfinalized))
        return;
    follow_decide(job, code ? code : 1);
    if (job->option[PLENUM_JOB_KEEP_GOING])
        pl_pmix_process_lost(job, rank);
    else if (lost || state != PL_PROCESS_FINALIZED)
        pl_job_end(job);
}

static void process_ended(struct plenum_job *job, int rank, int status)
{
    struct pl_rank *r = &job->ranks[rank];
    struct pl_job_rank *slot = (struct pl_job_rank *)&job->segment->ranks[rank];
    uint32_t state = atomic_load(&slot->state);

    r->ended = true;
    atomic_store(&slot->gone, 1);
    pl_job_psets_check(job);
    for (int s = 0; s < 2; s++)
        pl_output_drain(&r->out[s]);
    look_for_abort(job, state);
    unsigned flags = job->phase == PL_JOB_ENDING || is_aborting(job, rank) ? PLENUM_EVENT_EXPECTED : 0;
    if (WIFEXITED(status) && state == PL_PROCESS_INITIALIZED)
        flags |= PLENUM_EVENT_UNFINALIZED;
    queue_exit(job, rank, status, flags);
    judge_exit(job, rank, status, state);
}

void pl_job_finish(struct plenum_job *job)
{
    pl_pmix_deregister(job);
    pl_blob_fini(&job->plan);
    job->phase = PL_JOB_FINISHED;
    job->limit_at = job->kill_at = job->report_at = 0;
    struct pl_event *event = pl_event_new(job, PLENUM_EVENT_FINISHED, PLENUM_ALL, 0);
    if (event) {
        event->public.code = job->code;
        event->public.flags = job->cancelled ? PLENUM_EVENT_CANCELLED : 0;
    }
    pl_event_queue(job->runtime, event);
    pl_job_drop(job);
}

void pl_job_wind_up(struct plenum_job *job)
{
    struct plenum_job *head = job->tree_head;
    if (!head && pl_spawn_tree_lives(job)) {
        job->outlived = true; /* its end is the family's */
        return;
    }
    pl_spawn_tree_ended(job);
    for (int r = 0; r < job->size; r++)
        for (int s = 0; s < 2; s++) {
            pl_output_drain(&job->ranks[r].out[s]);
            pl_output_close(&job->ranks[r].out[s]);
        }
    pl_job_psets_check(job);
    munmap((void *)job->segment, job->segment_bytes);
    job->segment = NULL;
    job->runtime->used -= job->takes;
    pl_list_remove(&job->alive);
    pl_job_finish(job);
    if (head && head->outlived && !pl_spawn_tree_lives(head))
        pl_job_wind_up(head);
}

/* --- reports ----------------------------------------------------------------------------------------------- */

static void process_started(struct plenum_job *job, int rank, pid_t pid)
{
    job->ranks[rank].pid = pid;
    if (++job->started < job->size)
        return;
    pl_spawn_tree_started(job);
    struct pl_event *event = pl_event_new(job, PLENUM_EVENT_STARTED, PLENUM_ALL, 0);
    if (event)
        event->public.code = job->size;
    pl_event_queue(job->runtime, event);
}

void pl_job_unstarted(struct plenum_job *job, int rank, int number, const char *reason)
{
    pl_spawn_tree_failed(job, reason);
    struct pl_event *event = pl_event_new(job, PLENUM_EVENT_UNSTARTED, rank, strlen(reason));
    if (event) {
        memcpy((char *)event->public.text, reason, strlen(reason));
        event->public.code = number;
    }
    pl_event_queue(job->runtime, event);
    follow_decide(job, 1);
    pl_job_end(job);
}

/* Only the first is reported: the others fail for the same reason. */
static void process_failed(struct plenum_job *job, int rank, enum pl_keeper_stage stage, int number)
{
    static const char *const what[] = {
        [PL_STAGE_FORK] = "cannot make a process",
        [PL_STAGE_WDIR] = "cannot enter the working directory",
        [PL_STAGE_SETUP] = "cannot set up the process",
        [PL_STAGE_EXEC] = "cannot execute the program",
    };
    char reason[256];
    if (rank >= 0)
        job->ranks[rank].ended = true;
    if (job->phase != PL_JOB_RUNNING)
        return;
    snprintf(reason, sizeof reason, "%s: %s%s", what[stage], strerrordesc_np(number),
             stage == PL_STAGE_EXEC && number == ENOENT ? " (its interpreter?)" : "");
    if (stage == PL_STAGE_EXEC)
        follow_decide(job, number == ENOENT ? CODE_NOT_FOUND : CODE_NOT_EXECUTABLE);
    pl_job_unstarted(job, rank, number, reason);
}

void pl_follow_notice(struct plenum_runtime *rt, const struct pl_keeper_notice *report)
{
    struct plenum_job *job = find_kept(rt, report->job);
    int rank = (int)report->rank;
    if (!job)
        return;
    switch (report->news) {
    case PL_KEEPER_STARTED: process_started(job, rank, report->pid); break;
    case PL_KEEPER_FAILED: process_failed(job, rank, report->stage, report->status); break;
    case PL_KEEPER_ENDED: process_ended(job, rank, report->status); break;
    case PL_KEEPER_GONE:
        if (report->status)
            process_failed(job, PLENUM_ALL, PL_STAGE_FORK, report->status);
        pl_job_wind_up(job);
        break;
    }
}

/* A keeper may have ended before it could tell whom it had started; then the rank itself has, if it was in MPI. */
static pid_t pid_of(const struct plenum_job *job, int rank)
{
    pid_t told = job->ranks[rank].pid;
    return told > 0 || !job->segment ? told : (pid_t)abs(atomic_load(&job->segment->ranks[rank].owner));
}

/* What a rank holds it holds until the end of its death, which takes a while when there is much memory to free. */
static void await_ends(const struct plenum_job *job)
{
    int64_t until = pl_runtime_now() + 1000;
    for (int r = 0; r < job->size; r++) {
        pid_t pid = pid_of(job, r);
        if (pid <= 0 || job->ranks[r].ended)
            continue;
        struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
        int64_t left = until - pl_runtime_now();
        if (p.fd < 0)
            continue;
        poll(&p, 1, left > 0 ? (int)left : 0);
        close(p.fd);
    }
}

/* A process that executes another program just now has no environment for a moment, by which it would be found. */
enum { QUIET_SWEEPS = 5 };

/* Without the keeper the ranks are dead or dying (PR_SET_PDEATHSIG), but what they have started is not. */
static void kill_remains(const struct plenum_job *job)
{
    for (int r = 0; r < job->size; r++)
        if (job->ranks[r].pid > 0 && !job->ranks[r].ended)
            kill(-job->ranks[r].pid, SIGKILL);
    for (int tries = 0, none = 0; tries < 1000 && none < QUIET_SWEEPS; tries++) {
        none = pl_sweep_machine(job->cookie) > 0 ? 0 : none + 1;
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    await_ends(job);
    pl_stale_files_sweep();
}

void pl_follow_keeper_lost(struct plenum_runtime *rt)
{
    PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive) {
        kill_remains(job);
        for (int r = 0; r < job->size; r++)
            if (!job->ranks[r].ended)
                process_ended(job, r, SIGKILL);
        pl_job_wind_up(job);
    }
}
