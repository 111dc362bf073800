/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that waits goes to another core, where the kernel leaves it on one that others need. */
#ifndef PLENUM_CORE_ENGINE_MIGRATE_H
#define PLENUM_CORE_ENGINE_MIGRATE_H

#include <sched.h>
#include <stdbool.h>

/* The calling thread goes to one of these cores, and may then use the same ones as before. False: it may use none of
 * them, and stays. */
bool pl_migrate_to(const cpu_set_t *cores);

/* The same: to any core except the one that it is on. */
void pl_migrate_away(void);

#endif
