/* SPDX-License-Identifier: BSD-3-Clause */
/* See chatter.h. */
#include "api/mpiexec/chatter.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/base/compiler.h"

/* Reports of a sanitizer must arrive. */
enum { SANITIZED = PL_ADDRESS_SANITIZER || PL_THREAD_SANITIZER };

/* The write end does not block: a thread of a library must not wait for mpiexec. Without a pipe the lines are lost. */
void chatter_catch(struct run *run)
{
    int end[2] = { -1, -1 };
    if (SANITIZED || run->options->pmix == PLENUM_PMIX_OFF)
        return;
    int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (own < 0)
        return;
    int catcher = pipe2(end, O_CLOEXEC | O_NONBLOCK) == 0 ? end[1] : open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (catcher >= 0 && dup2(catcher, STDERR_FILENO) == STDERR_FILENO) {
        run->err.fd = own;
        run->chatter = end[0];
    } else {
        close(own);
        if (end[0] >= 0)
            close(end[0]);
    }
    if (catcher >= 0)
        close(catcher);
}

void chatter_tell(struct run *run)
{
    char text[PIPE_BUF];
    ssize_t got;
    while (run->chatter >= 0 && (got = read(run->chatter, text, sizeof text - 1)) > 0) {
        text[got] = '\0';
        for (char *rest = text, *line; run->options->verbose && (line = strsep(&rest, "\n"));)
            if (*line)
                run_say(run, "note: a library says: %s", line);
    }
}

void chatter_release(struct run *run)
{
    if (run->err.fd == STDERR_FILENO)
        return;
    chatter_tell(run);
    dup2(run->err.fd, STDERR_FILENO);
    if (run->chatter >= 0)
        close(run->chatter);
    run->chatter = -1;
}
