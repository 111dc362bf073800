/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives by a communicator's node hierarchy: whether one is, and doing it. See hierarchy.h. */
#ifndef PLENUM_CORE_COLL_HIERARCHY_COLLECTIVES_H
#define PLENUM_CORE_COLL_HIERARCHY_COLLECTIVES_H

#include <stdbool.h>

struct pl_coll;
struct pl_hierarchy;
struct pl_schedule;

/* Does a blocking collective by the node hierarchy of its communicator. *rc: MPI error class. False: not this
 * collective, or there is no hierarchy. */
bool pl_coll_try_hierarchy(const struct pl_coll *coll, int *rc);

/* Is a nonblocking collective one that goes by a hierarchy, if there is one? Alike on all ranks. */
bool pl_hierarchy_is_for(const struct pl_coll *coll);

/* Appends it. False: not where the ranks are placed like this. Alike on all ranks, too. */
bool pl_hierarchy_append(struct pl_schedule *schedule, const struct pl_coll *coll,
                         const struct pl_hierarchy *hierarchy);

#endif
