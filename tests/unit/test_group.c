/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: every operation against a naive reference, at random; their form; mistakes. */
#include "fakes.h"

#include <pthread.h>

#include "core/base/memory.h"
#include "core/engine/instance.h"
#include "core/job/process.h"
#include "core/object/group.h"

enum { LARGEST = 60 };

/* The reference: a plain array. */
struct list {
    int size;
    uint64_t procs[2 * LARGEST];
};

static int list_find(const struct list *list, uint64_t proc)
{
    for (int i = 0; i < list->size; i++)
        if (list->procs[i] == proc)
            return i;
    return MPI_UNDEFINED;
}

static void list_add(struct list *list, uint64_t proc)
{
    list->procs[list->size++] = proc;
}

/* Sequences of every stride, permutations, and lists of two jobs. */
static struct list draw(uint64_t *seed)
{
    struct list list = { 0 };
    int size = unit_below(seed, LARGEST + 1), shape = unit_below(seed, 4);
    int64_t first = unit_below(seed, 20), stride = unit_below(seed, 5) + 1;
    for (int i = 0; i < size; i++)
        list_add(&list, PL_PROC(0, first + i * stride));
    if (shape == 1)
        for (int i = 0; i < size / 2; i++) {
            uint64_t swapped = list.procs[i];
            list.procs[i] = list.procs[size - 1 - i];
            list.procs[size - 1 - i] = swapped;
        }
    for (int i = size - 1; shape >= 2 && i > 0; i--) {
        int k = unit_below(seed, i + 1);
        uint64_t swapped = list.procs[i];
        list.procs[i] = list.procs[k];
        list.procs[k] = swapped;
    }
    for (int i = 0; shape == 3 && i < size; i += 2)
        list.procs[i] = PL_PROC(1, list.procs[i]);
    return list;
}

static MPI_Group group_of(const struct list *list)
{
    struct pl_group *group = pl_instance_group(NULL, list->size, list->procs);
    ck_assert_ptr_nonnull(group);
    return pl_object_handle(group);
}

/* The group has these members, knows itself, is as small as it can be, and the caller's handle is given back. */
static void expect(MPI_Group handle, const struct list *list)
{
    struct pl_group *group = pl_object_find(PL_GROUP, handle);
    int size, rank;
    ck_assert_ptr_nonnull(group);
    ck_assert_int_eq(MPI_Group_size(handle, &size), MPI_SUCCESS);
    ck_assert_int_eq(size, list->size);
    bool sequence = true;
    for (int i = 0; i < size; i++) {
        UNIT_CHECK(pl_group_proc(group, i) == list->procs[i]);
        UNIT_CHECK(pl_group_find(group, list->procs[i]) == i);
        sequence &= i < 2 || list->procs[i] - list->procs[i - 1] == list->procs[1] - list->procs[0];
    }
    ck_assert_int_eq(group->list == NULL, sequence);
    for (int i = 0; i < 100; i++) {
        UNIT_CHECK(pl_group_find(group, PL_PROC(0, i)) == list_find(list, PL_PROC(0, i)));
        UNIT_CHECK(pl_group_find(group, PL_PROC(1, i)) == list_find(list, PL_PROC(1, i)));
    }
    ck_assert_int_eq(MPI_Group_rank(handle, &rank), MPI_SUCCESS);
    ck_assert_int_eq(rank, list_find(list, pl_process_self()));
    ck_assert_int_eq(handle == MPI_GROUP_EMPTY, size == 0);
    ck_assert_int_eq(MPI_Group_free(&handle), MPI_SUCCESS);
    ck_assert_ptr_eq(handle, MPI_GROUP_NULL);
}

