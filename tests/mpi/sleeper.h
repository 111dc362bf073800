/* SPDX-License-Identifier: BSD-3-Clause */
/* One process of a job sleeps, without MPI, until others wake it: by a socket whose name derives from that of the job,
 * and is in no directory. */
#ifndef PLENUM_TESTS_SLEEPER_H
#define PLENUM_TESTS_SLEEPER_H

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "mtest.h"

static inline int sleeper_open(struct sockaddr_un *name)
{
    const char *job = getenv("PLENUM_JOB"), *cookie = job ? strchr(job, ':') : NULL;
    *name = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (cookie)
        snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "plenum-sleeps%.17s", cookie);
    return cookie ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
}

/* Until that many wake-ups have come. */
static inline void sleeper_sleep(int wakes)
{
    struct sockaddr_un name;
    char word;
    int fd = sleeper_open(&name);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
    while (wakes-- > 0)
        CHECK(recv(fd, &word, 1, 0) == 1);
    close(fd);
}

static inline void sleeper_wake(void)
{
    struct sockaddr_un name;
    int fd = sleeper_open(&name);
    CHECK(fd >= 0);
    while (sendto(fd, "", 1, 0, (struct sockaddr *)&name, sizeof name) != 1)
        usleep(1000); /* it does not sleep yet */
    close(fd);
}

#endif
