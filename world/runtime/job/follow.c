/* SPDX-License-Identifier: BSD-3-Clause */
/* See follow.h: keeper notices become events, and failures end the job. */
#include "world/runtime/job/follow.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/shared.h"
#include "mpi.h"
#include "world/runtime/event/event.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/answers.h"
#include "world/runtime/job/host_life.h"
#include "world/runtime/job/job_psets.h"
#include "world/runtime/job/job_report.h"
#include "world/runtime/job/job_resources.h"
#include "world/runtime/job/notes.h"
#include "world/runtime/job/outcome.h"
#include "world/runtime/job/pmi_server.h"
#include "world/runtime/job/queue.h"
#include "world/runtime/job/segment_make.h"
#include "world/runtime/job/span.h"
#include "world/runtime/job/span_follow.h"
#include "world/runtime/job/span_slots.h"
#include "world/runtime/job/spawn_tree.h"
#include "world/runtime/pmix/server.h"
#include "world/runtime/report/report.h"
#include "world/runtime/runtime_error.h"

static struct plenum_job *follow_find_job(struct plenum_runtime *rt, uint32_t keeper_id)
{
    PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive)
        if (job->launch.keeper_id == keeper_id)
            return job;
    return NULL;
}

/* --- ending ------------------------------------------------------------------------------------------------ */

static int follow_send_signal(struct plenum_job *job, int rank, int signo)
{
    for (int r = 0; signo == SIGCONT && r < job->desc.size; r++)
        job->ranks[r].continued |= rank == r || rank == PLENUM_ALL;
    if (pl_job_is_spread(job))
        return pl_span_signal(job, rank, signo);
    const struct pl_keeper_request request = {
        .op = PL_KEEPER_SIGNAL, .job = job->launch.keeper_id, .first = rank, .signal = signo
    };
    return pl_link_send(&job->runtime->keeper.link, &request, NULL, 0);
}

static void follow_kill(struct plenum_job *job)
{
    job->deadline.kill = 0;
    if (follow_send_signal(job, PLENUM_ALL, SIGKILL) == PLENUM_OK)
        return;
    job->deadline.kill = pl_clock_ms() + PL_ROUSE_MS; /* again: otherwise the job would never end */
    pl_runtime_set_timer(job->runtime);
}

static void follow_forgo(struct plenum_job *job)
{
    const struct pl_keeper_request forgo = { .op = PL_KEEPER_FORGO, .job = job->launch.keeper_id };
    if (pl_job_is_spread(job))
        pl_span_forgo(job);
    else
        pl_link_send(&job->runtime->keeper.link, &forgo, NULL, 0);
}

void pl_job_part_forgo(struct plenum_job *part)
{
    if (part->phase == PL_JOB_RUNNING)
        part->phase = PL_JOB_ENDING;
    follow_forgo(part);
}

static void follow_end_one(struct plenum_job *job)
{
    if (job->phase != PL_JOB_RUNNING)
        return;
    job->phase = PL_JOB_ENDING;
    job->deadline.limit = 0;
    job->deadline.rouse = pl_clock_ms() + PL_ROUSE_MS;
    pl_runtime_set_timer(job->runtime);
    job->reporting.ends_job = false;
    follow_forgo(job);
    if (job->desc.option[PLENUM_JOB_GRACE] == 0) {
        follow_kill(job);
        return;
    }
    follow_send_signal(job, PLENUM_ALL, SIGTERM);
    follow_send_signal(job, PLENUM_ALL, SIGCONT); /* a stopped process does not act on SIGTERM */
    job->deadline.kill = pl_clock_ms() + job->desc.option[PLENUM_JOB_GRACE];
    pl_runtime_set_timer(job->runtime);
}

/* The parents of a starting job learn of its end; the rest of the tree does not end with it. */
void pl_job_terminate(struct plenum_job *job)
{
    if (pl_job_is_part(job))
        return;
    if (pl_job_is_starting(job) || pl_job_has_missed(job)) {
        follow_end_one(job);
        return;
    }
    PL_LIST_EACH(member, &job->runtime->alive, struct plenum_job, alive)
        if (pl_job_root(member) == pl_job_root(job))
            follow_end_one(member);
}

