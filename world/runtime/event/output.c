/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See output.h. An embedder that takes no events reads no pipes, so the ranks wait for it, and the queue of events does
 * not grow.
 *
 * A pseudo-terminal is raw: what is written arrives unchanged. It controls no process, so it sends no signals.
 * Its reader gets EIO after the last byte, when no process has the other end open.
 */
#include "world/runtime/event/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
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

/* Reads what is there, up to `rt->scratch`: one read takes at most 4 KiB from a terminal. False: it is empty, or at its
 * end. */
static bool output_read(struct pl_output *output)
{
    struct plenum_runtime *rt = output->job->runtime;
    size_t used = 0;
    ssize_t got;
    do {
        got = read(output->fd, rt->scratch + used, PL_SCRATCH - used);
        used += got > 0 ? (size_t)got : 0;
    } while (got > 0 && output->terminal && used < PL_SCRATCH);
    bool ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    if (used > 0)
        pl_lines_feed(&output->lines, rt->scratch, used, output_emit, output);
    if (ended) {
        pl_runtime_rouse_keeper(rt); /* the process has probably ended: the keeper should say so */
        pl_output_close(output);
    }
    return used > 0 && !ended;
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

int pl_output_hold(struct pl_output *output, bool hold)
{
    if (output->fd < 0)
        return PLENUM_OK;
    pl_runtime_unwatch(output->job->runtime, output->fd);
    return hold ? PLENUM_OK : pl_runtime_watch(output->job->runtime, output->fd, &output->source);
}

/* The two ends as pipe2() gives them. False: this machine has no pseudo-terminal left, or none at all. */
static bool output_open_terminal(int end[2])
{
    struct termios raw;
    int locked = 0;
    end[0] = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (end[0] < 0)
        return false;
    end[1] = ioctl(end[0], TIOCSPTLCK, &locked) == 0 ? ioctl(end[0], TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
    if (end[1] >= 0 && tcgetattr(end[1], &raw) == 0) {
        cfmakeraw(&raw);
        if (tcsetattr(end[1], TCSANOW, &raw) == 0)
            return true;
    }
    close(end[0]);
    if (end[1] >= 0)
        close(end[1]);
    return false;
}

int pl_output_open(struct pl_output *output, struct plenum_job *job, int rank, int number, int *write_end)
{
    int pipe_fd[2];
    bool terminal = number == STDOUT_FILENO && job->desc.option[PLENUM_JOB_TERMINAL] && output_open_terminal(pipe_fd);
    if (!terminal && pipe2(pipe_fd, O_CLOEXEC) != 0)
        return errno == EMFILE || errno == ENFILE
                   ? pl_rt_fail(PLENUM_ERR_LIMIT,
                                "the output of %d processes needs %d descriptors, more than the "
                                "limit allows (ulimit -n)",
                                job->desc.size, 2 * job->desc.size)
                   : pl_rt_fail_errno("cannot make a pipe for the output of rank %d", rank);
    fcntl(pipe_fd[0], F_SETFL, O_NONBLOCK);
    *output = (struct pl_output){
        .source.ready = output_ready,
        .job = job,
        .rank = rank,
        .number = number,
        .fd = pipe_fd[0],
        .terminal = terminal,
    };
    int err = pl_output_hold(output, pl_job_root(job)->handle.holds_output);
    if (err) {
        close(pipe_fd[0]);
        close(pipe_fd[1]);
        output->fd = -1;
        return err;
    }
    *write_end = pipe_fd[1];
    return PLENUM_OK;
}
