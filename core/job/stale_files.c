/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/job/stale_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TOP   "/dev/shm"
#define FIRST "plenum-ucx-"
#define MARK  "closed"

enum { FIRST_LENGTH = sizeof FIRST - 1, DIGITS = 16, TRIES = 100, KEEP_S = 10 };

/* Calls `what` with each entry of a directory. */
static void each_entry(int directory, void (*what)(int directory, const char *name, uint32_t own), uint32_t own)
{
    _Alignas(struct dirent64) char entries[4096];
    long got;
    while ((got = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0)
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
            what(directory, entry->d_name, own);
            at += entry->d_reclen;
        }
}

static void remove_file(int directory, const char *name, uint32_t own)
{
    (void)own;
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
    each_entry(fd, remove_file, 0);
    unlinkat(top, name, AT_REMOVEDIR);
    close(fd);
}

/* Was it marked KEEP_S ago, or by a clock that has been set back since? */
static bool stale_files_is_due(const struct stat *st)
{
    struct timespec now;
    return !(st->st_mode & S_IWUSR) && clock_gettime(CLOCK_REALTIME, &now) == 0 &&
           (now.tv_sec < st->st_ctim.tv_sec || now.tv_sec - st->st_ctim.tv_sec > KEEP_S);
}

/* The pid of the runtime in a name. */
static uint32_t stale_files_runtime(const char *name)
{
    uint32_t runtime = 0;
    for (const char *digit = name + FIRST_LENGTH; digit < name + FIRST_LENGTH + DIGITS / 2; digit++)
        runtime = runtime << 4 | (uint32_t)(*digit <= '9' ? *digit - '0' : *digit - 'a' + 10);
    return runtime;
}

static void sweep_one(int top, const char *name, uint32_t own)
{
    struct stat st;
    if (strlen(name) != FIRST_LENGTH + DIGITS || memcmp(name, FIRST, FIRST_LENGTH) != 0)
        return;
    int fd = stale_files_take(top, name);
    if (fd < 0)
        return;
    uint32_t runtime = stale_files_runtime(name);
    bool missed = (int32_t)runtime > 0 && runtime != own && (kill((pid_t)runtime, 0) == 0 || errno == EPERM);
    if (!missed || fstat(fd, &st) != 0 || stale_files_is_due(&st)) {
        stale_files_clear(top, name, fd);
        return;
    }
    if (st.st_mode & S_IWUSR) {
        each_entry(fd, remove_file, 0);
        fchmod(fd, S_IRUSR | S_IXUSR);
    }
    close(fd);
}

void pl_stale_files_sweep(uint32_t own)
{
    int top = open(TOP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (top < 0)
        return;
    each_entry(top, sweep_one, own);
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

static pl_scratch_mark *scratch_map_mark(int fd, int protection)
{
    void *mark = mmap(NULL, sizeof(pl_scratch_mark), protection, MAP_SHARED, fd, 0);
    return mark == MAP_FAILED ? NULL : mark;
}

/* The byte is written, so that it has memory: where /dev/shm is full there is no mark, and nothing that is mapped. */
static void scratch_make_mark(struct pl_scratch_dir *scratch_dir)
{
    int fd = openat(scratch_dir->fd, MARK, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return;
    if (pwrite(fd, "", 1, 0) == 1)
        scratch_dir->mark = scratch_map_mark(fd, PROT_READ | PROT_WRITE);
    close(fd);
    if (!scratch_dir->mark)
        unlinkat(scratch_dir->fd, MARK, 0);
}

void pl_scratch_dir_open(struct pl_scratch_dir *scratch_dir, uint32_t runtime)
{
    scratch_dir->mark = NULL;
    for (int tries = 0; tries < TRIES; tries++) {
        uint32_t random;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            break;
        scratch_dir->number = (uint64_t)runtime << 32 | random | 1; /* never 0 */
        stale_files_write_name(scratch_dir->name, scratch_dir->number);
        int made = mkdir(scratch_dir->name, 0700);
        if (made != 0 && errno == EEXIST)
            continue;
        if (made != 0)
            break;
        scratch_dir->fd = stale_files_take(AT_FDCWD, scratch_dir->name);
        if (scratch_dir->fd >= 0 && still_there(scratch_dir->fd) && fchmod(scratch_dir->fd, S_IRWXU) == 0) {
            scratch_make_mark(scratch_dir);
            return; /* it may have been marked before it was held */
        }
        rmdir(scratch_dir->name);
        if (scratch_dir->fd >= 0)
            close(scratch_dir->fd);
    }
    scratch_dir->fd = -1;
    scratch_dir->number = 0;
}

void pl_scratch_dir_mark(const struct pl_scratch_dir *scratch_dir)
{
    if (scratch_dir->mark)
        atomic_store(scratch_dir->mark, 1);
}

void pl_scratch_dir_close(struct pl_scratch_dir *scratch_dir)
{
    pl_scratch_dir_mark(scratch_dir);
    if (scratch_dir->fd >= 0)
        stale_files_clear(AT_FDCWD, scratch_dir->name, scratch_dir->fd);
    pl_scratch_mark_close(scratch_dir->mark);
    scratch_dir->mark = NULL;
    scratch_dir->fd = -1;
    scratch_dir->number = 0;
}

const pl_scratch_mark *pl_scratch_mark_open(uint64_t number)
{
    char path[PL_SCRATCH_DIR_NAME + sizeof MARK];
    struct stat st;
    stale_files_write_name(path, number);
    strcat(path, "/" MARK);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    const pl_scratch_mark *mark = fstat(fd, &st) == 0 && st.st_size > 0 ? scratch_map_mark(fd, PROT_READ) : NULL;
    close(fd);
    return mark;
}

void pl_scratch_mark_close(const pl_scratch_mark *mark)
{
    if (mark)
        munmap((void *)mark, sizeof *mark);
}

enum pl_scratch_state pl_scratch_dir_state(uint64_t number, const pl_scratch_mark *mark)
{
    char name[PL_SCRATCH_DIR_NAME];
    stale_files_write_name(name, number);
    int fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
        return PL_SCRATCH_HELD;
    bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0, there = fd >= 0 && still_there(fd);
    if (fd >= 0)
        close(fd);
    if (held)
        return PL_SCRATCH_HELD;
    return (mark ? atomic_load(mark) == 0 : there) ? PL_SCRATCH_ABANDONED : PL_SCRATCH_CLOSED;
}