int plenum_job_cancel(struct plenum_job *job)
{
    int err = pl_job_enter(job);
    if (err)
        return err;
    pl_job_settle_aborts(job);
    if (job->phase == PL_JOB_QUEUED) {
        job->outcome.cancelled = true;
        pl_outcome_decide(job, PL_CODE_SIGNAL + (job->desc.option[PLENUM_JOB_GRACE] ? SIGTERM : SIGKILL));
        pl_dispatch_forget(&job->runtime->supply.dispatch, &job->task);
        pl_job_finish(job);
        pl_queue_advance(job->runtime);
        pl_runtime_wake_waiters(job->runtime);
    } else if (job->phase == PL_JOB_RUNNING) {
        job->outcome.cancelled = true;
        pl_job_terminate(job);
    } else if (job->phase == PL_JOB_ENDING) {
        PL_LIST_EACH(member, &job->runtime->alive, struct plenum_job, alive)
            if (pl_job_root(member) == pl_job_root(job))
                follow_kill(member);
    } else if (job->phase == PL_JOB_DESCRIBED) {
        err = pl_rt_fail(PLENUM_ERR_STATE, "the job was not launched");
    }
    return pl_job_leave(job, err);
}

static int follow_signal_tree(struct plenum_job *job, int signo)
{
    int err = PLENUM_OK;
    PL_LIST_EACH(member, &job->runtime->alive, struct plenum_job, alive)
        if (!err && pl_job_root(member) == pl_job_root(job))
            err = follow_send_signal(member, PLENUM_ALL, signo);
    return err;
}

int plenum_job_signal(struct plenum_job *job, int rank, int signo)
{
    if (signo < 1 || signo >= NSIG)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "%d is not a signal", signo);
    int err = pl_job_enter(job);
    if (err)
        return err;
    if (rank < PLENUM_ALL || rank >= job->desc.size)
        err = pl_rt_fail(PLENUM_ERR_ARGUMENT, "rank %d is not in a job of size %d", rank, job->desc.size);
    else if (!pl_job_alive(job))
        err = pl_rt_fail(PLENUM_ERR_STATE, "the job is not running");
    else if (rank != PLENUM_ALL)
        err = follow_send_signal(job, rank, signo);
    else
        err = follow_signal_tree(job, signo);
    return pl_job_leave(job, err);
}

void pl_follow_deadlines(struct plenum_job *job, int64_t now)
{
    if (job->deadline.limit && now >= job->deadline.limit && job->phase == PL_JOB_RUNNING) {
        struct pl_event *event = pl_event_new(job, PLENUM_EVENT_TIMEOUT, PLENUM_ALL, 0);
        if (event)
            event->public.code = (int)job->desc.option[PLENUM_JOB_TIME_LIMIT];
        pl_event_queue(job->runtime, event);
        pl_outcome_decide(job, PL_CODE_TIMEOUT);
        job->deadline.limit = 0;
        if (!pl_job_report_before_end(job))
            pl_job_terminate(job);
    }
    if (job->reporting.check_at && now >= job->reporting.check_at && pl_job_report_deadline(job, now))
        pl_job_terminate(job);
    if (job->deadline.kill && now >= job->deadline.kill)
        follow_kill(job);
    if (job->deadline.rouse && now >= job->deadline.rouse) {
        pl_link_rouse(&job->runtime->keeper.link);
        if (job->phase == PL_JOB_ENDING && !job->deadline.kill) /* killed, as far as the keeper goes on */
            pl_link_kill_held(&job->runtime->keeper.link);
        job->deadline.rouse = job->phase == PL_JOB_ENDING || job->started < job->desc.size ? now + PL_ROUSE_MS : 0;
    }
    if (job->deadline.barrier && now >= job->deadline.barrier)
        pl_pmi_end_barrier(job);
    if (job->deadline.abort && now >= job->deadline.abort) {
        pl_job_settle_aborts(job);
        if (job->tree.root && job->tree.outlived)
            pl_job_last_process_ended(job);
    }
}

/* --- aborts ------------------------------------------------------------------------------------------------ */

static int follow_exit_code_of(int code)
{
    return code != 0 && (code & 255) == 0 ? 1 : code & 255;
}

