/* SPDX-License-Identifier: BSD-3-Clause */
/* See span_input.h. A regular file cannot be polled: it is read whenever there is room. */
#include "world/runtime/job/span_input.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "world/runtime/job/span.h"
#include "world/runtime/runtime_error.h"

enum { INPUT_READ = 16384 };

struct pl_span_input {
    struct pl_source source;
    struct pl_span_inputs *all;
    int rank, fd;          /* of the job's redirection */
    size_t untaken;        /* bytes under way */
    bool polled, unpolled; /* it is in the set of descriptors; it cannot be */
    bool ended;
};

void pl_span_inputs_init(struct pl_span_inputs *inputs, struct plenum_job *job)
{
    *inputs = (struct pl_span_inputs){ .job = job };
}

static void span_input_rest(struct pl_span_input *input)
{
    if (input->polled)
        pl_runtime_unwatch(input->all->job->runtime, input->fd);
    input->polled = false;
}

void pl_span_inputs_fini(struct pl_span_inputs *inputs)
{
    for (int i = 0; i < inputs->count; i++)
        span_input_rest(&inputs->input[i]);
    free(inputs->input);
    inputs->input = NULL;
    inputs->count = 0;
}

/* False: there is nothing more now. */
static bool span_input_read(struct pl_span_input *input)
{
    char text[INPUT_READ];
    ssize_t got = read(input->fd, text, sizeof text);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    input->ended = got <= 0;
    input->untaken += got > 0 ? (size_t)got : 0;
    pl_span_send_input(input->all->job, input->rank, text, got > 0 ? (size_t)got : 0);
    return !input->ended;
}

static void span_input_go_on(struct pl_span_input *input)
{
    struct plenum_runtime *rt = input->all->job->runtime;
    bool wants = !input->ended && input->untaken < PL_INPUT_AHEAD;
    if (!wants)
        span_input_rest(input);
    else if (!input->polled && !input->unpolled) {
        input->polled = pl_runtime_try_watch(rt, input->fd, &input->source);
        input->unpolled = !input->polled;
    }
    while (input->unpolled && !input->ended && input->untaken < PL_INPUT_AHEAD && span_input_read(input))
        ;
}

static void span_input_ready(struct pl_source *source)
{
    struct pl_span_input *input = PL_CONTAINER(source, struct pl_span_input, source);
    span_input_read(input);
    span_input_go_on(input);
}

/* The descriptor that a rank reads; -1: none of this process. The last redirection that is for the rank counts. */
static int span_input_fd_of(const struct plenum_job *job, int rank)
{
    for (int i = job->desc.redirect_count - 1; i >= 0; i--) {
        const struct pl_redirect *redirect = &job->desc.redirects[i];
        if (redirect->number == 0 && (redirect->rank == rank || redirect->rank == PLENUM_ALL))
            return redirect->file || redirect->null ? -1 : redirect->fd;
    }
    return -1;
}

int pl_span_inputs_start(struct pl_span_inputs *inputs)
{
    struct plenum_job *job = inputs->job;
    inputs->input = pl_calloc((size_t)job->desc.redirect_count + 1, sizeof *inputs->input);
    if (!inputs->input)
        return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for standard input");
    for (int i = 0; i < job->desc.redirect_count; i++) {
        const struct pl_redirect *redirect = &job->desc.redirects[i];
        if (redirect->number != 0 || redirect->rank < 0 || redirect->fd < 0 ||
            redirect->fd != span_input_fd_of(job, redirect->rank))
            continue;
        inputs->input[inputs->count++] = (struct pl_span_input){
            .source.ready = span_input_ready, .all = inputs, .rank = redirect->rank, .fd = redirect->fd
        };
    }
    return PLENUM_OK;
}

void pl_span_inputs_flow(struct pl_span_inputs *inputs)
{
    for (int i = 0; i < inputs->count; i++)
        span_input_go_on(&inputs->input[i]);
}

void pl_span_inputs_taken(struct pl_span_inputs *inputs, struct pl_frame *frame)
{
    uint32_t rank = pl_read_u32(&frame->body), bytes = pl_read_u32(&frame->body);
    for (int i = 0; i < inputs->count; i++) {
        struct pl_span_input *input = &inputs->input[i];
        if ((uint32_t)input->rank != rank)
            continue;
        input->untaken -= bytes < input->untaken ? bytes : input->untaken;
        span_input_go_on(input);
    }
}
