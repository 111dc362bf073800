/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/proc_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIELD_STARTED = 22 };

/* The text of a file in /proc, ended by a NUL. Returns an error number: ESRCH if the file is empty. */
static int proc_read(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    size_t length = 0;
    ssize_t got;
    while ((got = read(fd, text + length, size - 1 - length)) > 0) /* the kernel may give a page at a time */
        length += (size_t)got;
    int error = got < 0 ? errno : length == 0 ? ESRCH : 0;
    close(fd);
    text[length] = '\0';
    return error;
}

bool pl_proc_is_own(void)
{
    char text[16];
    ssize_t length = readlink("/proc/self", text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    return atoi(text) == (int)getpid();
}

int pl_proc_stat_read(pid_t pid, struct pl_proc_stat *stat)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int error = proc_read(path, text, sizeof text);
    if (error)
        return error;
    const char *at = strrchr(text, ')'); /* the end of the name, field 2, in which anything may occur */
    if (!at || at[1] != ' ' || at[2] == '\0')
        return EINVAL;
    *stat = (struct pl_proc_stat){ .state = at[2] };
    for (int field = 2; at && field < FIELD_STARTED; field++)
        at = strchr(at + 1, ' ');
    if (at)
        stat->started = strtoull(at, NULL, 10);
    return 0;
}

/* Three averages, then "runnable/all". */
int pl_proc_runnable(void)
{
    char text[128];
    int runnable = 0;
    if (proc_read("/proc/loadavg", text, sizeof text) || sscanf(text, "%*s %*s %*s %d/", &runnable) != 1)
        return 0;
    return runnable;
}

long pl_proc_oom_kills(void)
{
    char text[16384];
    static const char name[] = "\noom_kill ";
    const char *at = proc_read("/proc/vmstat", text, sizeof text) == 0 ? strstr(text, name) : NULL;
    return at ? strtol(at + sizeof name - 1, NULL, 10) : 0;
}
