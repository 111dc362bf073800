/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel tells in /proc of a process and of the machine. All users may read that. No locks. */
#ifndef PLENUM_CORE_BASE_PROC_STAT_H
#define PLENUM_CORE_BASE_PROC_STAT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

struct pl_proc_stat {
    char state;       /* 'R' and so on; 't': held by a tracer */
    uint64_t started; /* when it started, in ticks since the machine did; 0: not known */
};

/* Does /proc show processes under the pids that this process sees? In a pid namespace it may be that of another one.
 * False also without /proc. */
bool pl_proc_is_own(void);

/* By /proc/PID/stat. 0, or an error number, which pl_proc_stat_is_absent() judges. */
int pl_proc_stat_read(pid_t pid, struct pl_proc_stat *stat);

/* Does this error of pl_proc_stat_read() say that there is no such process? Else nothing is known of it. */
static inline bool pl_proc_stat_is_absent(int error)
{
    return error == ENOENT || error == ESRCH;
}

/* Has it ended, although its parent has not waited for it yet? */
static inline bool pl_proc_stat_is_zombie(const struct pl_proc_stat *stat)
{
    return strchr("ZXx", stat->state) != NULL;
}

/* How many threads of the machine run or wait for a core now, this one among them. 0: not known. */
int pl_proc_runnable(void);

/* How many processes of the machine the kernel has killed for lack of memory, of the machine or of a cgroup, since it
 * started. 0: none, or not known. */
long pl_proc_oom_kills(void);

#endif
