/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of the ranks: from pipes to OUTPUT events of whole lines. A host that takes no events reads no pipes, so
 * the ranks wait for it, and nothing piles up. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "world/runtime/error.h"
#include "world/runtime/runtime.h"

/* More than any pipe holds: after so many reads, what comes is from a writer that goes on. */
enum { DRAIN_MAX = 64 };

static void output_emit(void *arg, const char *held, size_t held_length, const char *fresh, size_t length, bool partial)
{
    struct pl_output *stream = arg;
    struct pl_event *event = pl_event_new(stream->job, PLENUM_EVENT_OUTPUT, stream->rank, held_length + length);
    if (!event)
        return;
    char *text = (char *)event->public.text;
    if (held_length > 0)
        memcpy(text, held, held_length);
    if (length > 0)
        memcpy(text + held_length, fresh, length);
    event->public.stream = stream->number;
    event->public.flags = partial ? PLENUM_EVENT_PARTIAL : 0;
    pl_event_queue(stream->job->runtime, event);
}

/* Reads once. False: nothing there, or the end. */
static bool stream_read(struct pl_output *stream)
{
    struct plenum_runtime *rt = stream->job->runtime;
    ssize_t got = read(stream->fd, rt->scratch, PL_SCRATCH);
    if (got > 0) {
        pl_lines_feed(&stream->lines, rt->scratch, (size_t)got, output_emit, stream);
        return true;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        pl_output_close(stream);
    return false;
}

static void stream_ready(struct pl_source *source)
{
    stream_read(PL_CONTAINER(source, struct pl_output, source));
}

void pl_output_drain(struct pl_output *stream)
{
    for (int i = 0; i < DRAIN_MAX && stream->fd >= 0; i++)
        if (!stream_read(stream))
            break;
}

void pl_output_close(struct pl_output *stream)
{
    if (stream->fd < 0)
        return;
    pl_runtime_unwatch(stream->job->runtime, stream->fd);
    close(stream->fd);
    stream->fd = -1;
    pl_lines_end(&stream->lines, output_emit, stream);
}

int pl_output_open(struct pl_output *stream, struct plenum_job *job, int rank, int number, int *write_end)
{
    int pipe_fd[2];
    if (pipe2(pipe_fd, O_CLOEXEC) != 0)
        return errno == EMFILE || errno == ENFILE
                   ? pl_rt_fail(PLENUM_ERR_LIMIT,
                                "%d processes need %d descriptors for their output, more than the "
                                "limit allows (ulimit -n)",
                                job->size, 2 * job->size)
                   : pl_rt_fail_errno("cannot make a pipe for the output of rank %d", rank);
    fcntl(pipe_fd[0], F_SETFL, O_NONBLOCK);
    *stream = (struct pl_output){
        .source.ready = stream_ready, .job = job, .rank = rank, .number = number, .fd = pipe_fd[0]
    };
    int err = pl_runtime_watch(job->runtime, pipe_fd[0], &stream->source);
    if (err) {
        close(pipe_fd[0]);
        close(pipe_fd[1]);
        stream->fd = -1;
        return err;
    }
    *write_end = pipe_fd[1];
    return PLENUM_OK;
}
