/* SPDX-License-Identifier: BSD-3-Clause */
/* See inputs.h. A rank that does not read any more, or has ended, is said to have taken everything. */
#include "world/runtime/agent/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "world/runtime/runtime_error.h"

struct input {
    struct pl_list node; /* in pl_agent.inputs */
    uint32_t job, rank;
    int fd; /* the end that is written; -1: closed */
    struct pl_writer held;
    size_t written; /* bytes of `held` */
    bool last;      /* nothing follows */
};

int pl_inputs_open(struct plenum_job *job, int rank)
{
    int end[2];
    struct input *input = pl_calloc(1, sizeof *input);
    if (!input)
        return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the standard input of rank %d", rank);
    if (pipe2(end, O_CLOEXEC) != 0) {
        free(input);
        return pl_rt_fail_errno("cannot make a pipe for the standard input of rank %d", rank);
    }
    fcntl(end[1], F_SETFL, O_NONBLOCK);
    *input = (struct input){
        .job = pl_agent.next_id, .rank = (uint32_t)rank, .fd = end[1], .held = pl_writer_growing(NULL, 0)
    };
    pl_list_append(&pl_agent.inputs, &input->node);
    int err = plenum_job_redirect(job, rank, STDIN_FILENO, end[0]);
    close(end[0]);
    return err;
}

static void inputs_say_taken(const struct input *input, size_t bytes)
{
    struct pl_writer *to = pl_wire_begin(&pl_agent.wire, PL_FRAME_TAKEN, input->job);
    pl_write_u32(to, input->rank);
    pl_write_u32(to, (uint32_t)bytes);
    pl_wire_end(&pl_agent.wire);
}

static void inputs_hang_up(struct input *input)
{
    if (input->fd >= 0)
        close(input->fd);
    input->fd = -1;
    if (input->held.length > input->written)
        inputs_say_taken(input, input->held.length - input->written);
    pl_writer_trim(&input->held, 0);
    input->written = 0;
}

static void inputs_move(struct input *input)
{
    size_t before = input->written;
    ssize_t done = 1;
    while (input->fd >= 0 && input->written < input->held.length && done > 0) {
        done = write(input->fd, input->held.data + input->written, input->held.length - input->written);
        input->written += done > 0 ? (size_t)done : 0;
    }
    bool dead = done < 0 && errno != EAGAIN && errno != EINTR;
    if (input->written > before)
        inputs_say_taken(input, input->written - before);
    if (dead || (input->written == input->held.length && input->last))
        inputs_hang_up(input);
    else if (input->written == input->held.length) {
        pl_writer_trim(&input->held, 0);
        input->written = 0;
    }
}

void pl_inputs_feed(uint32_t job, struct pl_reader *from)
{
    size_t length;
    uint32_t rank = pl_read_u32(from);
    const unsigned char *data = pl_read_blob(from, SIZE_MAX, &length);
    PL_LIST_EACH(input, &pl_agent.inputs, struct input, node) {
        if (from->failed || input->job != job || input->rank != rank)
            continue;
        pl_write_raw(&input->held, data, length);
        input->last |= length == 0;
        if (input->fd < 0 || input->held.failed)
            inputs_hang_up(input);
        else
            inputs_move(input);
    }
}

static bool inputs_wait(const struct input *input)
{
    return input->fd >= 0 && input->held.length > input->written;
}

int pl_inputs_poll(struct pollfd *p, int space)
{
    int count = 0;
    PL_LIST_EACH(input, &pl_agent.inputs, struct input, node)
        if (count < space && inputs_wait(input))
            p[count++] = (struct pollfd){ .fd = input->fd, .events = POLLOUT };
    return count;
}

void pl_inputs_write(void)
{
    PL_LIST_EACH(input, &pl_agent.inputs, struct input, node)
        if (inputs_wait(input))
            inputs_move(input);
}

void pl_inputs_close(uint32_t job)
{
    PL_LIST_EACH(input, &pl_agent.inputs, struct input, node) {
        if (input->job != job)
            continue;
        if (input->fd >= 0)
            close(input->fd);
        pl_writer_fini(&input->held);
        pl_list_remove(&input->node);
        free(input);
    }
}
