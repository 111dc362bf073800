/* SPDX-License-Identifier: BSD-3-Clause */
/* Growable arrays: items of all sizes, arrays of the caller, insertion, removal, sizes that overflow, no memory. */
#include "unit.h"

#include <limits.h>

#include "core/base/memory.h"
#include "core/base/vec.h"

struct numbers {
    PL_VEC(int);
};

struct wide {
    unsigned char bytes[200];
};

static void no_failures(void)
{
    pl_memory_fail_at(0);
}

static bool push(struct numbers *numbers, int number)
{
    int *last = PL_VEC_PUSH(numbers);
    if (last)
        *last = number;
    return last != NULL;
}

/* 0, 1, 2, ... */
static void check_ascending(const struct numbers *numbers, int count)
{
    UNIT_CHECK(numbers->count == (size_t)count && numbers->capacity >= numbers->count);
    for (int i = 0; i < count; i++)
        UNIT_CHECK(numbers->items[i] == i);
}

START_TEST(pushing)
{
    struct numbers numbers = { 0 };
    int grown = 0;
    for (int i = 0; i < 100000; i++) {
        grown += numbers.count == numbers.capacity;
        UNIT_CHECK(push(&numbers, i));
    }
    check_ascending(&numbers, 100000);
    UNIT_CHECK(grown < 20);
    PL_VEC_FINI(&numbers);
    UNIT_CHECK(!numbers.items && numbers.count == 0 && numbers.capacity == 0);
    PL_VEC_FINI(&numbers);
}
END_TEST

START_TEST(items_of_any_size)
{
    PL_VEC(char) text = { 0 };
    PL_VEC(struct wide) wide = { 0 };
    for (int i = 0; i < 300; i++) {
        char *letter = PL_VEC_PUSH(&text);
        struct wide *item = PL_VEC_PUSH(&wide);
        UNIT_CHECK(letter && item);
        *letter = (char)('a' + i % 26);
        memset(item, i, sizeof *item);
    }
    for (int i = 0; i < 300; i++)
        UNIT_CHECK(text.items[i] == 'a' + i % 26 && wide.items[i].bytes[199] == (unsigned char)i);
    PL_VEC_FINI(&text);
    PL_VEC_FINI(&wide);
}
END_TEST

START_TEST(reserving)
{
    struct numbers numbers = { 0 };
    size_t none = 0;
    UNIT_CHECK(PL_VEC_RESERVE(&numbers, none) && !numbers.items);
    UNIT_CHECK(PL_VEC_RESERVE(&numbers, 1000) && numbers.capacity >= 1000 && numbers.count == 0);
    const int *before = numbers.items;
    for (int i = 0; i < 1000; i++)
        UNIT_CHECK(push(&numbers, i));
    UNIT_CHECK(numbers.items == before);
    check_ascending(&numbers, 1000);
    PL_VEC_FINI(&numbers);
}
END_TEST

/* The caller's array is used first, copied when it is full, and never freed. */
START_TEST(an_array_of_the_callers)
{
    for (int count = 0; count < 12; count++) {
        int few[4] = { -1, -1, -1, -1 };
        struct numbers numbers;
        PL_VEC_USE(&numbers, few, 4);
        for (int i = 0; i < count; i++)
            UNIT_CHECK(push(&numbers, i));
        check_ascending(&numbers, count);
        UNIT_CHECK((numbers.items == few) == (count <= 4) && numbers.caller_owned == (count <= 4));
        PL_VEC_FINI(&numbers);
    }
}
END_TEST

START_TEST(inserting_and_removing)
{
    struct numbers numbers = { 0 };
    int shadow[64], count = 0;
    uint64_t seed = 5;
    for (int step = 0; step < 100000; step++) {
        int at = unit_below(&seed, count + 1);
        if (count == 64 || (count > at && unit_below(&seed, 2))) {
            at = at < count ? at : count - 1;
            PL_VEC_REMOVE(&numbers, at);
            count--;
            memmove(&shadow[at], &shadow[at + 1], (size_t)(count - at) * sizeof *shadow);
        } else {
            int *item = PL_VEC_INSERT(&numbers, (size_t)at);
            UNIT_CHECK(item == &numbers.items[at]);
            memmove(&shadow[at + 1], &shadow[at], (size_t)(count - at) * sizeof *shadow);
            count++;
            *item = shadow[at] = step;
        }
        UNIT_CHECK(numbers.count == (size_t)count);
        if (count)
            UNIT_CHECK(memcmp(numbers.items, shadow, (size_t)count * sizeof *shadow) == 0);
    }
    PL_VEC_FINI(&numbers);
}
END_TEST

