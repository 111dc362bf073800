/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process sets that processes of the job, or its launcher, publish while it runs. They are in the job segment
 * (core/job/sets.h). On hosts only the agent writes them there: a process asks the runtime that has the hosts
 * (core/job/question.h). A process that no launcher started is a job with a table of its own. Other launchers offer
 * none.
 *
 * Any thread; no lock (core/job/sets.h).
 */
#ifndef PLENUM_CORE_JOB_PUBLISHED_SETS_H
#define PLENUM_CORE_JOB_PUBLISHED_SETS_H

#include <stdint.h>

struct pl_job_table;

/* The table of this process's job; its memory is borrowed while the process is open, and NULL if there is none under
 * this launcher. */
struct pl_job_table pl_published_sets_table(void);

/* Publishes a set of the job, or changes it; withdraws it with `ranges` NULL. `ranges`: [2 * count], first rank, last
 * rank; borrowed. MPI_ERR_UNSUPPORTED_OPERATION: there is no table. MPI_ERR_OTHER, MPI_ERR_ARG: the table refuses. */
int pl_published_sets_change(const char *name, const uint32_t *ranges, uint32_t count);

#endif
