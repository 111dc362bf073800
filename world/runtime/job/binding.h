/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks can be bound to: the cores, sockets, NUMA nodes or hardware threads that a process may use. No locking. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_BINDING_H
#define PLENUM_WORLD_RUNTIME_JOB_BINDING_H

#include <sched.h>
#include <stdbool.h>

#include "api/plenum.h"

struct pl_places {
    cpu_set_t *cpus; /* [count]; the rank with number r takes place r % count */
    int count;
};

/* Finds the places within `allowed`, in the order that `map` asks for. What the system does not say about a processor
 * is taken as: a core of its own, on the one socket, in the one NUMA node.
 * @param sys  where sysfs is mounted: "/sys"
 * False: out of memory. */
bool pl_places_find(const char *sys, const cpu_set_t *allowed, enum plenum_bind bind, enum plenum_map map,
                    struct pl_places *places);
void pl_places_fini(struct pl_places *places);

/* "0-3,8"; the length that the whole text has, as snprintf does. */
int pl_places_text(const cpu_set_t *cpus, char *text, size_t size);

#endif
