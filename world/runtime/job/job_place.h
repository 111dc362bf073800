/* SPDX-License-Identifier: BSD-3-Clause */
/* What the embedder says about the cores and the hosts of single ranks. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_JOB_PLACE_H
#define PLENUM_WORLD_RUNTIME_JOB_JOB_PLACE_H

#include "world/runtime/job.h"

/* Are the ranks that have cores or a host in the job, and the hosts in the runtime? Returns an enum plenum_error. */
int pl_job_place_check(const struct plenum_job *job);

/* Have any ranks cores of their own? */
bool pl_job_has_cores(const struct plenum_job *job);

/* The list of cores of a rank that this machine starts; not terminated. NULL: none. */
const char *pl_job_cores(const struct plenum_job *job, int rank, size_t *length);

void pl_job_place_fini(struct pl_job_desc *desc);

#endif