START_TEST(set_operations)
{
    fake_returning_errors();
    uint64_t seed = 5;
    pl_process.identity.rank = 7;
    pl_group_self = pl_process_self();
    for (int round = 0; round < 600; round++) {
        struct list a = draw(&seed), b = draw(&seed), both = { 0 }, either = a, only = { 0 };
        for (int i = 0; i < a.size; i++)
            list_add(list_find(&b, a.procs[i]) == MPI_UNDEFINED ? &only : &both, a.procs[i]);
        for (int i = 0; i < b.size; i++)
            if (list_find(&a, b.procs[i]) == MPI_UNDEFINED)
                list_add(&either, b.procs[i]);
        MPI_Group ga = group_of(&a), gb = group_of(&b), result;
        ck_assert_int_eq(MPI_Group_union(ga, gb, &result), MPI_SUCCESS);
        expect(result, &either);
        ck_assert_int_eq(MPI_Group_intersection(ga, gb, &result), MPI_SUCCESS);
        expect(result, &both);
        ck_assert_int_eq(MPI_Group_difference(ga, gb, &result), MPI_SUCCESS);
        expect(result, &only);

        int how, same = a.size == b.size && memcmp(a.procs, b.procs, (size_t)a.size * sizeof a.procs[0]) == 0;
        ck_assert_int_eq(MPI_Group_compare(ga, gb, &how), MPI_SUCCESS);
        ck_assert_int_eq(how, same ? MPI_IDENT : a.size == b.size && both.size == a.size ? MPI_SIMILAR : MPI_UNEQUAL);
        expect(ga, &a);
        expect(gb, &b);
    }
    ck_assert_int_eq(pl_object_count(PL_GROUP), 0);
}
END_TEST

START_TEST(by_rank)
{
    fake_returning_errors();
    uint64_t seed = 6;
    for (int round = 0; round < 600; round++) {
        struct list a = draw(&seed), in = { 0 }, out = { 0 };
        int ranks[LARGEST], n = 0;
        bool chosen[LARGEST] = { false };
        for (int tries = unit_below(&seed, 40); a.size && tries > 0; tries--) {
            int rank = unit_below(&seed, a.size);
            if (chosen[rank])
                continue;
            chosen[rank] = true;
            ranks[n++] = rank;
            list_add(&in, a.procs[rank]);
        }
        for (int i = 0; i < a.size; i++)
            if (!chosen[i])
                list_add(&out, a.procs[i]);
        MPI_Group group = group_of(&a), result;
        ck_assert_int_eq(MPI_Group_incl(group, n, ranks, &result), MPI_SUCCESS);
        expect(result, &in);
        ck_assert_int_eq(MPI_Group_excl(group, n, ranks, &result), MPI_SUCCESS);
        expect(result, &out);
        expect(group, &a);
    }
}
END_TEST

START_TEST(by_range)
{
    fake_returning_errors();
    uint64_t seed = 7;
    for (int round = 0; round < 600; round++) {
        struct list a = draw(&seed), in = { 0 }, out = { 0 };
        int ranges[4][3], n = 0, low = 0;
        bool chosen[LARGEST] = { false };
        /* Ranges that do not overlap: each in a part of its own, upwards or downwards; `last` need not be met. */
        while (n < 4 && low + 3 < a.size) {
            int high = low + unit_below(&seed, a.size - low), stride = 1 + unit_below(&seed, 4);
            bool down = unit_below(&seed, 2) && high > low;
            int first = down ? high : low, last = down ? low : high;
            ranges[n][0] = first;
            ranges[n][1] = last;
            ranges[n][2] = down ? -stride : stride;
            n++;
            for (int rank = first; down ? rank >= last : rank <= last; rank += down ? -stride : stride) {
                chosen[rank] = true;
                list_add(&in, a.procs[rank]);
            }
            low = high + 1;
        }
        for (int i = 0; i < a.size; i++)
            if (!chosen[i])
                list_add(&out, a.procs[i]);
        MPI_Group group = group_of(&a), result;
        ck_assert_int_eq(MPI_Group_range_incl(group, n, ranges, &result), MPI_SUCCESS);
        expect(result, &in);
        ck_assert_int_eq(MPI_Group_range_excl(group, n, ranges, &result), MPI_SUCCESS);
        expect(result, &out);
        expect(group, &a);
    }
}
END_TEST

