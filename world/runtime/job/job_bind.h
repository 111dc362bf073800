/* SPDX-License-Identifier: BSD-3-Clause */
/* Which places (job/binding.h) the ranks of a job take: those that the jobs that run use least. The caller holds the
 * runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_JOB_BIND_H
#define PLENUM_WORLD_RUNTIME_JOB_JOB_BIND_H

#include <sched.h>

#include "world/runtime/hosts/host_wire.h"
#include "world/runtime/job.h"

/* Chooses a set of processors for each rank into `*chosen` [size], which the caller frees; NULL: they are not bound.
 * Returns an enum plenum_error. */
int pl_job_bind(const struct plenum_job *job, cpu_set_t **chosen);

/* In an agent: tells the runtime the processors of the ranks here, if they are bound. */
void pl_job_bind_tell(const struct plenum_job *part);

/* An agent has told them. */
void pl_job_bind_told(struct plenum_job *job, int part, struct pl_frame *frame);

#endif
