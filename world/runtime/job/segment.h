/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the job segment of core/job/segment.h from a description. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_SEGMENT_H
#define PLENUM_WORLD_RUNTIME_JOB_SEGMENT_H

#include "world/runtime/runtime.h"

/* Fills in job->segment (mapped) and returns its descriptor, close-on-exec and the caller's; -1: *error says why.
 * The caller has set job->nspace and job->cookie, and given the cores that the job may use. */
int pl_job_segment_make(struct plenum_job *job, int slots, int *error);

#endif
