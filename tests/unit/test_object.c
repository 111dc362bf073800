/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects: reference counts, handles of every kind and of none, the arena's memory, threads. */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/object/group.h"
#include "core/object/info.h"
#include "core/object/object.h"

/* Groups are safe for a zeroed destructor, infos are not; both are created as their modules create them. */
static void *make_group(void)
{
    void *group = pl_object_create(PL_GROUP);
    UNIT_CHECK(group != NULL);
    return group;
}

START_TEST(counts)
{
    void *group = make_group();
    ck_assert_int_eq(pl_object_count(PL_GROUP), 1);
    ck_assert_ptr_eq(pl_object_find(PL_GROUP, group), group);
    ck_assert_ptr_eq(pl_object_handle(group), group);

    ck_assert_ptr_eq(pl_handle_share(group), group);
    pl_handle_drop(group);
    ck_assert_ptr_eq(pl_object_find(PL_GROUP, group), group);

    ck_assert_ptr_eq(pl_object_retain(group), group);
    pl_handle_drop(group);
    ck_assert_ptr_null(pl_object_find(PL_GROUP, group)); /* the user has no reference, the test still has */
    ck_assert_int_eq(pl_object_count(PL_GROUP), 1);
    pl_handle_drop(group); /* freeing it twice does not release the test's reference */
    ck_assert_int_eq(pl_object_count(PL_GROUP), 1);
    pl_object_release(group);
    ck_assert_int_eq(pl_object_count(PL_GROUP), 0);
    ck_assert_ptr_null(pl_object_find(PL_GROUP, group));
    pl_object_release(NULL);
}
END_TEST

START_TEST(hidden)
{
    void *group = pl_object_create_hidden(PL_GROUP);
    ck_assert_ptr_null(pl_object_find(PL_GROUP, group));
    pl_handle_share(group);
    ck_assert_ptr_eq(pl_object_find(PL_GROUP, group), group);
    pl_handle_drop(group);
    ck_assert_ptr_null(pl_object_find(PL_GROUP, group));
    pl_object_release(group);
    ck_assert_int_eq(pl_object_count(PL_GROUP), 0);
}
END_TEST

START_TEST(zeroed)
{
    for (int i = 0; i < 200; i++) {
        struct pl_group *group = make_group();
        ck_assert_int_eq(group->size, 0);
        ck_assert_ptr_null(group->list);
        ck_assert_uint_eq(group->first, 0);
        group->size = 7;
        group->first = 7;
        pl_handle_drop(group);
    }
}
END_TEST

START_TEST(predefined)
{
    void *empty = pl_object_find(PL_GROUP, MPI_GROUP_EMPTY);
    ck_assert_ptr_nonnull(empty);
    ck_assert_ptr_eq(pl_object_handle(empty), (void *)MPI_GROUP_EMPTY);
    for (int i = 0; i < 5; i++) {
        pl_handle_drop(empty);
        pl_object_release(empty);
    }
    ck_assert_ptr_eq(pl_object_find(PL_GROUP, MPI_GROUP_EMPTY), empty);
    ck_assert_int_eq(pl_object_count(PL_GROUP), 0);
    ck_assert_ptr_null(pl_object_find(PL_INFO, MPI_GROUP_EMPTY));
    ck_assert_ptr_null(pl_object_find(PL_WIN, MPI_GROUP_EMPTY));
}
END_TEST

START_TEST(messages)
{
    int class;
    ck_assert_ptr_null(pl_object_get(PL_COMM, MPI_COMM_NULL, "comm"));
    ck_assert_str_eq(pl_error_detail(&class), "comm is MPI_COMM_NULL");
    ck_assert_int_eq(class, MPI_ERR_COMM);
    ck_assert_ptr_null(pl_object_get(PL_INFO, (void *)0x7fff0000, "info"));
    ck_assert_str_eq(pl_error_detail(&class), "info is not a valid info object: 0x7fff0000 was never one, or is freed");
    ck_assert_int_eq(class, MPI_ERR_INFO);
    for (int kind = 1; kind < PL_KINDS; kind++) {
        ck_assert(pl_handle_is_null(kind, (void *)pl_kinds[kind].null));
        ck_assert_ptr_null(pl_object_get(kind, (void *)pl_kinds[kind].null, "x"));
        pl_error_detail(&class);
        ck_assert_int_eq(class, pl_kinds[kind].error);
    }
}
END_TEST

static void expect_unknown(const void *pointer, const void *except)
{
    if (pointer == except || (uintptr_t)pointer < PL_ABI_CONSTANTS)
        return;
    for (int kind = 1; kind < PL_KINDS; kind++)
        if (pl_object_find(kind, pointer))
            ck_abort_msg("%p was taken for a %s", pointer, pl_kinds[kind].name);
}

