/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executing schedules (schedule.h).
 *
 * Locking: one thread at a time executes a schedule. It holds no lock, since it may call the user's operations.
 * Blocking: the calling thread. Nonblocking: the message for which the schedule waits completes, with the engine's lock
 * held, and hands the schedule to the thread that drops the lock next; `busy` keeps other threads away.
 */
#ifndef PLENUM_CORE_COLL_SCHEDULE_RUN_H
#define PLENUM_CORE_COLL_SCHEDULE_RUN_H

#include "core/coll/schedule.h"

struct pl_job_item;

/* Runs it to the end. MPI error class. */
int pl_schedule_run(struct pl_schedule *schedule);

/* The same for a collective, which job reports describe. */
int pl_schedule_run_for(struct pl_schedule *schedule, const struct pl_coll *coll);

/* Starts it, a persistent one again; its end completes the request. On an error it was not started. */
int pl_schedule_start(struct pl_schedule *schedule, struct pl_request *request);

/* The schedule that this hook runs: one that was started, and waits; NULL: the hook is another's. */
struct pl_schedule *pl_schedule_of_hook(struct pl_hook *hook);

/* For the engine (core/engine/client.h): tells at whose message the schedule stands, unless a thread executes it at
 * this moment. */
void pl_schedule_describe(const struct pl_request *request, struct pl_job_item *item);

#endif
