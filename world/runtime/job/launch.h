/* SPDX-License-Identifier: BSD-3-Clause */
/* The start of a launched job. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_LAUNCH_H
#define PLENUM_WORLD_RUNTIME_JOB_LAUNCH_H

#include "world/runtime/job.h"

/* Returns an enum plenum_error, with errno set as well. After an error the job is as it was launched. */
int pl_launch_start(struct plenum_job *job);

#endif
