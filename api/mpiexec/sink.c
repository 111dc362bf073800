/* SPDX-License-Identifier: BSD-3-Clause */
/* See sink.h. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "api/mpiexec/sink.h"
#include "core/base/memory.h"

void sink_init(struct sink *sink, int fd)
{
    struct stat st;
    *sink = (struct sink){ .fd = fd };
    sink->file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

size_t sink_waiting(const struct sink *sink)
{
    return sink->used - sink->first;
}

void sink_drop(struct sink *sink)
{
    sink->closed = true;
    sink->first = sink->used = 0;
    free(sink->data);
    sink->data = NULL;
    sink->capacity = 0;
}

static bool sink_reserve(struct sink *sink, size_t length)
{
    if (sink->first > 0 && sink->used + length > sink->capacity) {
        memmove(sink->data, sink->data + sink->first, sink_waiting(sink));
        sink->used -= sink->first;
        sink->first = 0;
    }
    if (sink->used + length <= sink->capacity)
        return true;
    size_t capacity = 2 * (sink->used + length);
    char *data = pl_realloc(sink->data, capacity);
    if (!data)
        return false;
    sink->data = data;
    sink->capacity = capacity;
    return true;
}

/* A pipe that poll() reports as writable takes PIPE_BUF bytes without blocking. */
static bool sink_writable(const struct sink *sink)
{
    struct pollfd p = { .fd = sink->fd, .events = POLLOUT };
    return poll(&p, 1, 0) != 0; /* denied: then it may block */
}

/* Writes a part, without blocking. Terminals and the pipes of older kernels refuse RWF_NOWAIT. Returns what write()
 * does, with EAGAIN if there is no room now. */
static ssize_t sink_write(struct sink *sink, const char *data, size_t length)
{
    struct iovec all = { .iov_base = (void *)data, .iov_len = length };
    if (sink->file)
        return write(sink->fd, data, length);
    if (!sink->polled) {
        ssize_t done = pwritev2(sink->fd, &all, 1, -1, RWF_NOWAIT);
        if (done >= 0 || errno == EAGAIN || errno == EINTR || errno == EPIPE)
            return done;
        sink->polled = true;
    }
    if (sink_writable(sink))
        return write(sink->fd, data, length < PIPE_BUF ? length : PIPE_BUF);
    errno = EAGAIN;
    return -1;
}

void sink_put(struct sink *sink, const char *text, size_t length)
{
    if (sink->closed || length == 0)
        return;
    sink->midline = text[length - 1] != '\n';
    if (length >= SINK_LARGE && sink_waiting(sink) == 0) {
        ssize_t done = sink_write(sink, text, length); /* an error comes again with the rest, in sink_flush() */
        text += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
        if (length == 0)
            return;
    }
    if (!sink_reserve(sink, length)) {
        perror("mpiexec: lost some output");
        return;
    }
    memcpy(sink->data + sink->used, text, length);
    sink->used += length;
    if (sink_waiting(sink) >= SINK_LARGE)
        sink_flush(sink);
}

void sink_flush(struct sink *sink)
{
    while (sink_waiting(sink) > 0) {
        ssize_t done = sink_write(sink, sink->data + sink->first, sink_waiting(sink));
        if (done < 0 && (errno == EINTR || errno == EAGAIN))
            return;
        if (done < 0) {
            sink->error = errno;
            sink_drop(sink);
            return;
        }
        sink->first += (size_t)done;
    }
    if (sink_waiting(sink) == 0)
        sink->first = sink->used = 0;
}
