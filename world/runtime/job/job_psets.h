/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets that are published, changed and withdrawn while a job runs. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_JOB_PSETS_H
#define PLENUM_WORLD_RUNTIME_JOB_JOB_PSETS_H

#include "world/runtime/job.h"

/* Refuses a name that no set of a job may have, names of built-in sets included. Needs no lock. Returns an enum
 * plenum_error. */
int pl_pset_name_refuse(const char *name);

/* A rank publishes a set, changes it, or withdraws it with `ranges` NULL. `version`: of the table afterwards. NULL, or
 * what is wrong with the set, valid until the thread's next error. */
const char *pl_job_psets_change(struct plenum_job *job, const char *name, const uint32_t *ranges, uint32_t count,
                                uint64_t *version);

/* Queues a PSETS event if the published sets have changed since the last one. */
void pl_job_psets_check(struct plenum_job *job);

#endif
