/* SPDX-License-Identifier: BSD-3-Clause */
/* See orphans.h. */
#include "world/runtime/keeper/orphans.h"

#include <fcntl.h>
#include <signal.h>
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

/* The kernel lists the children as numbers, each followed by a blank. */
int pl_keeper_sweep(struct pl_kept_job *jobs, uint64_t cookie, bool all)
{
    char text[4096];
    ssize_t got;
    int killed = 0;
    pid_t pid = 0;
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
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
