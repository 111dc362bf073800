/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resources of hosts: how many each has, how many jobs have taken there, and whether a job can be placed. Their numbers
 * are chosen by the agent of the host, which has the same resources. The caller holds the runtime's lock.
 */
#ifndef PLENUM_WORLD_RUNTIME_JOB_HOST_RESOURCES_H
#define PLENUM_WORLD_RUNTIME_JOB_HOST_RESOURCES_H

#include "world/runtime/hosts/host.h"
#include "world/runtime/job.h"

/* Of a job for hosts, as pl_job_resources_check(). */
int pl_host_resources_check(struct plenum_job *job);

/* The number of ranks of a job for which the host has enough: now, or if it had no other job. */
int pl_host_resources_space(const struct plenum_job *job, const struct pl_host *host, bool empty);

/* For struct pl_dispatch: do all ranks find a place with what they ask for? */
bool pl_host_resources_place(const struct pl_task *task);

/* `ranks` of the job, which are all that it has on the host, take what they ask for there, or give it back. */
void pl_host_resources_take(const struct plenum_job *job, struct pl_host *host, int ranks);
void pl_host_resources_give(const struct plenum_job *job, struct pl_host *host, int ranks);

/* The hosts have changed: counts anew what there is. */
void pl_host_resources_supply(struct plenum_runtime *rt);

/* ... and ends the jobs that wait for more than there is. */
void pl_host_resources_refuse(struct plenum_runtime *rt);

/* In an agent: the runtime says what this host has; or it is to count that. Returns how many it now has. */
int pl_host_resources_here(struct plenum_runtime *rt, const char *name, int count);

/* The agent has counted. */
void pl_host_resources_found(struct pl_host *host, struct pl_frame *frame);

#endif
