/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/job/locator.h"
#include "core/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads a short file of /proc as text. Its length; -1: it cannot be read. */
static ssize_t locator_read_text(const char *path, char *text, size_t capacity)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t length = read(fd, text, capacity - 1);
    int error = errno;
    close(fd);
    errno = error;
    text[length > 0 ? length : 0] = '\0';
    return length;
}

static uint64_t locator_node(void)
{
    char boot[64] = "";
    struct stat st = { .st_ino = 0 };
    locator_read_text("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    if (stat("/proc/self/ns/pid", &st) != 0)
        st.st_ino = 0;
    return pl_hash_text(PL_HASH_BEGIN, boot) ^ st.st_ino;
}

/* Reads the state and the start time (field 22) from a process's stat line, which contains the program's name. False:
 * there is no such process. `started` is unchanged if it is unknown. */
static bool locator_read_stat(int32_t pid, char *state, uint64_t *started)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (locator_read_text(path, text, sizeof text) <= 0)
        return errno != ENOENT && errno != ESRCH;
    const char *at = strrchr(text, ')');
    if (!at || at[1] != ' ')
        return true;
    *state = at[2];
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at)
        *started = strtoull(at, NULL, 10);
    return true;
}

struct pl_locator pl_locator_self(void)
{
    struct pl_locator own = { .node = locator_node(), .pid = (int32_t)getpid() };
    char state;
    locator_read_stat(own.pid, &state, &own.started);
    return own;
}

bool pl_locator_has_ended(const struct pl_locator *there)
{
    char state = 'R';
    uint64_t started = there->started;
    if (there->pid <= 0 || there->started == 0 || there->node != locator_node())
        return false;
    return !locator_read_stat(there->pid, &state, &started) || started != there->started ||
           strchr("ZXx", state) != NULL;
}
