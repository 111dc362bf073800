/* SPDX-License-Identifier: BSD-3-Clause */
/* Ownership of a rank: a file with a record lock and a counter. */
#include "plugins/pmix/claim.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file_limit.h"

static int file = -1;

/* 0, or the pid of the owner. The lock belongs to the process: its children do not hold it. */
static pid_t pmix_claim_lock(int fd)
{
    struct flock region = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    if (fcntl(fd, F_SETLK, &region) == 0)
        return 0;
    if (fcntl(fd, F_GETLK, &region) == 0 && region.l_type != F_UNLCK)
        return region.l_pid > 0 ? region.l_pid : 1;
    return 0; /* a file system without locks */
}

static int pmix_claim_open_file(const char *directory, const char *nspace, unsigned rank)
{
    char name[NAME_MAX + 1], path[PATH_MAX];
    snprintf(name, sizeof name, "%.200s", nspace);
    for (char *c = name; *c; c++)
        if (*c == '/')
            *c = '_';
    if ((size_t)snprintf(path, sizeof path, "%s/plenum.%s.%u", directory, name, rank) >= sizeof path)
        return -1;
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

pid_t pl_pmix_claim_take(const char *directory, const char *nspace, unsigned rank, uint32_t *number)
{
    *number = 1;
    file = directory ? pmix_claim_open_file(directory, nspace, rank) : -1;
    if (file < 0)
        return 0;
    pid_t owner = pmix_claim_lock(file);
    if (owner) {
        close(file);
        file = -1;
        return owner;
    }
    uint32_t claims = 0;
    if (pread(file, &claims, sizeof claims, 0) != sizeof claims)
        claims = 0;
    claims++;
    if (pl_file_may_have(sizeof claims) && pwrite(file, &claims, sizeof claims, 0) == sizeof claims)
        *number = claims;
    return 0;
}

void pl_pmix_claim_release(void)
{
    if (file >= 0)
        close(file);
    file = -1;
}
