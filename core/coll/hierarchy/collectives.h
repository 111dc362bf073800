/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collectives by a communicator's node hierarchy: whether one is, and running it. See hierarchy.h. */
#ifndef PLENUM_CORE_COLL_HIERARCHY_COLLECTIVES_H
#define PLENUM_CORE_COLL_HIERARCHY_COLLECTIVES_H

#include <stdbool.h>

struct pl_coll;

/* Does a blocking collective by the node hierarchy of its communicator. *rc: MPI error class. False: not this
 * collective, or there is no hierarchy. */
bool pl_coll_try_hierarchy(const struct pl_coll *coll, int *rc);

#endif
