/* SPDX-License-Identifier: BSD-3-Clause */
/* Where on its node a process runs, as far as it decides how far a cache line has to travel. */
#ifndef PLENUM_CORE_COLL_AREA_PLACE_H
#define PLENUM_CORE_COLL_AREA_PLACE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Each by its lowest processor, or another number that distinguishes it; -1: not known, or the process may run in
 * several. */
struct pl_area_place {
    int32_t package, node, cache; /* `node`: of memory; `cache`: of the last level */
    int32_t given;                /* 1: by the configuration variable coll_places */
};

/* The place of a process that may run on these processors. `sys`: where sysfs is mounted. */
struct pl_area_place pl_area_place_in(const char *sys, const cpu_set_t *allowed);

/* The place of this thread, or the one that the configuration variable coll_places gives this process. `only_given`:
 * else not known. Reads sysfs only if the thread is bound to other processors than the last time. */
struct pl_area_place pl_area_place_self(bool only_given);

/* Is this a value of the variable? */
bool pl_area_places_valid(const char *text);
#define PL_AREA_PLACES_ALLOWED "auto|none|PACKAGESxCACHES such as 2x4"

#endif
