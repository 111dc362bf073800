/* SPDX-License-Identifier: BSD-3-Clause */
/* On which host each rank of a job runs. */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "world/runtime/hosts/placement.h"

enum { HOSTS = 3, RANKS_MOST = 16 };

/* `slots` has a digit for each host, `busy` the ranks that run there already; `wanted` the host of each rank. */
static void expect(const char *slots, const char *busy, enum plenum_map map, enum plenum_rank rank, const char *wanted)
{
    struct pl_capacity capacity[HOSTS];
    uint32_t host_of[RANKS_MOST];
    char got[RANKS_MOST + 1] = "";
    int hosts = (int)strlen(slots), size = (int)strlen(wanted);
    for (int h = 0; h < hosts; h++)
        capacity[h] = (struct pl_capacity){ slots[h] - '0', busy[h] - '0' };
    ck_assert(pl_placement_choose(capacity, hosts, size, map, rank, host_of));
    for (int r = 0; r < size; r++)
        got[r] = (char)('0' + host_of[r]);
    ck_assert_msg(strcmp(got, wanted) == 0, "slots %s, busy %s, map %d, rank %d: %s, not %s", slots, busy, (int)map,
                  (int)rank, got, wanted);
}

START_TEST(by_slot)
{
    expect("22", "00", PLENUM_MAP_SLOT, PLENUM_RANK_MAPPED, "0011");
    expect("13", "00", PLENUM_MAP_SLOT, PLENUM_RANK_MAPPED, "111"); /* the first host with room for all */
    expect("22", "10", PLENUM_MAP_SLOT, PLENUM_RANK_MAPPED, "011");
    expect("11", "00", PLENUM_MAP_SLOT, PLENUM_RANK_MAPPED, "01010");
    expect("212", "000", PLENUM_MAP_SLOT, PLENUM_RANK_MAPPED, "00122001");
}
END_TEST

START_TEST(by_node)
{
    expect("22", "00", PLENUM_MAP_NODE, PLENUM_RANK_MAPPED, "0101");
    expect("44", "00", PLENUM_MAP_NODE, PLENUM_RANK_MAPPED, "01");
    expect("312", "000", PLENUM_MAP_NODE, PLENUM_RANK_MAPPED, "012020");
    expect("22", "10", PLENUM_MAP_NODE, PLENUM_RANK_MAPPED, "011");
    expect("12", "00", PLENUM_MAP_NODE, PLENUM_RANK_MAPPED, "011011");
    expect("22", "22", PLENUM_MAP_NODE, PLENUM_RANK_MAPPED, "010");
}
END_TEST

START_TEST(ranked)
{
    expect("22", "00", PLENUM_MAP_SLOT, PLENUM_RANK_NODE, "0101");
    expect("31", "00", PLENUM_MAP_SLOT, PLENUM_RANK_NODE, "0100");
    expect("22", "00", PLENUM_MAP_NODE, PLENUM_RANK_SLOT, "0011");
    expect("22", "00", PLENUM_MAP_NODE, PLENUM_RANK_FILL, "0011");
    expect("44", "00", PLENUM_MAP_NODE, PLENUM_RANK_SLOT, "001");
    expect("11", "00", PLENUM_MAP_SLOT, PLENUM_RANK_SLOT, "00011");
    expect("22", "00", PLENUM_MAP_NODE, PLENUM_RANK_NODE, "0101");
    expect("22", "00", PLENUM_MAP_SLOT, PLENUM_RANK_SPAN, "0011"); /* what is on a host is not known here */
}
END_TEST

UNIT_MAIN("placement", by_slot, by_node, ranked)
