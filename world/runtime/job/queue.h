/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of launched jobs that wait for slots and resources. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_QUEUE_H
#define PLENUM_WORLD_RUNTIME_JOB_QUEUE_H

#include "world/runtime/job.h"

/* What the job takes, for the dispatch. */
void pl_queue_describe(struct plenum_job *job);

bool pl_queue_must_wait(struct plenum_job *job);
void pl_queue_append(struct plenum_job *job);

/* Of a job that waits. */
void pl_queue_set_priority(struct plenum_job *job, long priority);

/* Starts the jobs that may start. A job that cannot be started finishes, and may be freed. */
void pl_queue_advance(struct plenum_runtime *rt);

#endif
