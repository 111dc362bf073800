/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawn trees: the root is a job that the embedder has launched; the other jobs were spawned by processes of the tree.
 *
 * To the embedder a tree is one job. Events of spawned jobs carry the root's handle, with ranks that continue after its
 * size. All jobs of a tree end together, the first failure in any of them decides the exit code, and the root finishes
 * last. The caller holds the runtime's lock.
 */
#ifndef PLENUM_WORLD_RUNTIME_JOB_SPAWN_TREE_H
#define PLENUM_WORLD_RUNTIME_JOB_SPAWN_TREE_H

#include "world/runtime/job/answers.h"

/* A process asks for more processes. Steals the asker from the question, if it gets the answer later. Gives up the lock
 * meanwhile: its job may have been freed afterwards. */
void pl_spawn_tree_spawn(struct plenum_runtime *rt, struct pl_asked *asked);

/* Does a spawned job of the tree live, or wait for its launch? */
bool pl_spawn_tree_lives(const struct plenum_job *root);

/* Answer the parents of a spawned job; no effect on others. `reason` may be NULL. */
void pl_spawn_tree_started(struct plenum_job *job);
void pl_spawn_tree_failed(struct plenum_job *job, const char *reason);
void pl_spawn_tree_ended(struct plenum_job *job);

/* A process of a spawned job that was started will not connect to the parents: tells them, once. `why` are words behind
 * "rank 1 of the spawned processes". */
void pl_spawn_tree_missed(struct plenum_job *job, int rank, const char *why);

/* Has this spawned job not connected to its parents? Only where the job's segment is; false for other jobs. */
bool pl_spawn_tree_is_unmet(const struct plenum_job *job);

/* If MPI_Init has failed in a process of such a job, the parents are told, or the runtime that has them. */
void pl_spawn_tree_check_unable(struct plenum_job *job);

#endif
