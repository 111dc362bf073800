/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See output.h. An embedder that takes no events reads no pipes, so the ranks wait for it, and the queue of events does
 * not grow.
 *
 * A pseudo-terminal is raw: what is written arrives unchanged. It controls no process, so it sends no signals.
 * Its reader gets EIO after the last byte, when no process has the other end open.
 *
 * A process that writes line after line would wake the runtime for each of them. Output that flows rests instead: the
 * runtime does not poll it, and reads it at intervals until one passes without output. A line is late by at most
 * REST_NS, and only if another came less than FLOW_NS before it.
 */
#include "world/runtime/event/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "world/runtime/event/event.h"
#include "world/runtime/job.h"
#include "world/runtime/runtime_error.h"

enum {
    DRAIN_MAX = 64,             /* more reads than any pipe holds data for: after them, a process keeps writing */
    FLOW_NS = 1000000,          /* output that comes twice in this time flows */
    REST_NS = 100000,           /* a terminal holds 12 KiB: at most 120 MB/s pass through it */
    BLOCK_MIN = PL_SCRATCH / 2, /* so much at once comes in blocks: there is nothing to collect */
};

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

/* Reads what is there, up to `rt->scratch`: one read takes at most 4 KiB from a terminal. Returns the bytes, 0 also at
 * the end. */
static size_t output_read(struct pl_output *output)
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
    return ended ? 0 : used;
}

/* A hang-up is reported all the same; output_ready() then reads to the end. */
static void output_poll(struct pl_output *output, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = &output->source };
    epoll_ctl(output->job->runtime->poll.inner, EPOLL_CTL_MOD, output->fd, &event);
}

static void output_set_rest(struct plenum_runtime *rt, long interval)
{
    const struct itimerspec at = { .it_interval.tv_nsec = interval, .it_value.tv_nsec = interval };
    timerfd_settime(rt->rest.timer, 0, &at, NULL);
}

static void output_ready(struct pl_source *source)
{
    struct pl_output *output = PL_CONTAINER(source, struct pl_output, source);
    struct plenum_runtime *rt = output->job->runtime;
    int64_t now = pl_clock_ns(), before = output->read_at;
    output->read_at = now;
    size_t got = output_read(output);
    bool rests = !pl_list_empty(&output->resting);
    if (got == 0 || got >= BLOCK_MIN || now - before > FLOW_NS || rests)
        return;
    output_poll(output, 0);
    if (pl_list_empty(&rt->rest.outputs))
        output_set_rest(rt, REST_NS);
    pl_list_append(&rt->rest.outputs, &output->resting);
}

void pl_output_rest_over(struct plenum_runtime *rt)
{
    uint64_t expirations;
    if (read(rt->rest.timer, &expirations, sizeof expirations) < 0)
        return;
    PL_LIST_EACH(output, &rt->rest.outputs, struct pl_output, resting) {
        size_t got = output_read(output);
        if (output->fd >= 0 && (got == 0 || got >= BLOCK_MIN)) {
            pl_list_remove(&output->resting);
            output_poll(output, EPOLLIN);
            output->read_at = pl_clock_ns();
        }
    }
    if (pl_list_empty(&rt->rest.outputs))
        output_set_rest(rt, 0);
}

void pl_output_drain(struct pl_output *output)
{
    for (int i = 0; i < DRAIN_MAX && output->fd >= 0; i++)
        if (output_read(output) == 0)
            break;
}

void pl_output_close(struct pl_output *output)
{
    if (output->fd < 0)
        return;
    pl_list_remove(&output->resting);
    pl_runtime_unwatch(output->job->runtime, output->fd);
    close(output->fd);
    output->fd = -1;
    pl_lines_end(&output->lines, output_emit, output);
}

int pl_output_hold(struct pl_output *output, bool hold)
{
    if (output->fd < 0)
        return PLENUM_OK;
    pl_list_remove(&output->resting);
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
    pl_list_init(&output->resting);
    int err =
        pl_job_root(job)->handle.holds_output ? PLENUM_OK : pl_runtime_watch(job->runtime, pipe_fd[0], &output->source);
    if (err) {
        close(pipe_fd[0]);
        close(pipe_fd[1]);
        output->fd = -1;
        return err;
    }
    *write_end = pipe_fd[1];
    return PLENUM_OK;
}
