/* SPDX-License-Identifier: BSD-3-Clause */
/* On which host each rank of a job runs. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "world/runtime/hosts/placement.h"

enum { HOSTS = 3, RANKS_MOST = 16 };

/* `slots` has a digit for each host, `busy` the ranks that run there already, `space` those that may be added at most;
 * `wanted` the host of each rank. */
static void expect_space(const char *slots, const char *busy, const char *space, enum plenum_map map,
                         enum plenum_rank rank, const char *wanted)
{
    struct pl_capacity capacity[HOSTS];
    uint32_t host_of[RANKS_MOST];
    char got[RANKS_MOST + 1] = "";
    int hosts = (int)strlen(slots), size = (int)strlen(wanted);
    for (int h = 0; h < hosts; h++)
        capacity[h] = (struct pl_capacity){ slots[h] - '0', busy[h] - '0', space ? space[h] - '0' : INT_MAX };
    ck_assert_int_eq(pl_placement_choose(capacity, hosts, size, map, rank, host_of), PLENUM_OK);
    for (int r = 0; r < size; r++)
        got[r] = (char)('0' + host_of[r]);
    ck_assert_msg(strcmp(got, wanted) == 0, "slots %s, busy %s, map %d, rank %d: %s, not %s", slots, busy, (int)map,
                  (int)rank, got, wanted);
}

static void expect(const char *slots, const char *busy, enum plenum_map map, enum plenum_rank rank, const char *wanted)
{
    expect_space(slots, busy, NULL, map, rank, wanted);
}

START_TEST(by_slot)
{
    expect("22", "00", PLENUM_MAP_SLOT, PLENUM_RANK_MAPPED, "0011");
    expect("13", "00", PLENUM_MAP_SLOT, PLENUM_RANK_MAPPED, "111"); /* the first host with space for all */
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

/* Resources leave space for fewer ranks than slots do. */
START_TEST(bounded)
{
    expect_space("44", "00", "22", PLENUM_MAP_SLOT, PLENUM_RANK_MAPPED, "0011");
    expect_space("44", "00", "13", PLENUM_MAP_SLOT, PLENUM_RANK_MAPPED, "111"); /* the first with space for all */
    expect_space("44", "00", "03", PLENUM_MAP_NODE, PLENUM_RANK_MAPPED, "11");
    expect_space("444", "000", "121", PLENUM_MAP_NODE, PLENUM_RANK_MAPPED, "0121");
    expect_space("12", "00", "91", PLENUM_MAP_SLOT, PLENUM_RANK_MAPPED, "0100"); /* more ranks than slots */
    expect_space("12", "11", "91", PLENUM_MAP_NODE, PLENUM_RANK_MAPPED, "1000");
    for (enum plenum_map map = PLENUM_MAP_SLOT; map <= PLENUM_MAP_NODE; map++) {
        struct pl_capacity capacity[] = { { 4, 0, 1 }, { 1, 1, 2 }, { 4, 0, 0 } };
        uint32_t host_of[4];
        ck_assert_int_eq(pl_placement_choose(capacity, 3, 4, map, PLENUM_RANK_MAPPED, host_of), PLENUM_ERR_LIMIT);
    }
}
END_TEST

UNIT_MAIN("placement", by_slot, by_node, ranked, bounded)
