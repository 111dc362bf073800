/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash tables beside an array that is searched from its start. Keys of all kinds, several items of one key in their
 * order, insertions and removals by the million, walks that remove what they meet, and no memory to grow.
 */
#include "unit.h"

#include "core/base/memory.h"
#include "core/base/table.h"

enum { ITEMS = 3000 };

struct item {
    int number; /* in the order of insertion */
    bool there;
    struct pl_table_node node;
    uint64_t key;
};

static struct item items[ITEMS];
static struct pl_table table;
static int inserted;

static void set_up(void)
{
    memset(items, 0, sizeof items);
    memset(&table, 0, sizeof table);
    inserted = 0;
}

static void tear_down(void)
{
    pl_memory_fail_at(0);
    pl_table_fini(&table);
}

static void insert(struct item *item, uint64_t key)
{
    item->key = key;
    item->number = inserted++;
    item->there = true;
    pl_table_insert(&table, &item->node, key);
}

static void take_out(struct item *item)
{
    item->there = false;
    pl_table_remove(&table, &item->node);
}

/* --- the array ---------------------------------------------------------------------------------------------------- */

/* The first item with this key that was inserted after number `after`, or NULL. */
static struct item *expected(uint64_t key, int after)
{
    struct item *first = NULL;
    for (int i = 0; i < ITEMS; i++)
        if (items[i].there && items[i].key == key && items[i].number > after &&
            (!first || items[i].number < first->number))
            first = &items[i];
    return first;
}

static void check_key(uint64_t key)
{
    int last = -1;
    PL_TABLE_EACH_OF(item, &table, key, struct item, node) {
        UNIT_CHECK(item == expected(key, last));
        last = item->number;
    }
    UNIT_CHECK(expected(key, last) == NULL);
    UNIT_CHECK(PL_TABLE_FIND(&table, key, struct item, node) == expected(key, -1));
}

