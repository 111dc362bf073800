/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/proc_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIELD_STARTED = 22 };

int pl_proc_stat_read(pid_t pid, struct pl_proc_stat *stat)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ssize_t length = read(fd, text, sizeof text - 1);
    int error = length < 0 ? errno : ESRCH;
    close(fd);
    if (length <= 0)
        return error;
    text[length] = '\0';
    const char *at = strrchr(text, ')'); /* the end of the name, field 2 */
    if (!at || at[1] != ' ' || at[2] == '\0')
        return EINVAL;
    *stat = (struct pl_proc_stat){ .state = at[2] };
    for (int field = 2; at && field < FIELD_STARTED; field++)
        at = strchr(at + 1, ' ');
    if (at)
        stat->started = strtoull(at, NULL, 10);
    return 0;
}
