/* SPDX-License-Identifier: BSD-3-Clause */
/* See placement.h. */
#include "world/runtime/hosts/placement.h"

static int place_free(const struct pl_room *room)
{
    return room->slots > room->ranks ? room->slots - room->ranks : 0;
}

static int place_some(int number, int most, int placed, int size, uint32_t *host_of)
{
    for (int i = 0; i < most && placed < size; i++)
        host_of[placed++] = (uint32_t)number;
    return placed;
}

void pl_place(const struct pl_room *room, int hosts, int size, uint32_t *host_of)
{
    int placed = 0;
    for (int h = 0; h < hosts && placed == 0; h++)
        if (place_free(&room[h]) >= size)
            placed = place_some(h, size, placed, size, host_of);
    for (int h = 0; h < hosts && placed < size; h++)
        placed = place_some(h, place_free(&room[h]), placed, size, host_of);
    while (placed < size)
        for (int h = 0; h < hosts; h++)
            placed = place_some(h, room[h].slots, placed, size, host_of);
}
