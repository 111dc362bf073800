/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of the ranks, from pipes or terminals to OUTPUT events of whole lines. The caller holds the runtime's
 * lock. */
#ifndef PLENUM_WORLD_RUNTIME_EVENT_OUTPUT_H
#define PLENUM_WORLD_RUNTIME_EVENT_OUTPUT_H

#include "world/runtime/event/lines.h"
#include "world/runtime/runtime.h"

struct plenum_job;

/* The read end of a rank's standard output or standard error. */
struct pl_output {
    struct pl_source source;
    struct plenum_job *job;
    int rank, number;       /* number of the descriptor: 1 or 2 */
    int fd;                 /* -1: closed, or redirected */
    bool terminal;          /* `fd` is a pseudo-terminal's */
    int64_t read_at;        /* when it was last ready */
    struct pl_list resting; /* in the runtime's list while it is not polled */
    struct pl_lines lines;
};

/* Makes the pipe, or the terminal (PLENUM_JOB_TERMINAL), and polls it. `*write_end` is the caller's to close.
 * Returns an enum plenum_error. */
int pl_output_open(struct pl_output *output, struct plenum_job *job, int rank, int number, int *write_end);

/* Reads nothing until the end of the process, or goes on. Returns an enum plenum_error. */
int pl_output_hold(struct pl_output *output, bool hold);

/* Reads what the pipe holds. Returns also when a process keeps writing. */
void pl_output_drain(struct pl_output *output);

/* Queues an incomplete last line and closes the pipe. */
void pl_output_close(struct pl_output *output);

/* Reads the outputs that rest, and polls those again that have nothing. */
void pl_output_rest_over(struct plenum_runtime *rt);

#endif