void pl_job_abort_some(struct plenum_job *job, int rank, int code, const char *object, const char *message)
{
    struct pl_event *event = pl_event_of_object(job, PLENUM_EVENT_ABORTED, rank, code, object, message);
    if (event && pl_job_is_part(job))
        event->public.flags = PL_EVENT_SOME;
    pl_event_queue(job->runtime, event);
    pl_outcome_decide(job, follow_exit_code_of(code));
}

void pl_job_abort(struct plenum_job *job, int rank, int code, const char *object, const char *message)
{
    if (job->outcome.aborted || !pl_job_alive(job))
        return;
    job->outcome.aborted = true;
    if (!pl_job_has_missed(job))
        pl_event_queue(job->runtime, pl_event_of_object(job, PLENUM_EVENT_ABORTED, rank, code, object, message));
    pl_outcome_decide(job, follow_exit_code_of(code));
    pl_job_terminate(job);
}

static bool follow_is_aborting(const struct plenum_job *job, int rank)
{
    return atomic_load(&job->shared->ranks[rank].must_end) != 0;
}

/* The aborting ranks end, and the others continue. Frees the record for the next abort. */
static void follow_kill_aborting(struct plenum_job *job)
{
    struct pl_job_abort *record = &job->shared->abort;
    for (int r = 0; r < job->desc.size; r++)
        if (follow_is_aborting(job, r) && !job->ranks[r].ended)
            follow_send_signal(job, r, SIGKILL);
    atomic_store(&record->set, 0);
    atomic_store(&record->claimed, 0);
}

/* False: there is nothing to read, or it would change nothing. */
static bool follow_read_abort(const struct plenum_job *job, struct pl_job_abort *record)
{
    if (job->outcome.aborted || job->phase != PL_JOB_RUNNING ||
        !atomic_load_explicit(&job->shared->abort.set, memory_order_acquire))
        return false;
    pl_copy_shared(record, &job->shared->abort, sizeof *record);
    record->object[sizeof record->object - 1] = record->message[sizeof record->message - 1] = '\0';
    return true;
}

static void follow_apply_abort(struct plenum_job *job, const struct pl_job_abort *record)
{
    int rank = record->rank >= 0 && record->rank < job->desc.size ? record->rank : PLENUM_ALL;
    if (record->partial && job->desc.option[PLENUM_JOB_KEEP_GOING]) {
        pl_job_abort_some(job, rank, record->code, record->object, record->message);
        follow_kill_aborting(job);
    } else {
        pl_job_abort(job, rank, record->code, record->object, record->message);
    }
}

/* A process that has aborted has ended. Others may have aborted since because it failed: their aborts are checked when
 * they end, and count only if nothing has ended the job before. True: its abort is held. */
static bool follow_check_abort(struct plenum_job *job)
{
    struct pl_job_abort record;
    if (!follow_read_abort(job, &record))
        return false;
    if (pl_job_hold_abort(job, record.code))
        return true;
    follow_apply_abort(job, &record);
    return false;
}

/* A process that misses another one waits for the launcher to end the job, but not for ever (plugins/inherited). If the
 * keeper could not run meanwhile, it finds both dead, and tells their ends in the order of the ranks. */
bool pl_job_hold_abort(struct plenum_job *job, int code)
{
    if (code != MPI_ERR_PROC_ABORTED || pl_job_is_part(job) || job->phase != PL_JOB_RUNNING ||
        pl_job_root(job)->outcome.failed)
        return false;
    if (!job->deadline.abort)
        job->deadline.abort = pl_clock_ms() + PL_CAUSE_MS;
    pl_runtime_set_timer(job->runtime);
    return true;
}

void pl_job_settle_aborts(struct plenum_job *job)
{
    struct pl_job_abort record;
    if (!job->deadline.abort)
        return;
    job->deadline.abort = 0;
    if (pl_job_is_spread(job))
        pl_span_settle_aborts(job);
    else if (follow_read_abort(job, &record))
        follow_apply_abort(job, &record);
}

/* --- ends of processes ------------------------------------------------------------------------------------- */

/* Has the World been initialized and not finalized, or a session opened and not finalized, in any tenant? Then the
 * rank has an owner there. */
