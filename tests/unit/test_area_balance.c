/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank leaves a core that others share: of one with more than an equal share the last, for one that has at least
 * two fewer. If each check moves one rank, all cores soon have an equal share, and then none moves. */
#include "unit.h"

#include "core/coll/area/slots.h"

enum { MOST = 64 };

static bool leaves(const int *on, int size, int rank, int cores, cpu_set_t *emptier)
{
    CPU_ZERO(emptier);
    return pl_area_has_emptier_cores(on, size, rank, cores, emptier);
}

START_TEST(the_last_one_leaves)
{
    const int on[] = { 0, 1, 0, 0 };
    cpu_set_t emptier;
    for (int rank = 0; rank < 4; rank++)
        ck_assert_int_eq(leaves(on, 4, rank, 2, &emptier), rank == 3);
    ck_assert(CPU_ISSET(1, &emptier) && !CPU_ISSET(0, &emptier));
}
END_TEST

START_TEST(equal_shares_stay)
{
    const int even[] = { 0, 1, 1, 0 }, odd[] = { 1, 1, 0, 1, 0 }, alone[] = { 0, 1, 2 };
    cpu_set_t emptier;
    for (int rank = 0; rank < 4; rank++)
        ck_assert(!leaves(even, 4, rank, 2, &emptier));
    for (int rank = 0; rank < 5; rank++)
        ck_assert(!leaves(odd, 5, rank, 2, &emptier));
    for (int rank = 0; rank < 3; rank++)
        ck_assert(!leaves(alone, 3, rank, 3, &emptier));
}
END_TEST

/* Before each rank has waited once, and of numbers that no core has. */
START_TEST(unknown_cores_decide_nothing)
{
    const int unknown[] = { 0, 0, -1, 0 }, large[] = { 0, 0, 0, CPU_SETSIZE }, here[] = { 0, 0, 0, 0 };
    cpu_set_t emptier;
    ck_assert(!leaves(unknown, 4, 3, 2, &emptier) && !leaves(large, 4, 2, 2, &emptier));
    ck_assert(!leaves(here, 4, 3, 0, &emptier));
    ck_assert(leaves(here, 4, 3, 2, &emptier));
}
END_TEST

static int most_on_one(const int *on, int size, int cores)
{
    int ranks[MOST] = { 0 }, most = 0;
    for (int i = 0; i < size; i++)
        most = ++ranks[on[i]] > most ? ranks[on[i]] : most;
    ck_assert_int_le(cores, MOST);
    return most;
}

START_TEST(random_ranks_get_equal_shares)
{
    uint64_t state = 20261128;
    for (int draw = 0; draw < 2000; draw++) {
        int on[MOST], moves = 0, size, cores;
        state = state * 6364136223846793005u + 1442695040888963407u;
        size = 2 + (int)(state >> 33) % (MOST - 1);
        cores = 1 + (int)(state >> 41) % size;
        for (int i = 0; i < size; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            on[i] = (int)((state >> 33) % (uint64_t)cores);
        }
        for (int rank = 0, still = 0; still < size; rank = (rank + 1) % size) {
            cpu_set_t emptier;
            bool moves_now = leaves(on, size, rank, cores, &emptier);
            int to = 0;
            while (moves_now && !(CPU_ISSET((size_t)to, &emptier) && to < cores))
                ck_assert_int_lt(++to, cores);
            on[rank] = moves_now ? to : on[rank];
            moves += moves_now;
            still = moves_now ? 0 : still + 1;
            ck_assert_int_le(moves, size);
        }
        ck_assert_int_le(most_on_one(on, size, cores), (size + cores - 1) / cores);
    }
}
END_TEST

/* A core is known for some hundred operations after the wait, also where their numbers wrap. */
START_TEST(cores_are_known_for_a_while)
{
    static const uint32_t numbers[] = { 0, 1, 255, 100000, 1u << 28, UINT32_MAX - 600, UINT32_MAX };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint32_t word = pl_area_core_word(1023, numbers[i]);
        ck_assert_int_eq(pl_area_core_of(word), 1023);
        ck_assert(pl_area_core_is_new(word, numbers[i]) && pl_area_core_is_new(word, numbers[i] + 1000));
        ck_assert(pl_area_core_is_new(word, numbers[i] - 1000)); /* that rank is ahead */
        ck_assert(!pl_area_core_is_new(word, numbers[i] + 1300) && !pl_area_core_is_new(word, numbers[i] + 1000000));
    }
    ck_assert_int_eq(pl_area_core_of(0), -1);
    ck_assert_int_eq(pl_area_core_of(pl_area_core_word(-1, 7)), -1);
}
END_TEST

/* Each move that is undone soon doubles the pause, up to a second; one that lasts ends that. A bound rank hardly
 * tries. */
START_TEST(pauses_grow)
{
    const int64_t ms = 1000000;
    struct pl_area_balance balance = { .moved_to = -1 };
    int64_t now = 1000 * ms;
    ck_assert(pl_area_balance_may_move(&balance, 0, now));
    for (int i = 1; i <= 12; i++) {
        int64_t pause = (i < 10 ? 1 << i : 1 << 10) * ms;
        balance.moved = now;
        balance.moved_to = 1;
        ck_assert(!pl_area_balance_may_move(&balance, 0, now + ms / 2));
        ck_assert_int_eq(balance.moved_to, -1);
        ck_assert(!pl_area_balance_may_move(&balance, 0, now + pause - 1));
        ck_assert(pl_area_balance_may_move(&balance, 0, now + pause));
        now += pause;
    }
    balance.moved = now;
    balance.moved_to = 1;
    ck_assert(!pl_area_balance_may_move(&balance, 1, now + 500 * ms)); /* it is still there */
    ck_assert(pl_area_balance_may_move(&balance, 0, now + 500 * ms));
    ck_assert_int_eq(balance.undone, 0);
}
END_TEST

UNIT_MAIN("area_balance", the_last_one_leaves, equal_shares_stay, unknown_cores_decide_nothing,
          random_ranks_get_equal_shares, cores_are_known_for_a_while, pauses_grow)
