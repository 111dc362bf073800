/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of launched jobs that wait for slots. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_QUEUE_H
#define PLENUM_WORLD_RUNTIME_JOB_QUEUE_H

#include "world/runtime/job.h"

bool pl_queue_must_wait(const struct plenum_job *job);
void pl_queue_append(struct plenum_job *job);

/* Starts the jobs that fit. A job that cannot be started finishes, and may be freed. */
void pl_queue_advance(struct plenum_runtime *rt);

#endif