static bool follow_is_open(const struct plenum_job *job, int rank, uint32_t state)
{
    bool open = state == PL_PROCESS_INITIALIZED;
    for (uint32_t t = 0; !open && t < job->segment->tenants; t++)
        open = pl_job_has_tenant(job->shared, t) &&
               atomic_load(&pl_job_part(job->segment, job->shared, t)->ranks[rank].owner) > 0;
    return (open || pl_pmi_in_use(job, rank)) && state != PL_PROCESS_ABORTED;
}

/* How far the World of a rank has come. Of several tenants, one that has not finalized its World counts. */
static uint32_t follow_state_of(const struct plenum_job *job, int rank)
{
    uint32_t state = atomic_load(&job->shared->ranks[rank].state);
    for (uint32_t t = 1; state != PL_PROCESS_ABORTED && t < job->segment->tenants; t++) {
        uint32_t other = pl_job_has_tenant(job->shared, t)
                             ? atomic_load(&pl_job_part(job->segment, job->shared, t)->ranks[rank].state)
                             : PL_PROCESS_STARTED;
        if (other == PL_PROCESS_INITIALIZED || (other == PL_PROCESS_FINALIZED && state == PL_PROCESS_STARTED))
            state = other;
    }
    return state;
}

static void follow_process_ended(struct plenum_job *job, int rank, const struct pl_keeper_notice *notice)
{
    struct pl_rank *r = &job->ranks[rank];
    uint32_t state = follow_state_of(job, rank);

    r->ended = true;
    pl_job_tell_gone(job->segment, rank, notice->status ? PL_GONE_FAILED : PL_GONE_ENDED);
    pl_job_psets_check(job);
    for (int s = 0; s < 2; s++)
        pl_output_drain(&r->out[s]);
    pl_pmi_drain(job, rank);
    pl_slots_check(job);
    pl_spawn_tree_check_unable(job);
    bool unmet = pl_spawn_tree_is_unmet(job);
    bool aborted = state == PL_PROCESS_ABORTED, held = aborted && follow_check_abort(job);
    if (WIFSIGNALED(notice->status))
        pl_report_crash(job, rank, WTERMSIG(notice->status));
    pl_outcome_of_process(job, &(struct pl_ended){
                                   .rank = rank,
                                   .pid = r->pid,
                                   .status = notice->status,
                                   .unfinalized = follow_is_open(job, rank, state),
                                   .finalized = state == PL_PROCESS_FINALIZED,
                                   .aborted = aborted,
                                   .held = held,
                                   .unmet = unmet,
                                   .expected = job->phase == PL_JOB_ENDING || follow_is_aborting(job, rank) || held,
                                   .time_us = notice->time_us,
                                   .run_us = notice->run_us,
                                   .usage = notice->usage,
                               });
    if (pl_job_root(job)->outcome.failed)
        pl_job_settle_aborts(job);
}

void pl_job_finish(struct plenum_job *job)
{
    pl_pmix_deregister(job);
    pl_blob_fini(&job->launch.plan);
    if (!pl_job_is_part(job))
        pl_span_close(job);
    job->phase = PL_JOB_FINISHED;
    job->deadline.limit = job->deadline.kill = job->deadline.rouse = job->reporting.check_at = 0;
    struct pl_event *event = pl_event_new(job, PLENUM_EVENT_FINISHED, PLENUM_ALL, 0);
    if (event) {
        event->public.code = job->outcome.code;
        event->public.flags = job->outcome.cancelled ? PLENUM_EVENT_CANCELLED : 0;
        pl_outcome_write_usage(&event->public,
                               job->launch.started_us ? pl_clock_read(CLOCK_MONOTONIC) / 1000 - job->launch.started_us
                                                      : 0,
                               &job->outcome.usage);
    }
    pl_event_queue(job->runtime, event);
    if (job->launch.placer)
        pl_host_placer_ended(job);
    pl_job_drop(job);
}

void pl_job_last_process_ended(struct plenum_job *job)
{
    struct plenum_job *root = job->tree.root;
    if (root ? job->deadline.abort != 0 : pl_spawn_tree_lives(job)) {
        job->tree.outlived = true; /* it ends with the last job of its tree, or when its aborts are settled */
        return;
    }
    pl_job_settle_aborts(job);
    pl_notes_drain(job);
    pl_slots_check(job);
    pl_spawn_tree_ended(job);
    for (int r = 0; r < job->desc.size; r++)
        for (int s = 0; s < 2; s++) {
            pl_output_drain(&job->ranks[r].out[s]);
            pl_output_close(&job->ranks[r].out[s]);
        }
    pl_pmi_close(job);
    pl_job_psets_check(job);
    pl_slots_forget(job);
    pl_answers_forget(job);
    pl_job_segment_unmap(job);
    pl_job_resources_give(job);
    pl_dispatch_end(&job->runtime->supply.dispatch, &job->task);
    pl_list_remove(&job->alive);
    pl_job_finish(job);
    if (root && root->tree.outlived && !pl_spawn_tree_lives(root))
        pl_job_last_process_ended(root);
}

