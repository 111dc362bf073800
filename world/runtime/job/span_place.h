/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the runtime's hosts the ranks of a job get. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_SPAN_PLACE_H
#define PLENUM_WORLD_RUNTIME_JOB_SPAN_PLACE_H

#include "world/runtime/job.h"

/* Chooses a host for each rank, and makes the parts of those that have some. On an error what was made stays in the
 * span. Returns an enum plenum_error. */
int pl_span_place(struct plenum_job *job);

#endif
