/* SPDX-License-Identifier: BSD-3-Clause */
/* See terminal.h. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "api/mpiexec/terminal.h"

int terminal_open(struct terminal *t)
{
    int ends[2];
    *t = (struct terminal){ .pipe = -1 };
    if (fcntl(STDIN_FILENO, F_GETFD) < 0)
        return -1;
    if (!isatty(STDIN_FILENO))
        return STDIN_FILENO;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    t->pipe = ends[1];
    return ends[0];
}

/* A read in the background would stop mpiexec. */
bool terminal_reads(const struct terminal *t)
{
    return t->pipe >= 0 && t->first == t->used && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

bool terminal_writes(const struct terminal *t)
{
    return t->pipe >= 0 && t->first < t->used;
}

void terminal_close(struct terminal *t)
{
    if (t->pipe >= 0)
        close(t->pipe);
    t->pipe = -1;
}

void terminal_move(struct terminal *t, bool readable)
{
    if (readable && terminal_reads(t)) {
        ssize_t got = read(STDIN_FILENO, t->data, sizeof t->data);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
            terminal_close(t);
        t->first = 0;
        t->used = got > 0 ? (size_t)got : 0;
    }
    if (terminal_writes(t)) {
        ssize_t done = write(t->pipe, t->data + t->first, t->used - t->first);
        if (done > 0)
            t->first += (size_t)done;
        else if (done < 0 && errno != EINTR && errno != EAGAIN)
            terminal_close(t); /* rank 0 no longer reads */
    }
}
