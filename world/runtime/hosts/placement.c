/* SPDX-License-Identifier: BSD-3-Clause */
/* See placement.h. */
#include "world/runtime/hosts/placement.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

static int placement_least(int a, int b)
{
    return a < b ? a : b;
}

static int placement_free(const struct pl_capacity *capacity)
{
    return capacity->slots > capacity->ranks ? placement_least(capacity->slots - capacity->ranks, capacity->space) : 0;
}

/* The ranks that a host gets in one of the turns after its free slots. */
static int placement_more(const struct pl_capacity *capacity)
{
    return placement_least(capacity->slots, capacity->space);
}

static int placement_fill(int number, int most, int placed, int size, uint32_t *host_of)
{
    for (int i = 0; i < most && placed < size; i++)
        host_of[placed++] = (uint32_t)number;
    return placed;
}

/* ... and takes them off its space. */
static int placement_put(struct pl_capacity *capacity, int number, int most, int placed, int size, uint32_t *host_of)
{
    int after = placement_fill(number, most, placed, size, host_of);
    capacity[number].space -= after - placed;
    return after;
}

static int placement_in_order(struct pl_capacity *capacity, int hosts, int size, uint32_t *host_of)
{
    int placed = 0;
    for (int h = 0; h < hosts && placed == 0; h++)
        if (placement_free(&capacity[h]) >= size)
            placed = placement_put(capacity, h, size, placed, size, host_of);
    for (int h = 0; h < hosts && placed < size; h++)
        placed = placement_put(capacity, h, placement_free(&capacity[h]), placed, size, host_of);
    for (int before = -1; before < placed && placed < size;) {
        before = placed;
        for (int h = 0; h < hosts; h++)
            placed = placement_put(capacity, h, placement_more(&capacity[h]), placed, size, host_of);
    }
    return placed;
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

static int placement_in_turn(struct pl_capacity *capacity, int *many, int hosts, int size, uint32_t *host_of)
{
    int placed = 0;
    for (int before = -1, turn = 0; placed < size && (before < placed || turn == 1); turn++) {
        before = placed;
        for (int h = 0; h < hosts; h++) {
            many[h] = turn == 0 ? placement_free(&capacity[h]) : placement_more(&capacity[h]);
            capacity[h].space -= many[h];
        }
        placed = placement_deal(many, hosts, placed, size, host_of);
    }
    return placed;
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

int pl_placement_choose(struct pl_capacity *capacity, int hosts, int size, enum plenum_map map, enum plenum_rank rank,
                        uint32_t *host_of)
{
    int *many = pl_calloc((size_t)hosts, sizeof *many);
    if (!many)
        return PLENUM_ERR_MEMORY;
    int placed = map == PLENUM_MAP_NODE ? placement_in_turn(capacity, many, hosts, size, host_of)
                                        : placement_in_order(capacity, hosts, size, host_of);
    if (placed == size)
        placement_rank(rank, many, hosts, size, host_of);
    free(many);
    return placed == size ? PLENUM_OK : PLENUM_ERR_LIMIT;
}