START_TEST(translate)
{
    fake_returning_errors();
    uint64_t seed = 8;
    for (int round = 0; round < 400; round++) {
        struct list a = draw(&seed), b = draw(&seed);
        int ranks[LARGEST + 1], got[LARGEST + 1];
        for (int i = 0; i < a.size; i++)
            ranks[i] = a.size - 1 - i;
        ranks[a.size] = MPI_PROC_NULL;
        MPI_Group ga = group_of(&a), gb = group_of(&b);
        ck_assert_int_eq(MPI_Group_translate_ranks(ga, a.size + 1, ranks, gb, got), MPI_SUCCESS);
        for (int i = 0; i < a.size; i++)
            UNIT_CHECK(got[i] == list_find(&b, a.procs[ranks[i]]));
        ck_assert_int_eq(got[a.size], MPI_PROC_NULL);
        MPI_Group_free(&ga);
        MPI_Group_free(&gb);
    }
}
END_TEST

START_TEST(mistakes)
{
    fake_returning_errors();
    struct list four = { 4, { 0, 1, 2, 3 } };
    MPI_Group group = group_of(&four), null = MPI_GROUP_NULL, stale, result;
    int size, got[4], ranks[] = { 1, 2, 4 }, twice[] = { 3, 1, 3 };
    FAKE_EXPECT(MPI_Group_incl(group, 3, ranks, &result), MPI_ERR_RANK,
                "MPI_Group_incl: rank 4 (at place 2) is not in the group of 4 processes (MPI_ERR_RANK)");
    FAKE_EXPECT(MPI_Group_excl(group, 3, twice, &result), MPI_ERR_RANK,
                "MPI_Group_excl: rank 3 (at place 2) is there twice (MPI_ERR_RANK)");
    ck_assert_int_eq(MPI_Group_incl(group, -1, ranks, &result), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Group_incl(group, 1, NULL, &result), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Group_incl(group, 1, ranks, NULL), MPI_ERR_ARG);
    FAKE_EXPECT(MPI_Group_translate_ranks(group, 3, ranks, group, got), MPI_ERR_RANK,
                "MPI_Group_translate_ranks: ranks1[2] is 4, which is not in group1 of 4 processes (MPI_ERR_RANK)");
    int bad[][3] = { { 0, 3, 0 },
                     { 0, 3, -1 },
                     { 3, 0, 1 },
                     { -1, 2, 1 },
                     { 0, 4, 1 },
                     { 0, INT32_MAX, 1 },
                     { INT32_MIN, INT32_MAX, 1 },
                     { INT32_MAX, INT32_MIN, -1 },
                     { 4, 4, 1 } };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_int_eq(MPI_Group_range_incl(group, 1, &bad[i], &result), i < 3 ? MPI_ERR_ARG : MPI_ERR_RANK);
    int overlap[][3] = { { 0, 2, 1 }, { 2, 3, 1 } }, one_too_many[][3] = { { 0, 1, 1 }, { 1, 2, 1 } };
    ck_assert_int_eq(MPI_Group_range_excl(group, 2, overlap, &result), MPI_ERR_RANK);
    ck_assert_int_eq(MPI_Group_range_excl(group, 2, one_too_many, &result), MPI_ERR_RANK);
    int beyond[][3] = { { 0, 5, 3 } }; /* 0 and 3: the end of the range need not be a rank */
    ck_assert_int_eq(MPI_Group_range_incl(group, 1, beyond, &result), MPI_SUCCESS);
    MPI_Group_free(&result);

    FAKE_EXPECT(MPI_Group_union(group, MPI_GROUP_NULL, &result), MPI_ERR_GROUP,
                "MPI_Group_union: group2 is MPI_GROUP_NULL (MPI_ERR_GROUP)");
    ck_assert_int_eq(MPI_Group_size((MPI_Group)&size, &size), MPI_ERR_GROUP);
    ck_assert_int_eq(MPI_Group_free(&null), MPI_ERR_GROUP);
    stale = group;
    MPI_Group_free(&group);
    ck_assert_int_eq(MPI_Group_rank(stale, &size), MPI_ERR_GROUP);
}
END_TEST

