/* SPDX-License-Identifier: BSD-3-Clause */
/* See placement.h. */
#include "world/runtime/hosts/placement.h"

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

void pl_placement_choose(const struct pl_capacity *capacity, int hosts, int size, uint32_t *host_of)
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
