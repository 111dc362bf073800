/* SPDX-License-Identifier: BSD-3-Clause */
/* Which host each rank of a job gets. No locking. */
#ifndef PLENUM_WORLD_RUNTIME_HOSTS_PLACEMENT_H
#define PLENUM_WORLD_RUNTIME_HOSTS_PLACEMENT_H

#include <stdint.h>

struct pl_capacity {
    int slots; /* at least 1 */
    int ranks; /* that run there already */
};

/*
 * Places `size` ranks on `hosts` > 0 hosts: all on the first one with a free slot for each, else on the free slots of
 * all in their order. What is left over goes around again, to as many ranks of each host as it has slots. Stores the
 * number of each rank's host.
 */
void pl_placement_choose(const struct pl_capacity *capacity, int hosts, int size, uint32_t *host_of);

#endif
