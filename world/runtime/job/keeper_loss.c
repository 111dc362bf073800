/* SPDX-License-Identifier: BSD-3-Clause */
/* See keeper_loss.h. */
#include "world/runtime/job/keeper_loss.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/job/stale_files.h"
#include "world/runtime/job.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/keeper/sweep.h"

/* The rank's pid from the keeper's notice. If the keeper died before sending it, from the rank's slot, which the rank
 * fills in when it initializes MPI. */
static pid_t loss_pid_of(const struct plenum_job *job, int rank)
{
    pid_t pid = job->ranks[rank].pid;
    return pid > 0 || !job->segment ? pid : (pid_t)pl_job_known_pid(&job->shared->ranks[rank]);
}

/* A killed rank holds its resources until the kernel has torn it down, which takes a while with much memory. */
static void loss_await_ends(const struct plenum_job *job)
{
    int64_t deadline = pl_deadline_after_ms(1000);
    for (int r = 0; r < job->desc.size; r++) {
        pid_t pid = loss_pid_of(job, r);
        if (pid <= 0 || job->ranks[r].ended)
            continue;
        struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
        if (p.fd < 0)
            continue;
        poll(&p, 1, pl_deadline_left_ms(deadline));
        close(p.fd);
    }
}

/* During execve() a process has no environment for a moment, and a sweep does not find it. */
enum { QUIET_SWEEPS = 5 };

/* Without the keeper the ranks are dead or dying (PR_SET_PDEATHSIG), but the processes that they started are not. */
static void loss_kill_remains(const struct plenum_job *job)
{
    for (int r = 0; r < job->desc.size; r++)
        if (job->ranks[r].pid > 0 && !job->ranks[r].ended)
            kill(-job->ranks[r].pid, SIGKILL);
    for (int tries = 0, none = 0; tries < 1000 && none < QUIET_SWEEPS; tries++) {
        none = pl_sweep_machine(job->cookie) > 0 ? 0 : none + 1;
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    loss_await_ends(job);
    pl_stale_files_sweep((uint32_t)getpid());
}

/* The keeper was not killed: it cannot work here. */
static void loss_fail_start(struct plenum_job *job)
{
    pl_job_fail_start(job, PLENUM_ALL, ECHILD,
                      "the keeper, the process that starts the others, cannot work here (is a system call denied?)");
    for (int r = 0; r < job->desc.size; r++)
        job->ranks[r].ended = true;
}

/* The notices that the keeper would have sent. The job may be freed. */
static void loss_tell_ends(struct plenum_runtime *rt, const struct plenum_job *job)
{
    struct pl_keeper_notice notice = { .kind = PL_KEEPER_ENDED, .job = job->launch.keeper_id, .status = SIGKILL };
    for (int r = 0; r < job->desc.size; r++) {
        notice.rank = (uint32_t)r;
        if (!job->ranks[r].ended && pl_job_is_here(job, r))
            pl_follow_notice(rt, &notice);
    }
    notice = (struct pl_keeper_notice){ .kind = PL_KEEPER_GONE, .job = notice.job };
    pl_follow_notice(rt, &notice);
}

void pl_keeper_loss_handle(struct plenum_runtime *rt, bool exited)
{
    PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive) {
        if (pl_job_is_spread(job)) /* its agents lose their connections, and it ends with them */
            continue;
        loss_kill_remains(job);
        bool started = false;
        for (int r = 0; r < job->desc.size; r++)
            started |= job->ranks[r].pid > 0 || job->ranks[r].ended;
        if (exited && !started && job->phase == PL_JOB_RUNNING)
            loss_fail_start(job);
        loss_tell_ends(rt, job);
    }
}
