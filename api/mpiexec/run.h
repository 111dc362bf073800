/* SPDX-License-Identifier: BSD-3-Clause */
/* Following the job: events to output, signals to the job, the terminal to rank 0. */
#ifndef PLENUM_MPIEXEC_RUN_H
#define PLENUM_MPIEXEC_RUN_H

#include <stdio.h>

#include "api/mpiexec/options.h"
#include "api/mpiexec/sink.h"
#include "api/mpiexec/terminal.h"
#include "api/plenum.h"

struct run {
    const struct options *options;
    struct plenum_runtime *runtime;
    struct plenum_job *job;
    struct sink out, err;
    FILE *json; /* NULL: not wanted */
    struct terminal input;
    int signals;    /* signalfd */
    int interrupts; /* SIGINT, SIGTERM and SIGHUP so far */
    int last_interrupt;
    bool finished;
    int code; /* exit code of the job */
};

/* Blocks the signals that mpiexec handles and opens run->signals. Before any thread is started. */
bool run_catch_signals(struct run *run);

/* "mpiexec: ..." on standard error, in order with the output of the ranks. */
void run_say(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Follows the launched job to its end and returns mpiexec's exit code. */
int run_follow(struct run *run);

#endif
