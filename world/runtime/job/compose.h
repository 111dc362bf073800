/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns a job's description into the launch plan: programs found, environments merged, cores chosen. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_COMPOSE_H
#define PLENUM_WORLD_RUNTIME_JOB_COMPOSE_H

#include "world/runtime/runtime.h"

/* Writes the plan into an empty blob, which is the caller's also after an error. The job is registered at the PMIx
 * server if it wants one. */
int pl_compose_plan(struct plenum_job *job, struct pl_blob *plan);

/* Are all programs sure to use our own MPI library, so that they need no PMIx server? */
bool pl_compose_all_native(const struct plenum_job *job);

/* How many cores this process may use. */
int pl_compose_cores(void);

#endif
