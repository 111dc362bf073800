/* SPDX-License-Identifier: BSD-3-Clause */
/* The resources that a job asks for, and the numbers that its ranks get. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_JOB_RESOURCES_H
#define PLENUM_WORLD_RUNTIME_JOB_JOB_RESOURCES_H

#include "world/runtime/job.h"

/* The kind with this name; 0: there is none. */
int pl_job_resources_find(const struct plenum_runtime *rt, const char *name);

/* Returns an enum plenum_error. */
int pl_job_resources_check_name(const char *name);

/* The kind of a resource that hosts have; a new one if there is none of this name. Returns an enum plenum_error. */
int pl_job_resources_of_hosts(struct plenum_runtime *rt, const char *name, int *kind);

/* Finds what the job asks for, for the dispatch. Returns an enum plenum_error: there never is enough. */
int pl_job_resources_check(struct plenum_job *job);

/* Takes and gives back the numbers. Returns an enum plenum_error. */
int pl_job_resources_take(struct plenum_job *job);
void pl_job_resources_give(struct plenum_job *job);

/* Sets the variables that tell a rank its numbers. Returns an enum plenum_error. */
int pl_job_resources_environment(const struct plenum_job *job, int rank, struct pl_vars *vars);

/* Removes what the embedder has of them, when the processes run on other hosts. */
void pl_job_resources_forget(const struct plenum_job *job, struct pl_vars *vars);

/* Unsets what the embedder has of them. */
int pl_job_resources_hide(const struct plenum_job *job, struct pl_vars *vars);

#endif
