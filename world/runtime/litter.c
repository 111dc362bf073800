/* SPDX-License-Identifier: BSD-3-Clause */
/* See litter.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "world/runtime/litter.h"

#define TOP "/dev/shm"

bool pl_litter_possible(void)
{
    return access(TOP, W_OK | X_OK) == 0;
}

void pl_litter_name(uint64_t cookie, char name[PL_LITTER_NAME])
{
    static const char before[] = TOP "/plenum-";
    char *end = name + sizeof(before) - 1 + 16;
    memcpy(name, before, sizeof(before) - 1);
    *end = '\0';
    for (int i = 0; i < 16; i++, cookie >>= 4)
        *--end = "0123456789abcdef"[cookie & 15];
}

void pl_litter_make(uint64_t cookie)
{
    char name[PL_LITTER_NAME];
    pl_litter_name(cookie, name);
    mkdir(name, 0700);
}

/* Takes away the files whose entries the kernel has written to `entries`. */
static void remove_files(int directory, const char *entries, long bytes)
{
    for (long at = 0; at < bytes;) {
        const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
        unlinkat(directory, entry->d_name, 0);
        at += entry->d_reclen;
    }
}

void pl_litter_remove(uint64_t cookie)
{
    char name[PL_LITTER_NAME];
    _Alignas(struct dirent64) char entries[4096];
    long got;
    pl_litter_name(cookie, name);
    if (rmdir(name) == 0 || errno == ENOENT)
        return;
    int directory = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return;
    while ((got = syscall(SYS_getdents64, directory, entries, sizeof(entries))) > 0)
        remove_files(directory, entries, got);
    close(directory);
    rmdir(name);
}
