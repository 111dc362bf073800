/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the job segment of core/job/segment.h from a description. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_SEGMENT_MAKE_H
#define PLENUM_WORLD_RUNTIME_JOB_SEGMENT_MAKE_H

#include "world/runtime/job.h"

/* Maps the segment as job->segment and returns its descriptor, close-on-exec, which the caller closes; -1: *error says
 * why. The caller has set job->nspace, job->cookie and job->launch.plan. `slots`: the cores that the job may use. */
int pl_job_segment_make(struct plenum_job *job, int slots, int *error);

#endif
