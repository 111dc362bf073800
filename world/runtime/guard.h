/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the public functions begin and end. A function that has entered holds the runtime's lock and is counted: it may
 * give up the lock and take it again, and what it works on is not freed before it leaves. So an object may be closed
 * while other threads are inside functions on it; these find it closed when they have the lock again.
 *
 * A process that was forked from the one that opened a runtime shares its keeper and its descriptors. It is refused
 * before it touches any of them, the lock included, which a thread that was not forked may hold.
 */
#ifndef PLENUM_WORLD_RUNTIME_GUARD_H
#define PLENUM_WORLD_RUNTIME_GUARD_H

#include "world/runtime/job.h"

/* Takes the lock. Otherwise returns an error: the runtime is NULL, closed, or that of the parent process. */
int pl_runtime_enter(struct plenum_runtime *rt);

/* Gives up the lock. Returns `err`. */
int pl_runtime_leave(struct plenum_runtime *rt, int err);

/* The same for a job and its runtime. The last function to leave a closed job that neither waits nor runs frees it. */
int pl_job_enter(const struct plenum_job *job);
int pl_job_leave(const struct plenum_job *job, int err);

/* The lock is held: has another thread closed the job or its runtime? */
int pl_job_check_open(const struct plenum_job *job);

/* Takes the lock whether the object is closed or not. False: NULL, or of the parent process. */
bool pl_runtime_enter_anyway(struct plenum_runtime *rt);
bool pl_job_enter_anyway(struct plenum_job *job);

#endif
