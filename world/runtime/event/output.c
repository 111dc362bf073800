/* SPDX-License-Identifier: BSD-3-Clause */
/* See output.h. An embedder that takes no events reads no pipes, so the ranks wait for it, and the queue of events does
 * not grow. */
#include "world/runtime/event/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "world/runtime/event/event.h"
#include "world/runtime/job.h"
#include "world/runtime/runtime_error.h"

/* More reads than any pipe holds data for: after them, a process keeps writing. */
enum { DRAIN_MAX = 64 };

static void output_emit(void *arg, const char *held, size_t held_length, const char *fresh, size_t length, bool partial)
{
    struct pl_output *output = arg;
    struct pl_event *event = pl_event_new(output->job, PLENUM_EVENT_OUTPUT, output->rank, held_length + length);
    if (!event)
        return;
    char *text = (char *)event->public.text;
    if (held_length > 0)
        memcpy(text, held, held_length);
    if (length > 0)
        memcpy(text + held_length, fresh, length);
    event->public.stream = output->number;
    event->public.flags = partial ? PLENUM_EVENT_PARTIAL : 0;
    pl_event_queue(output->job->runtime, event);
}

/* Reads once. False: the pipe is empty, or at its end. */
static bool output_read(struct pl_output *output)
{
    struct plenum_runtime *rt = output->job->runtime;
    ssize_t got = read(output->fd, rt->scratch, PL_SCRATCH);
    if (got > 0) {
        pl_lines_feed(&output->lines, rt->scratch, (size_t)got, output_emit, output);
        return true;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        pl_output_close(output);
    return false;
}

static void output_ready(struct pl_source *source)
{
    output_read(PL_CONTAINER(source, struct pl_output, source));
}

void pl_output_drain(struct pl_output *output)
{
    for (int i = 0; i < DRAIN_MAX && output->fd >= 0; i++)
        if (!output_read(output))
            break;
}

void pl_output_close(struct pl_output *output)
{
    if (output->fd < 0)
        return;
    pl_runtime_unwatch(output->job->runtime, output->fd);
    close(output->fd);
    output->fd = -1;
    pl_lines_end(&output->lines, output_emit, output);
}

int pl_output_open(struct pl_output *output, struct plenum_job *job, int rank, int number, int *write_end)
{
    int pipe_fd[2];
    if (pipe2(pipe_fd, O_CLOEXEC) != 0)
        return errno == EMFILE || errno == ENFILE
                   ? pl_rt_fail(PLENUM_ERR_LIMIT,
                                "the output of %d processes needs %d descriptors, more than the "
                                "limit allows (ulimit -n)",
                                job->desc.size, 2 * job->desc.size)
                   : pl_rt_fail_errno("cannot make a pipe for the output of rank %d", rank);
    fcntl(pipe_fd[0], F_SETFL, O_NONBLOCK);
    *output = (struct pl_output){
        .source.ready = output_ready, .job = job, .rank = rank, .number = number, .fd = pipe_fd[0]
    };
    int err = pl_runtime_watch(job->runtime, pipe_fd[0], &output->source);
    if (err) {
        close(pipe_fd[0]);
        close(pipe_fd[1]);
        output->fd = -1;
        return err;
    }
    *write_end = pipe_fd[1];
    return PLENUM_OK;
}
