/* SPDX-License-Identifier: BSD-3-Clause */
/* See orphans.h. */
#include "world/runtime/keeper/orphans.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world/runtime/keeper/sweep.h"

static bool orphans_is_rank(const struct pl_kept_job *jobs, pid_t pid)
{
    for (; jobs; jobs = jobs->next)
        for (uint32_t r = 0; r < jobs->size; r++)
            if (jobs->rank[r].pid == pid && jobs->rank[r].phase == PL_KEPT_RUNNING)
                return true;
    return false;
}

static int orphans_kill(const struct pl_kept_job *jobs, pid_t pid, uint64_t cookie, bool all)
{
    if (!all && (orphans_is_rank(jobs, pid) || !pl_sweep_belongs(pid, cookie)))
        return 0;
    return kill(pid, SIGKILL) == 0;
}

/* --- without /proc --------------------------------------------------------------------------------------------- */

enum { PID_LIMIT = 1 << 22 }; /* of the kernel */

/* Has the job processes that were started, or are to be? */
static bool orphans_others_run(const struct pl_kept_job *jobs)
{
    for (; jobs; jobs = jobs->next)
        if (jobs->running > 0 || jobs->waiting > 0)
            return true;
    return false;
}

/* Where the kernel denies waitid(), a child that is dead is reaped here. */
static bool orphans_any_child(void)
{
    siginfo_t info;
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        return true;
    return errno != ECHILD && waitpid(-1, NULL, WNOHANG) >= 0;
}

/* A living child? waitid() knows without /proc. */
static bool orphans_is_child(pid_t pid)
{
    siginfo_t info = { 0 };
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        return info.si_pid == 0;
    return errno != ECHILD && waitpid(pid, NULL, WNOHANG) == 0;
}

static int orphans_kill_range(pid_t first, pid_t end)
{
    int killed = 0;
    for (pid_t pid = first; pid < end; pid++)
        if (orphans_is_child(pid))
            killed += kill(pid, SIGKILL) == 0;
    return killed;
}

/* The number that a new process gets, of which no signal comes. */
static pid_t orphans_next_pid(void)
{
    pid_t pid = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid(pid, NULL, __WALL);
    return pid;
}

/*
 * Without /proc neither the children nor their environments can be read. So numbers are tried: those that processes got
 * since the keeper's own, and if none of them is a child, all others, which takes a second or two. To which job a child
 * belongs cannot be told: while another job runs, what this one has left stays, and goes with the last of them.
 */
static int orphans_sweep_blindly(const struct pl_kept_job *jobs, bool all)
{
    if ((!all && orphans_others_run(jobs)) || !orphans_any_child())
        return 0;
    pid_t own = getpid(), next = orphans_next_pid();
    int killed = next > own ? orphans_kill_range(own + 1, next) : 0;
    return killed ? killed : orphans_kill_range(2, PID_LIMIT);
}

/* The kernel lists the children as numbers, each followed by a blank. */
int pl_keeper_sweep(struct pl_kept_job *jobs, uint64_t cookie, bool all)
{
    char text[4096];
    ssize_t got;
    int killed = 0;
    pid_t pid = 0;
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return orphans_sweep_blindly(jobs, all);
    while ((got = read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < got; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
            } else if (pid > 0) {
                killed += orphans_kill(jobs, pid, cookie, all);
                pid = 0;
            }
        }
    close(fd);
    return killed;
}