START_TEST(empty)
{
    fake_returning_errors();
    struct list none = { 0 };
    MPI_Group group = group_of(&none), result;
    int size = -1, rank, how;
    ck_assert_ptr_eq(group, MPI_GROUP_EMPTY);
    ck_assert_int_eq(MPI_Group_size(MPI_GROUP_EMPTY, &size), MPI_SUCCESS);
    ck_assert_int_eq(size, 0);
    ck_assert_int_eq(MPI_Group_rank(MPI_GROUP_EMPTY, &rank), MPI_SUCCESS);
    ck_assert_int_eq(rank, MPI_UNDEFINED);
    ck_assert_int_eq(MPI_Group_compare(group, MPI_GROUP_EMPTY, &how), MPI_SUCCESS);
    ck_assert_int_eq(how, MPI_IDENT);
    ck_assert_int_eq(MPI_Group_incl(group, 0, NULL, &result), MPI_SUCCESS);
    ck_assert_ptr_eq(result, MPI_GROUP_EMPTY);
    ck_assert_int_eq(MPI_Group_range_excl(group, 0, NULL, &result), MPI_SUCCESS);
    ck_assert_ptr_eq(result, MPI_GROUP_EMPTY);
    for (int i = 0; i < 3; i++) {
        group = MPI_GROUP_EMPTY;
        ck_assert_int_eq(MPI_Group_free(&group), MPI_SUCCESS);
    }
    ck_assert_int_eq(MPI_Group_size(MPI_GROUP_EMPTY, &size), MPI_SUCCESS);
}
END_TEST

/* Groups of two sessions do not mix; the empty one goes with both. */
START_TEST(two_sessions)
{
    fake_returning_errors();
    struct pl_instance one = { .serial = 1 }, two = { .serial = 2 };
    MPI_Group a = pl_object_handle(pl_instance_group_range(&one, 5, 0, 1));
    MPI_Group b = pl_object_handle(pl_instance_group_range(&two, 5, 0, 1)), result;
    int how, ranks[] = { 1 };
    ck_assert_int_eq(MPI_Group_union(a, b, &result), MPI_ERR_GROUP);
    ck_assert_int_eq(MPI_Group_intersection(a, b, &result), MPI_ERR_GROUP);
    ck_assert_int_eq(MPI_Group_difference(a, b, &result), MPI_ERR_GROUP);
    ck_assert_int_eq(MPI_Group_compare(a, b, &how), MPI_ERR_GROUP);
    ck_assert_int_eq(MPI_Group_translate_ranks(a, 1, ranks, b, &how), MPI_ERR_GROUP);
    ck_assert_int_eq(MPI_Group_union(MPI_GROUP_EMPTY, b, &result), MPI_SUCCESS);
    ck_assert_ptr_eq(((struct pl_group *)result)->instance, &two);
    MPI_Group_free(&result);
    ck_assert_int_eq(MPI_Group_incl(a, 1, ranks, &result), MPI_SUCCESS);
    ck_assert_uint_eq(((struct pl_group *)result)->instance_serial, 1);
    MPI_Group_free(&result);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
}
END_TEST

/* More processes than an int can count, and a list from outside that names a process twice. */
START_TEST(impossible)
{
    fake_returning_errors();
    MPI_Group low = pl_object_handle(pl_instance_group_range(NULL, 1 << 30, 0, 1));
    MPI_Group high = pl_object_handle(pl_instance_group_range(NULL, 1 << 30, 1 << 30, 1)), result;
    ck_assert_int_eq(MPI_Group_union(low, high, &result), MPI_ERR_GROUP);
    MPI_Group_free(&low);
    MPI_Group_free(&high);
    struct list twice = { 2, { 7, 7 } };
    MPI_Group group = group_of(&twice);
    ck_assert_int_eq(pl_group_find((struct pl_group *)group, 7), 0);
    ck_assert_int_eq(pl_group_find((struct pl_group *)group, 8), MPI_UNDEFINED);
    MPI_Group_free(&group);
}
END_TEST