static void check_all(void)
{
    static bool met[ITEMS];
    size_t count = 0, here = 0;
    memset(met, 0, sizeof met);
    PL_TABLE_EACH(item, &table, struct item, node) {
        UNIT_CHECK(item->there && !met[item - items] && item->key == item->node.key);
        met[item - items] = true;
        count++;
    }
    for (int i = 0; i < ITEMS; i++)
        here += items[i].there;
    UNIT_CHECK(count == here && count == table.count);
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

START_TEST(empty_ones)
{
    UNIT_CHECK(!pl_table_find(&table, 0) && !pl_table_first(&table));
    PL_TABLE_EACH(item, &table, struct item, node)
        ck_abort_msg("item %d in an empty table", item->number);
    insert(&items[0], 7);
    take_out(&items[0]);
    UNIT_CHECK(!pl_table_find(&table, 7) && !pl_table_first(&table));
    check_all();
}
END_TEST

/* Counters, addresses, ranks in the upper half, single bits: none of these makes long chains. */
static uint64_t key_of(int kind, int i)
{
    switch (kind) {
    case 0: return (uint64_t)i;
    case 1: return (uint64_t)i * 4096;
    case 2: return (uint64_t)i << 32 | 99;
    case 3: return (uint64_t)i << 48;
    case 4: return UINT64_MAX - (uint64_t)i;
    default: return (uint64_t)i << 8 | 0xffffff0000000000;
    }
}

static size_t longest_chain(void)
{
    size_t longest = 0;
    for (size_t i = 0; i < (size_t)1 << (64 - table.shift); i++) {
        size_t length = 0;
        for (struct pl_list *link = table.buckets[i].next; link != &table.buckets[i]; link = link->next)
            length++;
        longest = length > longest ? length : longest;
    }
    return longest;
}

START_TEST(all_kinds_of_keys)
{
    for (int i = 0; i < ITEMS; i++) {
        insert(&items[i], key_of(_i, i));
        UNIT_CHECK(table.count == (size_t)i + 1);
    }
    for (int i = 0; i < ITEMS; i++)
        UNIT_CHECK(PL_TABLE_FIND(&table, key_of(_i, i), struct item, node) == &items[i]);
    UNIT_CHECK(!pl_table_find(&table, 0x123456789abcdef1));
    check_all();
    UNIT_CHECK(longest_chain() <= 16);
}
END_TEST

START_TEST(one_key_in_order)
{
    uint64_t seed = 3;
    for (int i = 0; i < 500; i++)
        insert(&items[i], (uint64_t)unit_below(&seed, 5));
    for (uint64_t key = 0; key < 6; key++)
        check_key(key);
    for (int i = 0; i < 500; i += 3)
        take_out(&items[i]);
    for (uint64_t key = 0; key < 6; key++)
        check_key(key);
}
END_TEST

START_TEST(removing_twice)
{
    pl_table_node_init(&items[0].node);
    pl_table_remove(&table, &items[0].node);
    insert(&items[1], 1);
    pl_table_remove(&table, &items[0].node);
    UNIT_CHECK(table.count == 1);
    take_out(&items[1]);
    take_out(&items[1]);
    UNIT_CHECK(table.count == 0);
    insert(&items[1], 2);
    check_key(2);
}
END_TEST

START_TEST(walks_that_remove)
{
    for (int i = 0; i < ITEMS; i++)
        insert(&items[i], (uint64_t)i % 1000);
    PL_TABLE_EACH_OF(item, &table, 17, struct item, node)
        if (item->number != 1017)
            take_out(item);
    check_key(17);
    PL_TABLE_EACH(item, &table, struct item, node)
        if (item->number % 2)
            take_out(item);
    check_all();
    PL_TABLE_EACH(item, &table, struct item, node) {
        take_out(item);
        memset(&item->node, 0xff, sizeof item->node); /* as if it was freed */
    }
    UNIT_CHECK(table.count == 0);
    check_all();
}
END_TEST

/* Chains get longer, but no item is lost; memory that becomes available is used. */
START_TEST(without_memory)
{
    int i = 0;
    pl_memory_fail_at(1);
    for (; i < PL_TABLE_FEW; i++)
        insert(&items[i], (uint64_t)i);
    UNIT_CHECK(!pl_memory_failed());
    int attempts = 0;
    for (; i < 1000; i++) {
        pl_memory_fail_at(1);
        insert(&items[i], (uint64_t)i);
        attempts += pl_memory_failed();
    }
    UNIT_CHECK(table.buckets == table.few && attempts > 0 && attempts < 10);
    for (int k = 0; k < 1000; k++)
        UNIT_CHECK(PL_TABLE_FIND(&table, (uint64_t)k, struct item, node) == &items[k]);
    pl_memory_fail_at(0);
    for (; i < ITEMS; i++)
        insert(&items[i], (uint64_t)i);
    UNIT_CHECK(longest_chain() <= 16);
    check_all();
    for (int k = 0; k < ITEMS; k++)
        UNIT_CHECK(PL_TABLE_FIND(&table, (uint64_t)k, struct item, node) == &items[k]);
}
END_TEST

START_TEST(at_random)
{
    uint64_t seed = 1 + (uint64_t)_i;
    int keys = _i % 2 ? 40 : 100000, busy = _i < 2 ? 100 : ITEMS;
    for (int step = 0; step < 200000; step++) {
        struct item *item = &items[unit_below(&seed, busy)];
        if (item->there) {
            take_out(item);
        } else {
            pl_memory_fail_at(unit_below(&seed, 2));
            insert(item, (uint64_t)unit_below(&seed, keys) * 0x10001);
            pl_memory_fail_at(0);
        }
        if (step % 1000 == 0)
            check_all();
        if (step % 100 == 0)
            check_key((uint64_t)unit_below(&seed, keys) * 0x10001);
    }
}
END_TEST

START_TEST(used_again)
{
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++)
            insert(&items[i], (uint64_t)i);
        check_all();
        for (int i = 0; i < 100; i++)
            items[i].there = false;
        pl_table_fini(&table); /* with all in it */
        check_all();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("table");
    TCase *all = unit_case(suite);
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, empty_ones);
    tcase_add_loop_test(all, all_kinds_of_keys, 0, 6);
    tcase_add_test(all, one_key_in_order);
    tcase_add_test(all, removing_twice);
    tcase_add_test(all, walks_that_remove);
    tcase_add_test(all, without_memory);
    tcase_add_loop_test(all, at_random, 0, 4);
    tcase_add_test(all, used_again);
    return unit_end(suite);
}
