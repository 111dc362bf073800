/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress threads: one for each instance that asks for it (PLENUM_PROGRESS=thread, info key plenum_progress). It makes
 * progress while the program computes. Nonblocking collectives, long messages and one-sided operations that the target
 * executes then go on.
 *
 * It sleeps in the transports until a message comes, and steps back while the program's own threads make progress. It
 * never runs functions of the program: deferred work that may do so waits for a thread of the program.
 *
 * With a progress thread the engine's lock is real at all thread levels.
 */
#ifndef PLENUM_CORE_ENGINE_PROGRESS_H
#define PLENUM_CORE_ENGINE_PROGRESS_H

#include <stdbool.h>

struct pl_engine;
struct pl_list;

#define PL_PROGRESS_KEY    "plenum_progress"
#define PL_PROGRESS_NONE   "none"
#define PL_PROGRESS_THREAD "thread"

/* Starts the thread of an engine that was opened for one. Lock not held, by the only thread that uses the engine. */
int pl_progress_start(struct pl_engine *engine);

/* Ends and joins it, if there is one. Lock not held. */
void pl_progress_stop(struct pl_engine *engine);

/* Is the caller a progress thread? */
bool pl_progress_is_this_thread(void);

/* Called on a progress thread that leaves the engine: work in `deferred` that may call the program goes back to the
 * engine, and a thread of the program that sleeps there wakes. Lock held. */
void pl_progress_leave_to_user(struct pl_engine *engine, struct pl_list *deferred);

#endif
