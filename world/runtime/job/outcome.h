/* SPDX-License-Identifier: BSD-3-Clause */
/* What the end of a process means: its event, and whether it ends the job, and with which code. The caller holds the
 * runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_OUTCOME_H
#define PLENUM_WORLD_RUNTIME_JOB_OUTCOME_H

#include "world/runtime/job.h"

enum { PL_CODE_TIMEOUT = 124, PL_CODE_NOT_EXECUTABLE = 126, PL_CODE_NOT_FOUND = 127, PL_CODE_SIGNAL = 128 };

struct pl_ended {
    int rank, pid;
    int status;       /* wait status */
    bool unfinalized; /* MPI was initialized and not finalized */
    bool finalized;   /* the World was */
    bool aborted;     /* it ended itself in an abort, */
    bool held;        /* ... which is held: pl_job_hold_abort() */
    bool unmet;       /* of a spawned job: that had not connected to its parents */
    bool expected;    /* the job, or this part of it, was being ended */
    int64_t time_us;  /* when, in microseconds since 1970; 0: now */
    int64_t run_us;
    struct pl_usage usage;
};

/* The job ends with this code, unless an earlier failure has decided. */
void pl_outcome_decide(struct plenum_job *job, int code);

/* A process has ended. */
void pl_outcome_of_process(struct plenum_job *job, const struct pl_ended *end);

void pl_outcome_write_usage(struct plenum_event *event, int64_t run_us, const struct pl_usage *usage);

#endif