START_TEST(handing_over)
{
    struct numbers numbers = { 0 };
    UNIT_CHECK(!PL_VEC_TAKE(&numbers));
    for (int i = 0; i < 11; i++)
        UNIT_CHECK(push(&numbers, i));
    int *taken = PL_VEC_TAKE(&numbers);
    UNIT_CHECK(taken && taken[10] == 10 && !numbers.items && numbers.count == 0);
    free(taken);

    int few[4];
    PL_VEC_USE(&numbers, few, 4);
    UNIT_CHECK(push(&numbers, 0) && push(&numbers, 1));
    pl_memory_fail_at(1);
    UNIT_CHECK(!PL_VEC_TAKE(&numbers));
    check_ascending(&numbers, 2);
    taken = PL_VEC_TAKE(&numbers);
    UNIT_CHECK(taken && taken != few && taken[1] == 1);
    free(taken);

    for (int i = 0; i < 11; i++)
        UNIT_CHECK(push(&numbers, i));
    pl_memory_fail_at(1); /* it cannot shrink, and need not */
    taken = PL_VEC_TAKE(&numbers);
    UNIT_CHECK(pl_memory_failed() && taken && taken[10] == 10);
    free(taken);
}
END_TEST

/* Every allocation fails once; the contents stay, and the next attempt succeeds. */
START_TEST(without_memory)
{
    int few[2];
    struct numbers numbers;
    PL_VEC_USE(&numbers, few, 2);
    int failures = 0;
    for (int i = 0; i < 1000; i++) {
        pl_memory_fail_at(1);
        bool pushed = push(&numbers, i);
        UNIT_CHECK(pushed == !pl_memory_failed());
        if (!pushed) {
            failures++;
            check_ascending(&numbers, i);
            pl_memory_fail_at(1);
            UNIT_CHECK(!PL_VEC_INSERT(&numbers, 0));
            check_ascending(&numbers, i);
            pl_memory_fail_at(0);
            UNIT_CHECK(push(&numbers, i));
        }
    }
    check_ascending(&numbers, 1000);
    UNIT_CHECK(failures > 5);
    PL_VEC_FINI(&numbers);
}
END_TEST

/* None of these allocates: the numbers of bytes overflow. */
START_TEST(too_many)
{
    PL_VEC(struct wide) wide = { 0 };
    UNIT_CHECK(PL_VEC_PUSH(&wide) && PL_VEC_PUSH(&wide));
    pl_memory_fail_at(1);
    UNIT_CHECK(!PL_VEC_RESERVE(&wide, SIZE_MAX));
    UNIT_CHECK(!PL_VEC_RESERVE(&wide, SIZE_MAX - 1));
    UNIT_CHECK(!PL_VEC_RESERVE(&wide, SIZE_MAX / sizeof(struct wide)));
    UNIT_CHECK(!pl_memory_failed() && wide.count == 2);
    UNIT_CHECK(!PL_VEC_RESERVE(&wide, SIZE_MAX / sizeof(struct wide) - 2)); /* that can */
    UNIT_CHECK(pl_memory_failed());
    PL_VEC_FINI(&wide);

    /* Doubling overflows, the sum does not. */
    struct pl_vec vec = { .count = SIZE_MAX / 3 * 2 / 8, .capacity = SIZE_MAX / 3 * 2 / 8 };
    pl_memory_fail_at(1);
    UNIT_CHECK(!pl_vec_grow(&vec, 8, 1));
    UNIT_CHECK(pl_memory_failed());
}
END_TEST

UNIT_MAIN_WITH("vec", NULL, no_failures, pushing, items_of_any_size, reserving, an_array_of_the_callers,
               inserting_and_removing, handing_over, without_memory, too_many)
