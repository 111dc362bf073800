/* SPDX-License-Identifier: BSD-3-Clause */
/* See placement.h. */
#include "world/runtime/hosts/placement.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

static int placement_free(const struct pl_capacity *capacity)
{
    return capacity->slots > capacity->ranks ? capacity->slots - capacity->ranks : 0;
}

static int placement_fill(int number, int most, int placed, int size, uint32_t *host_of)
{
    for (int i = 0; i < most && placed < size; i++)
        host_of[placed++] = (uint32_t)number;
    return placed;
}

static void placement_in_order(const struct pl_capacity *capacity, int hosts, int size, uint32_t *host_of)
{
    int placed = 0;
    for (int h = 0; h < hosts && placed == 0; h++)
        if (placement_free(&capacity[h]) >= size)
            placed = placement_fill(h, size, placed, size, host_of);
    for (int h = 0; h < hosts && placed < size; h++)
        placed = placement_fill(h, placement_free(&capacity[h]), placed, size, host_of);
    while (placed < size)
        for (int h = 0; h < hosts; h++)
            placed = placement_fill(h, capacity[h].slots, placed, size, host_of);
}

/* One rank on each host that has left some of `many`, again and again. Clears `many`. The number of ranks placed. */
static int placement_deal(int *many, int hosts, int placed, int size, uint32_t *host_of)
{
    for (int before = -1; before < placed;) {
        before = placed;
        for (int h = 0; h < hosts && placed < size; h++)
            if (many[h] > 0) {
                many[h]--;
                host_of[placed++] = (uint32_t)h;
            }
    }
    return placed;
}

static void placement_in_turn(const struct pl_capacity *capacity, int *many, int hosts, int size, uint32_t *host_of)
{
    for (int h = 0; h < hosts; h++)
        many[h] = placement_free(&capacity[h]);
    int placed = placement_deal(many, hosts, 0, size, host_of);
    while (placed < size) {
        for (int h = 0; h < hosts; h++)
            many[h] = capacity[h].slots;
        placed = placement_deal(many, hosts, placed, size, host_of);
    }
}

/* Gives each host as many ranks as it has: in turn, or all of one host and then those of the next. */
static void placement_rank(enum plenum_rank rank, int *many, int hosts, int size, uint32_t *host_of)
{
    if (rank != PLENUM_RANK_SLOT && rank != PLENUM_RANK_FILL && rank != PLENUM_RANK_NODE)
        return;
    memset(many, 0, (size_t)hosts * sizeof *many);
    for (int r = 0; r < size; r++)
        many[host_of[r]]++;
    if (rank == PLENUM_RANK_NODE)
        placement_deal(many, hosts, 0, size, host_of);
    else
        for (int h = 0, placed = 0; h < hosts; h++)
            placed = placement_fill(h, many[h], placed, size, host_of);
}

bool pl_placement_choose(const struct pl_capacity *capacity, int hosts, int size, enum plenum_map map,
                         enum plenum_rank rank, uint32_t *host_of)
{
    int *many = pl_calloc((size_t)hosts, sizeof *many);
    if (!many)
        return false;
    if (map == PLENUM_MAP_NODE)
        placement_in_turn(capacity, many, hosts, size, host_of);
    else
        placement_in_order(capacity, hosts, size, host_of);
    placement_rank(rank, many, hosts, size, host_of);
    free(many);
    return true;
}
