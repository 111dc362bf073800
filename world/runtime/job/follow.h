/* SPDX-License-Identifier: BSD-3-Clause */
/* Following a running job: keeper notices, deadlines, aborts, and the end. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_FOLLOW_H
#define PLENUM_WORLD_RUNTIME_JOB_FOLLOW_H

#include "world/runtime/job.h"

enum { PL_CAUSE_MS = 200 };  /* for which a consequence of a failure waits for the news of the failure */
enum { PL_ROUSE_MS = 1000 }; /* between times that the keeper is continued, struct pl_job_deadline */

void pl_follow_notice(struct plenum_runtime *rt, const struct pl_keeper_notice *notice);
/* The job may be freed. */
void pl_follow_deadlines(struct plenum_job *job, int64_t now);

/* Ends the job and its spawn tree: SIGTERM, and SIGKILL after the grace time. */
void pl_job_terminate(struct plenum_job *job);

/* A process has aborted the job: queues the event, once, and ends the other processes. `object` and `message` may be
 * empty. */
void pl_job_abort(struct plenum_job *job, int rank, int code, const char *object, const char *message);

/* The same for an abort of some of the ranks, after which the others go on. */
void pl_job_abort_some(struct plenum_job *job, int rank, int code, const char *object, const char *message);

/* Does an abort with this code tell only that another process has failed? Then the news of that failure, the cause, may
 * still be on its way. True: the abort is held until the news comes, for a moment at most. */
bool pl_job_hold_abort(struct plenum_job *job, int code);

/* Held aborts are held no longer. They count if the job still runs. */
void pl_job_settle_aborts(struct plenum_job *job);

/* `count` more ranks of the job were started, the last at this time. */
void pl_job_ranks_started(struct plenum_job *job, int count, int64_t time_us);

/* In an agent: starts no further ranks of a part, whose job is being ended. */
void pl_job_part_forgo(struct plenum_job *part);

/* The job or a rank of it cannot be started: `number` is an errno. Ends the job if it runs. */
void pl_job_fail_start(struct plenum_job *job, int rank, int number, const char *reason);

/* The last process of a job has ended. While spawned jobs of its tree live, the root waits for them. A spawned job with
 * a held abort waits until that is settled: a process of another job may be the cause. */
void pl_job_last_process_ended(struct plenum_job *job);

/* Queues the job's last event; no process of it runs. The job may be freed. */
void pl_job_finish(struct plenum_job *job);

#endif