START_TEST(wild_handles)
{
    uint64_t seed = 12;
    static int global;
    int local;
    char *heap = malloc(1 << 16), *gone = malloc(4096);
    void *unmapped = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct pl_group *group = make_group();
    volatile uintptr_t dangling = (uintptr_t)gone;
    free(gone);

    const void *some[] = { &global,
                           &local,
                           heap,
                           heap + 8,
                           unmapped,
                           (void *)dangling,
                           stdout,
                           (void *)expect_unknown,
                           (void *)-1,
                           (void *)-8,
                           (void *)INTPTR_MAX,
                           (void *)0x1000,
                           environ,
                           pl_kinds };
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
        expect_unknown(some[i], NULL);
    for (int i = 0; i < 20000; i++) {
        expect_unknown((void *)(uintptr_t)unit_random(&seed), NULL);
        expect_unknown((void *)(uintptr_t)(unit_random(&seed) >> unit_below(&seed, 60)), group);
        expect_unknown(heap + unit_below(&seed, 1 << 16), NULL);
        expect_unknown((char *)unmapped + unit_below(&seed, 1 << 20), NULL);
    }
    /*
     * Every byte of the arena near a live object, and bytes far from it: only the object itself is valid, of its kind.
     */
    for (int offset = -200000; offset < 200000; offset++)
        expect_unknown((char *)group + offset, group);
    for (int i = 0; i < 20000; i++)
        expect_unknown((char *)group + (intptr_t)(unit_random(&seed) >> 28), group);
    ck_assert_ptr_eq(pl_object_find(PL_GROUP, group), group);
    ck_assert_ptr_null(pl_object_find(PL_INFO, group));
    ck_assert_ptr_null(pl_object_find(PL_COMM, group));

    pl_handle_drop(group);
    expect_unknown(group, NULL);
    munmap(unmapped, 1 << 20);
    free(heap);
}
END_TEST

/* Every small integer is a constant of the ABI or invalid; each constant has one kind only. */
START_TEST(small_integers)
{
    for (uintptr_t value = 0; value < PL_ABI_CONSTANTS; value++) {
        int kinds = 0;
        for (int kind = 1; kind < PL_KINDS; kind++) {
            struct pl_object *object = pl_object_find(kind, (void *)value);
            if (!object)
                continue;
            kinds++;
            ck_assert_int_eq(object->kind, kind);
            ck_assert_uint_eq((uintptr_t)pl_object_handle(object), value);
        }
        ck_assert_int_le(kinds, 1);
    }
}
END_TEST

/* Many objects of several sizes, freed in another order: each is found exactly while it lives. */
START_TEST(many)
{
    enum { MANY = 20000 };
    void **objects = malloc(MANY * sizeof *objects);
    bool *alive = malloc(MANY * sizeof *alive);
    uint64_t seed = 99;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            objects[i] = i % 3 ? make_group() : (void *)pl_info_create();
            alive[i] = true;
        }
        ck_assert_int_eq(pl_object_count(PL_GROUP) + pl_object_count(PL_INFO), MANY);
        for (int i = 0; i < MANY; i++) {
            int k = unit_below(&seed, MANY);
            if (alive[k])
                pl_handle_drop(objects[k]);
            alive[k] = false;
        }
        for (int i = 0; i < MANY; i++) {
            enum pl_kind kind = i % 3 ? PL_GROUP : PL_INFO;
            UNIT_CHECK(pl_object_find(kind, objects[i]) == (alive[i] ? objects[i] : NULL));
            if (alive[i])
                pl_handle_drop(objects[i]);
        }
        ck_assert_int_eq(pl_object_count(PL_GROUP), 0);
        ck_assert_int_eq(pl_object_count(PL_INFO), 0);
        if (round == 1)
            pl_object_trim();
    }
    free(alive);
    free(objects);
}
END_TEST

static bool is_mapped(const void *address)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    bool found = false;
    uintptr_t low, high;
    while (fgets(line, sizeof line, maps))
        found |= sscanf(line, "%lx-%lx", &low, &high) == 2 && (uintptr_t)address >= low && (uintptr_t)address < high;
    fclose(maps);
    return found;
}

static long resident_pages(void)
{
    long size, resident = -1;
    FILE *statm = fopen("/proc/self/statm", "r");
    ck_assert_int_eq(fscanf(statm, "%ld %ld", &size, &resident), 2);
    fclose(statm);
    return resident;
}