START_TEST(out_of_memory)
{
    fake_returning_errors();
    struct list a = { .size = 40 };
    for (int i = 0; i < 40; i++)
        a.procs[i] = (uint64_t)(i * 7 % 40);
    MPI_Group group = group_of(&a), result;
    int ranks[] = { 3, 5, 4 }, range[][3] = { { 0, 8, 2 } };
    for (int n = 1, failures = 1; failures > 0; n++) {
        failures = 0;
        for (int which = 0; which < 4; which++) {
            pl_memory_fail_at(n);
            int err = which == 0   ? MPI_Group_union(group, group, &result)
                      : which == 1 ? MPI_Group_incl(group, 3, ranks, &result)
                      : which == 2 ? MPI_Group_excl(group, 3, ranks, &result)
                                   : MPI_Group_range_incl(group, 1, range, &result);
            failures += pl_memory_failed();
            pl_memory_fail_at(0);
            /* Only the index is no reason to fail: a search without it takes longer. */
            ck_assert(err == MPI_SUCCESS || err == MPI_ERR_NO_MEM);
            if (err == MPI_SUCCESS)
                MPI_Group_free(&result);
        }
    }
    MPI_Group_free(&group);
    ck_assert_int_eq(pl_object_count(PL_GROUP), 0);
}
END_TEST

/* Large ones: nothing here is quadratic, or this would take hours. */
START_TEST(large)
{
    enum { SIZE = 100000 };
    fake_returning_errors();
    uint64_t *procs = malloc(SIZE * sizeof *procs);
    for (uint64_t i = 0; i < SIZE; i++)
        procs[i] = i * 7919 % SIZE;
    struct pl_group *shuffled = pl_instance_group(NULL, SIZE, procs),
                    *plain = pl_instance_group_range(NULL, SIZE, 0, 1);
    MPI_Group result;
    int how;
    ck_assert_int_eq(MPI_Group_compare((MPI_Group)shuffled, (MPI_Group)plain, &how), MPI_SUCCESS);
    ck_assert_int_eq(how, MPI_SIMILAR);
    ck_assert_int_eq(MPI_Group_intersection((MPI_Group)plain, (MPI_Group)shuffled, &result), MPI_SUCCESS);
    ck_assert_ptr_null(((struct pl_group *)result)->list);
    MPI_Group_free(&result);
    ck_assert_int_eq(MPI_Group_union((MPI_Group)shuffled, (MPI_Group)plain, &result), MPI_SUCCESS);
    ck_assert_int_eq(((struct pl_group *)result)->size, SIZE);
    MPI_Group_free(&result);
    pl_handle_drop(shuffled);
    pl_handle_drop(plain);
    free(procs);
}
END_TEST

/* Several threads search one group at the same time: one of them makes the index. */
static void *search(void *group)
{
    for (uint64_t i = 0; i < 1000; i++)
        if (pl_group_find(group, i * 3) != (int)(i * 7 % 1000))
            return "found in the wrong place";
    return NULL;
}

START_TEST(threads)
{
    uint64_t procs[1000];
    for (uint64_t i = 0; i < 1000; i++)
        procs[i * 7 % 1000] = i * 3;
    for (int round = 0; round < 20; round++) {
        struct pl_group *group = pl_instance_group(NULL, 1000, procs);
        pthread_t thread[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&thread[i], NULL, search, group);
        for (int i = 0; i < 3; i++) {
            void *wrong;
            pthread_join(thread[i], &wrong);
            ck_assert_msg(!wrong, "%s", (char *)wrong);
        }
        pl_handle_drop(group);
    }
}
END_TEST

UNIT_MAIN("group", set_operations, by_rank, by_range, translate, mistakes, empty, two_sessions, impossible,
          out_of_memory, large, threads)
