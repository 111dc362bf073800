/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/job/stale_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TOP   "/dev/shm"
#define FIRST "plenum-ucx-"

enum { FIRST_LENGTH = sizeof FIRST - 1, DIGITS = 16, TRIES = 100 };

/* Calls `what` with each entry of a directory. */
static void each_entry(int directory, void (*what)(int directory, const char *name))
{
    _Alignas(struct dirent64) char entries[4096];
    long got;
    while ((got = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0)
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
            what(directory, entry->d_name);
            at += entry->d_reclen;
        }
}

static void remove_file(int directory, const char *name)
{
    unlinkat(directory, name, 0);
}

/* Opens and locks a directory of this user. -1: there is none of this name, or another process holds it. */
static int stale_files_take(int top, const char *name)
{
    struct stat st;
    int fd = openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void stale_files_clear(int top, const char *name, int fd)
{
    each_entry(fd, remove_file);
    unlinkat(top, name, AT_REMOVEDIR);
    close(fd);
}

static void remove_abandoned(int top, const char *name)
{
    if (strlen(name) != FIRST_LENGTH + DIGITS || memcmp(name, FIRST, FIRST_LENGTH) != 0)
        return;
    int fd = stale_files_take(top, name);
    if (fd >= 0)
        stale_files_clear(top, name, fd);
}

void pl_stale_files_sweep(void)
{
    int top = open(TOP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (top < 0)
        return;
    each_entry(top, remove_abandoned);
    close(top);
}

static void stale_files_write_name(char name[PL_SCRATCH_DIR_NAME], uint64_t number)
{
    snprintf(name, PL_SCRATCH_DIR_NAME, TOP "/" FIRST "%0*llx", DIGITS, (unsigned long long)number);
}

static bool still_there(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

void pl_scratch_dir_open(struct pl_scratch_dir *scratch_dir)
{
    for (int tries = 0; tries < TRIES; tries++) {
        if (getrandom(&scratch_dir->number, sizeof scratch_dir->number, 0) != sizeof scratch_dir->number)
            break;
        stale_files_write_name(scratch_dir->name, scratch_dir->number);
        if (mkdir(scratch_dir->name, 0700) != 0)
            break;
        scratch_dir->fd = stale_files_take(AT_FDCWD, scratch_dir->name);
        if (scratch_dir->fd >= 0 && still_there(scratch_dir->fd))
            return;
        rmdir(scratch_dir->name);
        if (scratch_dir->fd >= 0)
            close(scratch_dir->fd);
    }
    scratch_dir->fd = -1;
    scratch_dir->number = 0;
}

void pl_scratch_dir_close(struct pl_scratch_dir *scratch_dir)
{
    if (scratch_dir->fd >= 0)
        stale_files_clear(AT_FDCWD, scratch_dir->name, scratch_dir->fd);
    scratch_dir->fd = -1;
    scratch_dir->number = 0;
}

bool pl_scratch_dir_is_held(uint64_t number)
{
    char name[PL_SCRATCH_DIR_NAME];
    stale_files_write_name(name, number);
    int fd = stale_files_take(AT_FDCWD, name);
    if (fd < 0)
        return access(name, F_OK) == 0;
    close(fd);
    return false;
}

bool pl_scratch_dir_is_abandoned(uint64_t number)
{
    char name[PL_SCRATCH_DIR_NAME];
    stale_files_write_name(name, number);
    return !pl_scratch_dir_is_held(number) && access(name, F_OK) == 0;
}
