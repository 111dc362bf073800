/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Families: a job that the host has launched, and those that its processes have spawned, or the processes of these.
 *
 * To the host they are one job. The events of the spawned are the first job's, with ranks that count on from its size;
 * they end together; the first failure of any of them decides the exit code; and the job has finished when all have.
 * The runtime's lock is held in all functions.
 */
#ifndef PLENUM_WORLD_RUNTIME_JOB_SPAWN_TREE_H
#define PLENUM_WORLD_RUNTIME_JOB_SPAWN_TREE_H

#include "core/job/note.h"
#include "world/runtime/runtime.h"

/* The job that the host knows. */
static inline struct plenum_job *pl_spawn_tree_head(struct plenum_job *job)
{
    return job->tree_head ? job->tree_head : job;
}

/* A process asks for others. The lock is given up meanwhile: the job may be gone afterwards. */
void pl_spawn_tree_spawn(struct plenum_job *job, const struct pl_job_note *note);

/* Does any of its spawned jobs live? */
bool pl_spawn_tree_lives(const struct plenum_job *head);

/* Is it a spawned job of which the parents still wait to hear that it runs? What fails then is theirs to know. */
bool pl_spawn_tree_is_new(const struct plenum_job *job);

/* Tells the parents. `reason` may be NULL. */
void pl_spawn_tree_started(struct plenum_job *job);
void pl_spawn_tree_failed(struct plenum_job *job, const char *reason);
void pl_spawn_tree_ended(struct plenum_job *job);

#endif
