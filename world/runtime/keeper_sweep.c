/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the keeper does about things that are left behind: processes that ranks started and that outlived them (they
 * became children of the keeper, which is a subreaper), and the directory of a host that died.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "world/runtime/keeper.h"
#include "world/runtime/sweep.h"

static bool is_rank(const struct pl_kept_job *jobs, pid_t pid)
{
    for (; jobs; jobs = jobs->next)
        for (uint32_t r = 0; r < jobs->size; r++)
            if (jobs->rank[r].pid == pid && jobs->rank[r].phase == PL_KEPT_RUNNING)
                return true;
    return false;
}

static int sweep_one(const struct pl_kept_job *jobs, pid_t pid, uint64_t cookie, bool all)
{
    if (!all && (is_rank(jobs, pid) || !pl_sweep_belongs(pid, cookie)))
        return 0;
    return kill(pid, SIGKILL) == 0;
}

/* The kernel lists the children as numbers with a blank behind each. */
int pl_keeper_sweep(struct pl_kept_job *jobs, uint64_t cookie, bool all)
{
    char text[4096];
    ssize_t got;
    int killed = 0;
    pid_t pid = 0;
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while ((got = read(fd, text, sizeof(text))) > 0)
        for (ssize_t i = 0; i < got; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
            } else if (pid > 0) {
                killed += sweep_one(jobs, pid, cookie, all);
                pid = 0;
            }
        }
    close(fd);
    return killed;
}

/* --- a directory ------------------------------------------------------------------------------------------- */

struct entry { /* of getdents64() */
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

/* Removes what is in `directory` (a descriptor, closed here), to a depth that only an accident would exceed. */
static void empty_directory(int directory, int depth)
{
    _Alignas(struct entry) char buffer[2048];
    long got;
    while ((got = syscall(SYS_getdents64, directory, buffer, sizeof(buffer))) > 0)
        for (long at = 0; at < got;) {
            const struct entry *e = (const struct entry *)(buffer + at);
            at += e->length;
            if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0)
                continue;
            int sub = e->type == DT_DIR ? openat(directory, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                                        : -1;
            if (sub >= 0 && depth > 0)
                empty_directory(sub, depth - 1);
            else if (sub >= 0)
                close(sub);
            unlinkat(directory, e->name, e->type == DT_DIR ? AT_REMOVEDIR : 0);
        }
    close(directory);
}

void pl_keeper_unlitter(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    empty_directory(fd, 4);
    rmdir(directory);
}
