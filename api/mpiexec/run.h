/* SPDX-License-Identifier: BSD-3-Clause */
/* Follows the job: prints its events, forwards signals to it and the terminal's input to rank 0. */
#ifndef PLENUM_MPIEXEC_RUN_H
#define PLENUM_MPIEXEC_RUN_H

#include <stdio.h>

#include "api/mpiexec/options.h"
#include "api/mpiexec/sink.h"
#include "api/mpiexec/terminal.h"
#include "api/plenum.h"

#include "core/base/compiler.h"

enum { CODE_SIGNAL = 128 }; /* exit codes of jobs that a signal has ended begin here */

struct run {
    const struct options *options;
    bool on_hosts; /* --launcher ssh */
    struct plenum_runtime *runtime;
    struct plenum_job *job;
    struct sink out, err;
    FILE *json; /* NULL: not wanted */
    struct terminal input;
    int signals;    /* signalfd */
    int chatter;    /* what libraries print (chatter.h); -1: not caught */
    int interrupts; /* SIGINT, SIGTERM and SIGHUP so far */
    int last_interrupt;
    long oom_kills; /* pl_proc_oom_kills() at the beginning */
    /* A shell's background job: it ignores SIGINT and SIGQUIT of the terminal, but not those of kill. */
    bool background;
    bool started, finished;
    int code; /* exit code of the job */
};

/* Blocks the signals that mpiexec handles and opens run->signals. Must be called before any thread is started. */
bool run_catch_signals(struct run *run);

/* Prints "mpiexec: ..." on standard error, after the output that ranks have written so far. */
PL_PRINTF(2, 3) void run_say(struct run *run, const char *format, ...);

/* Handles the events that there are, unless the output is not taken. */
void run_take_events(struct run *run);

/* Follows the launched job to its end and returns mpiexec's exit code. */
int run_follow(struct run *run);

/* With --report-bindings and --verbose: the processors of each rank. */
void run_say_bindings(struct run *run);

#endif
