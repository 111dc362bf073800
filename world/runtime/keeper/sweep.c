/* SPDX-License-Identifier: BSD-3-Clause */
/* See sweep.h. Only pl_sweep_machine(), which the keeper does not call, allocates or locks. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "world/runtime/keeper/sweep.h"

enum { MARK = 18 }; /* ":" 16 hex digits ":" as in PLENUM_JOB */

static void sweep_make_mark(uint64_t cookie, char mark[MARK])
{
    mark[0] = mark[MARK - 1] = ':';
    for (int i = 16; i >= 1; i--, cookie >>= 4)
        mark[i] = "0123456789abcdef"[cookie & 15];
}

static int sweep_open_environ(pid_t pid)
{
    char path[40] = "/proc/", digits[12];
    size_t at = strlen(path);
    int n = 0;
    for (pid_t p = pid; p > 0; p /= 10)
        digits[n++] = (char)('0' + p % 10);
    while (n > 0)
        path[at++] = digits[--n];
    memcpy(path + at, "/environ", sizeof "/environ");
    return open(path, O_RDONLY | O_CLOEXEC);
}

bool pl_sweep_belongs(pid_t pid, uint64_t cookie)
{
    char mark[MARK], text[4096];
    size_t kept = 0;
    ssize_t got;
    bool found = false;
    int fd = sweep_open_environ(pid);
    if (fd < 0)
        return false;
    sweep_make_mark(cookie, mark);
    while (!found && (got = read(fd, text + kept, sizeof text - kept)) > 0) {
        size_t have = kept + (size_t)got;
        found = memmem(text, have, mark, MARK) != NULL;
        kept = have < MARK - 1 ? have : MARK - 1;
        memmove(text, text + have - kept, kept);
    }
    close(fd);
    return found;
}

int pl_sweep_machine(uint64_t cookie)
{
    DIR *proc = opendir("/proc");
    int killed = 0;
    if (!proc)
        return 0;
    for (struct dirent *e; (e = readdir(proc));) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid > 1 && pid != getpid() && pl_sweep_belongs(pid, cookie))
            killed += kill(pid, SIGKILL) == 0;
    }
    closedir(proc);
    return killed;
}
