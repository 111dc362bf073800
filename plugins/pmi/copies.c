/* SPDX-License-Identifier: BSD-3-Clause */
/* See copies.h. The file stays open as long as the process lives, as the connection does. */
#include "plugins/pmi/copies.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file_limit.h"

static int copies_fd = -1;

enum { COPIES_BYTES = 16384 }; /* of all names */

static int copies_find(const char *wanted)
{
    char path[300], target[PATH_MAX];
    int found = -1;
    DIR *directory = opendir("/proc/self/fd");
    for (struct dirent *entry; directory && found < 0 && (entry = readdir(directory));) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        if (strncmp(target, wanted, strlen(wanted)) == 0)
            found = open(path, O_RDWR | O_CLOEXEC); /* a description of its own, for a lock of its own */
    }
    if (directory)
        closedir(directory);
    return found;
}

bool pl_pmi_copies_open(bool first)
{
    char name[64], target[80];
    snprintf(name, sizeof name, "plenum-pmi-%d-", (int)getpid());
    snprintf(target, sizeof target, "/memfd:%s", name);
    if (copies_fd < 0)
        copies_fd = first ? memfd_create(name, MFD_CLOEXEC) : copies_find(target);
    return copies_fd >= 0;
}

void pl_pmi_copies_lock(void)
{
    while (copies_fd >= 0 && flock(copies_fd, LOCK_EX) != 0)
        continue; /* interrupted by a signal */
}

void pl_pmi_copies_unlock(void)
{
    if (copies_fd >= 0)
        flock(copies_fd, LOCK_UN);
}

/* Is one of the lines this name? */
static bool copies_have(const char *lines, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = lines; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strcspn(at, "\n") == length && memcmp(at, name, length) == 0)
            return true;
    return false;
}

/* Each copy has opened the file for itself, and its position is not that of the others. */
static void copies_append(const char *line, size_t bytes, size_t at)
{
    ssize_t written;
    if (!pl_file_may_have(at + bytes))
        return;
    do
        written = pwrite(copies_fd, line, bytes, (off_t)at);
    while (written < 0 && errno == EINTR);
}

void pl_pmi_copies_enter(char name[PL_TENANT_NAME])
{
    char lines[COPIES_BYTES] = "";
    uint32_t number = 0;
    pl_pmi_copies_lock();
    ssize_t got = copies_fd < 0 ? 0 : pread(copies_fd, lines, sizeof lines - 1, 0);
    size_t length = got > 0 ? (size_t)got : 0;
    lines[length] = '\0';
    do
        pl_tenant_name(++number, name);
    while (copies_have(lines, name));
    if (copies_fd >= 0) {
        int more = snprintf(lines + length, sizeof lines - length, "%s\n", name);
        if (more < (int)(sizeof lines - length)) /* else there are too many */
            copies_append(lines + length, (size_t)more, length);
    }
    pl_pmi_copies_unlock();
}
