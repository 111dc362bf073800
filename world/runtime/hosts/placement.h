/* SPDX-License-Identifier: BSD-3-Clause */
/* Which host each rank of a job gets. No locking. */
#ifndef PLENUM_WORLD_RUNTIME_HOSTS_PLACEMENT_H
#define PLENUM_WORLD_RUNTIME_HOSTS_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "api/plenum.h"

struct pl_capacity {
    int slots; /* at least 1 */
    int ranks; /* that run there already */
    int space; /* ranks that may be added at most */
};

/*
 * Places `size` ranks on `hosts` > 0 hosts: all on the first one with a free slot for each, else on the free slots of
 * all in their order. What is left over goes around again, to as many ranks of each host as it has slots. With
 * PLENUM_MAP_NODE each host in turn gets one rank instead. Then `rank` says which rank is on which of them. Stores the
 * number of each rank's host, and takes the ranks off `space`. Returns an enum plenum_error; PLENUM_ERR_LIMIT: the
 * hosts have no space for all.
 */
int pl_placement_choose(struct pl_capacity *capacity, int hosts, int size, enum plenum_map map, enum plenum_rank rank,
                        uint32_t *host_of);

#endif
