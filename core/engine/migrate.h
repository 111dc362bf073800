/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that waits goes to another core, where the kernel leaves it on one that others need. */
#ifndef PLENUM_CORE_ENGINE_MIGRATE_H
#define PLENUM_CORE_ENGINE_MIGRATE_H

#include <sched.h>

#include "core/engine/engine.h"

/* True if no thread of the engine has been told so lately: for a millisecond, and twice as long after each try, up to
 * 16 (pl_engine_wait.apart_tries, which the caller counts). */
bool pl_migrate_is_due(struct pl_engine *engine);

/* The calling thread goes to one of these cores, if it may use one, and may then use all of them as before. */
void pl_migrate_to(const cpu_set_t *cores);

/* The same: to any core except the one that it is on. */
void pl_migrate_away(void);

#endif
