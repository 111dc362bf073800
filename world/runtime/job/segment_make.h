/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the job segment of core/job/segment.h from a description. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_SEGMENT_MAKE_H
#define PLENUM_WORLD_RUNTIME_JOB_SEGMENT_MAKE_H

#include "world/runtime/job.h"

/* Maps both parts, as job->segment and job->shared. Their descriptors are close-on-exec, and the caller closes them; an
 * error leaves each at -1 or open. The caller has set job->nspace, job->cookie and job->launch.plan. `slots`: the cores
 * that the job may use. */
int pl_job_segment_make(struct plenum_job *job, int slots, int *description, int *shared);

/* Bytes of a buffer of the job's table of published sets (core/job/sets.h). */
uint32_t pl_job_segment_table_capacity(const struct plenum_job *job);

/* Unmaps both, if they are mapped. */
void pl_job_segment_unmap(struct plenum_job *job);

#endif
