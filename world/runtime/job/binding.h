/* SPDX-License-Identifier: BSD-3-Clause */
/* The places to which ranks can be bound, as in OpenMP: cores, sockets, NUMA nodes or hardware threads that a process
 * may use. No locking. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_BINDING_H
#define PLENUM_WORLD_RUNTIME_JOB_BINDING_H

#include <sched.h>
#include <stdbool.h>

#include "api/plenum.h"

struct pl_binding_places {
    cpu_set_t *cpus; /* [count]; the rank with number r takes the place r % count */
    int count;
};

/* Finds the places within `allowed`, in the order that `map` asks for. A processor that sysfs does not describe counts
 * as a core of its own, on the only socket, in the only NUMA node.
 * @param sys   where sysfs is mounted: "/sys"
 * @param each  cores or the like that make one place, of one socket if possible; 0: one
 * False: out of memory. */
bool pl_binding_find(const char *sys, const cpu_set_t *allowed, enum plenum_bind bind, enum plenum_map map, long each,
                     struct pl_binding_places *places);
void pl_binding_fini(struct pl_binding_places *places);

/* Reorders the places that `count` ranks have taken, for PLENUM_JOB_RANK. False: out of memory. */
bool pl_binding_rank(const char *sys, const cpu_set_t *allowed, enum plenum_map map, enum plenum_rank rank,
                     cpu_set_t *taken, int count);

/* Writes a list such as "0-3,8". Returns the length of the whole text, as snprintf does. */
int pl_binding_text(const cpu_set_t *cpus, char *text, size_t size);

#endif
