/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns a job's description into the launch plan: finds programs, merges environments, chooses cores. The caller holds
 * the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_COMPOSE_H
#define PLENUM_WORLD_RUNTIME_JOB_COMPOSE_H

#include "world/runtime/job.h"

/* Writes the plan into an empty blob, which the caller frees, also after an error. A job with a PMIx server must be
 * registered there. Returns an enum plenum_error. */
int pl_compose_plan(struct plenum_job *job, struct pl_blob *plan);

/* Chooses places for the ranks of a job that starts, and adds them to its plan. Returns an enum plenum_error. */
/* Takes the resources of the job, and adds the variables about them to its plan. Returns an enum plenum_error. */
int pl_compose_resources(struct plenum_job *job);

int pl_compose_bind(struct plenum_job *job);

/* Do all programs certainly use our own MPI library, so that they need no PMIx server? */
bool pl_compose_all_native(const struct plenum_job *job);

/* The number of processors that this process may use. */
int pl_compose_cores(void);

#endif
