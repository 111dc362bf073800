/* SPDX-License-Identifier: BSD-3-Clause */
/* See lacking.h. The processes without shared memory bind different names, as each may end before another comes. */
#include "core/job/lacking.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/base/log.h"

enum { NAMES = 8, PAUSE_MS = 100 };

static _Atomic int told = -1;
static _Atomic bool known;
static _Atomic int64_t next;

static int lacking_socket(void)
{
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static socklen_t lacking_name(const char *job, int number, struct sockaddr_un *name)
{
    uint64_t key = pl_hash_text(PL_HASH_BEGIN, job);
    *name = (struct sockaddr_un){ .sun_family = AF_UNIX };
    int length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "plenum-lacking-%016llx-%d",
                          (unsigned long long)key, number);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

void pl_lacking_tell(const char *job)
{
    struct sockaddr_un name;
    if (atomic_load(&told) >= 0)
        return;
    atomic_store(&known, true);
    int fd = lacking_socket(), rc = -1;
    for (int i = 0; fd >= 0 && rc && i < NAMES; i++)
        rc = bind(fd, (struct sockaddr *)&name, lacking_name(job, i, &name));
    if (rc == 0)
        atomic_store(&told, fd);
    else if (fd >= 0)
        close(fd);
    if (rc && (fd < 0 || errno != EADDRINUSE)) /* others that have the names say it, too */
        pl_log("process", 1, "cannot tell the other processes that this one has no shared memory: %s", strerror(errno));
}

void pl_lacking_forget(void)
{
    int fd = atomic_exchange(&told, -1);
    if (fd >= 0)
        close(fd);
    atomic_store(&known, false);
    atomic_store(&next, 0);
}

bool pl_lacking_ask(const char *job, bool now)
{
    struct sockaddr_un name;
    int64_t time = pl_clock_ms();
    if (atomic_load_explicit(&known, memory_order_relaxed))
        return true;
    if (!now && time < atomic_load_explicit(&next, memory_order_relaxed))
        return false;
    atomic_store_explicit(&next, time + PAUSE_MS, memory_order_relaxed);
    int fd = lacking_socket();
    bool found = false;
    for (int i = 0; fd >= 0 && !found && i < NAMES; i++)
        found = connect(fd, (struct sockaddr *)&name, lacking_name(job, i, &name)) == 0;
    if (fd >= 0)
        close(fd);
    if (found)
        atomic_store(&known, true);
    return found;
}