START_TEST(trim)
{
    enum { MANY = 50000 };
    static void *objects[MANY];
    long resident = resident_pages();
    void *kept = make_group();
    ck_assert(is_mapped(kept));
    pl_object_trim(); /* one lives: nothing happens */
    ck_assert_ptr_eq(pl_object_find(PL_GROUP, kept), kept);
    for (int i = 0; i < MANY; i++)
        objects[i] = make_group();
    for (int i = 0; i < MANY; i++)
        pl_handle_drop(objects[i]);
    ck_assert_ptr_eq(pl_object_find(PL_GROUP, kept), kept);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ck_assert_int_lt(resident_pages() - resident, 2000); /* of the 1500 pages of the objects most are given back */
#endif
    (void)resident;
    pl_handle_drop(kept);
    pl_object_trim();
    pl_object_trim();
    ck_assert(!is_mapped(kept));
    ck_assert_ptr_null(pl_object_find(PL_GROUP, kept));
    void *again = make_group();
    ck_assert_ptr_eq(pl_object_find(PL_GROUP, again), again);
    pl_handle_drop(again);
}
END_TEST

START_TEST(out_of_memory)
{
    int class;
    pl_memory_fail_at(1);
    ck_assert_ptr_null(pl_object_create(PL_GROUP));
    ck_assert_str_eq(pl_error_detail(&class), "out of memory for group");
    ck_assert_int_eq(class, MPI_ERR_NO_MEM);
    ck_assert(pl_memory_failed());
    pl_handle_drop(make_group());
}
END_TEST

/* With little address space the arena is smaller. Not under sanitizers, which need a lot. */
START_TEST(little_address_space)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    struct rlimit limit = { .rlim_cur = (rlim_t)2 << 30, .rlim_max = (rlim_t)2 << 30 };
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    void *group = make_group();
    ck_assert_ptr_eq(pl_object_find(PL_GROUP, group), group);
    pl_handle_drop(group);
#endif
}
END_TEST

/* --- threads ------------------------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 20000, SLOTS = 64 };
static void *_Atomic shared[SLOTS];

/* Creates and frees objects, passes some to the other threads to free, and checks all handles that it has seen. */
static void *hammer(void *argument)
{
    uint64_t seed = (uint64_t)(uintptr_t)argument;
    void *mine[SLOTS] = { NULL }, *seen[SLOTS] = { NULL };
    for (int i = 0; i < ROUNDS; i++) {
        int k = unit_below(&seed, SLOTS);
        if (!mine[k]) {
            seen[k] = mine[k] = make_group();
        } else {
            if (pl_object_find(PL_GROUP, mine[k]) != mine[k])
                return "a live object was not found";
            if (unit_below(&seed, 4) == 0) {
                void *theirs = atomic_exchange(&shared[k], mine[k]);
                if (theirs)
                    pl_handle_drop(theirs);
            } else {
                pl_handle_drop(mine[k]);
            }
            mine[k] = NULL;
        }
        pl_object_find(PL_GROUP, seen[unit_below(&seed, SLOTS)]);
        if (pl_object_find(PL_INFO, seen[unit_below(&seed, SLOTS)]))
            return "a group was taken for an info";
    }
    for (int k = 0; k < SLOTS; k++)
        if (mine[k])
            pl_handle_drop(mine[k]);
    return NULL;
}

START_TEST(threads)
{
    pthread_t thread[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, hammer, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        ck_assert_msg(!wrong, "%s", (char *)wrong);
    }
    for (int k = 0; k < SLOTS; k++)
        if (shared[k])
            pl_handle_drop(shared[k]);
    ck_assert_int_eq(pl_object_count(PL_GROUP), 0);
    pl_object_trim();
}
END_TEST

/* One object, retained and released by all: destroyed exactly once, by the last. */
static void *retain_release(void *object)
{
    for (int i = 0; i < ROUNDS; i++) {
        pl_object_retain(object);
        pl_handle_share(object);
        pl_handle_drop(object);
        pl_object_release(object);
    }
    pl_object_release(object);
    return NULL;
}

START_TEST(shared_counts)
{
    pthread_t thread[THREADS];
    void *group = make_group();
    for (int i = 0; i < THREADS; i++) {
        pl_object_retain(group);
        ck_assert_int_eq(pthread_create(&thread[i], NULL, retain_release, group), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    ck_assert_ptr_eq(pl_object_find(PL_GROUP, group), group);
    pl_handle_drop(group);
    ck_assert_int_eq(pl_object_count(PL_GROUP), 0);
}
END_TEST

UNIT_MAIN("object", counts, hidden, zeroed, predefined, messages, wild_handles, small_integers, many, trim,
          out_of_memory, little_address_space, threads, shared_counts)
