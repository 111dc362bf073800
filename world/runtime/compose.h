/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns a job's description into the launch plan: programs found, environments merged, cores chosen. */
#ifndef PLENUM_RUNTIME_COMPOSE_H
#define PLENUM_RUNTIME_COMPOSE_H

#include "world/runtime/runtime.h"

/* The descriptor of the plan, close-on-exec and the caller's; -1: *error says why. The job is registered at the PMIx
 * server if it wants one. */
int pl_compose_plan(struct plenum_job *job, int *error);

/* How many cores this process may use. */
int pl_compose_cores(void);

#endif