/* --- keeper notices ---------------------------------------------------------------------------------------- */

/* Of an agent the event names the processes: their pids in the order of the ranks. */
static struct pl_event *follow_new_started(struct plenum_job *job)
{
    enum { LONGEST = 12 }; /* a pid and a blank */
    bool part = pl_job_is_part(job);
    struct pl_event *event =
        pl_event_new(job, PLENUM_EVENT_STARTED, PLENUM_ALL, part ? (size_t)job->launch.span->ranks_here * LONGEST : 0);
    if (!event || !part)
        return event;
    char *text = (char *)event->public.text;
    size_t length = 0;
    for (int r = 0; r < job->desc.size; r++)
        if (pl_job_is_here(job, r))
            length += (size_t)snprintf(text + length, LONGEST + 1, "%d ", (int)job->ranks[r].pid);
    event->public.length = length;
    return event;
}

void pl_job_ranks_started(struct plenum_job *job, int count, int64_t time_us)
{
    int all = pl_job_is_part(job) ? job->launch.span->ranks_here : job->desc.size;
    job->started += count;
    if (job->started < all)
        return;
    pl_spawn_tree_started(job);
    struct pl_event *event = follow_new_started(job);
    if (event) {
        event->public.code = all;
        event->public.time_us = time_us;
    }
    pl_event_queue(job->runtime, event);
}

static void follow_process_started(struct plenum_job *job, int rank, const struct pl_keeper_notice *start)
{
    job->ranks[rank].pid = start->pid;
    pl_job_ranks_started(job, 1, start->time_us);
}

void pl_job_fail_start(struct plenum_job *job, int rank, int number, const char *reason)
{
    pl_spawn_tree_failed(job, reason);
    struct pl_event *event = pl_event_new(job, PLENUM_EVENT_UNSTARTED, rank, strlen(reason));
    if (event && *reason)
        memcpy((char *)event->public.text, reason, strlen(reason));
    if (event)
        event->public.code = number;
    pl_outcome_decide(job, 1);
    if (event && pl_job_is_part(job))
        event->public.flags = (unsigned)job->outcome.code << PL_EVENT_CODE;
    pl_event_queue(job->runtime, event);
    pl_job_terminate(job);
}

/* Only the first failure makes an event: the others have the same reason. */
static void follow_process_failed(struct plenum_job *job, int rank, enum pl_keeper_stage stage, int number)
{
    static const char *const what[] = {
        [PL_STAGE_FORK] = "cannot create a process",
        [PL_STAGE_WDIR] = "cannot enter the working directory",
        [PL_STAGE_SETUP] = "cannot set up the process",
        [PL_STAGE_STOP] = "cannot stop the process before its program runs, which needs ptrace()",
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
        pl_outcome_decide(job, number == ENOENT ? PL_CODE_NOT_FOUND : PL_CODE_NOT_EXECUTABLE);
    pl_job_fail_start(job, rank, number, reason);
}

void pl_follow_notice(struct plenum_runtime *rt, const struct pl_keeper_notice *notice)
{
    struct plenum_job *job = follow_find_job(rt, notice->job);
    int rank = (int)notice->rank;
    if (!job)
        return;
    switch (notice->kind) {
    case PL_KEEPER_STARTED: follow_process_started(job, rank, notice); break;
    case PL_KEEPER_FAILED: follow_process_failed(job, rank, notice->stage, notice->status); break;
    case PL_KEEPER_ENDED: follow_process_ended(job, rank, notice); break;
    case PL_KEEPER_GONE:
        if (notice->status)
            follow_process_failed(job, PLENUM_ALL, PL_STAGE_FORK, notice->status);
        pl_job_last_process_ended(job);
        break;
    }
}
