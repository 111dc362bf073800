/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tenants: names and places. A name keeps its place, a new one gets a vacant place, then that of the tenant that was
 * opened least recently and is idle; never one in use. Names are entered without a lock, too. The lock excludes, and a
 * dead holder loses it. Words of copies.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/job/tenant.h"
#include "unit.h"

enum { PLACES = 5 };

static struct pl_job_shared *first;
static unsigned in_use; /* a bit for each place */
static int emptied[100], emptied_count;

static void setup(void)
{
    size_t bytes = sizeof *first + sizeof(struct pl_job_rank);
    first = aligned_alloc(64, (bytes + 63) / 64 * 64);
    ck_assert_ptr_nonnull(first);
    memset(first, 0, bytes);
    in_use = 0;
    emptied_count = 0;
}

static void teardown(void)
{
    free(first);
}

static bool fake_empty(int tenant)
{
    if (in_use >> tenant & 1)
        return false;
    emptied[emptied_count++] = tenant;
    return true;
}

static void fill(void)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    for (int i = 0; i < PLACES - 1; i++)
        ck_assert_int_eq(pl_tenant_find(first, PLACES, names[i]), i + 1);
}

START_TEST(names)
{
    ck_assert_int_eq(pl_tenant_find(first, PLACES, ""), 0);
    fill();
    ck_assert_int_eq(pl_tenant_find(first, PLACES, "c"), 3);
    ck_assert_int_eq(pl_tenant_find(first, PLACES, "a"), 1);
    ck_assert_int_eq(pl_tenant_find(first, PLACES, "e"), -1);
    ck_assert_int_eq(pl_tenant_find(first, PLACES, ""), 0);
    ck_assert(pl_job_has_tenant(first, 0));
    ck_assert(pl_job_has_tenant(first, 4));
    ck_assert(!pl_job_has_tenant(first, 5));
}
END_TEST

/* A vacant place before a name's own must not hide that. */
START_TEST(vacant_before_own)
{
    fill();
    atomic_store(&first->tenant[1], 0);
    ck_assert_int_eq(pl_tenant_find(first, PLACES, "d"), 4);
    ck_assert_int_eq(pl_tenant_find(first, PLACES, "e"), 1);
}
END_TEST

START_TEST(replaced_is_the_oldest)
{
    fill();
    pl_tenant_find(first, PLACES, "a");
    ck_assert_int_eq(pl_tenant_replace(first, PLACES, "e", fake_empty), 2);
    ck_assert_int_eq(pl_tenant_find(first, PLACES, "e"), 2);
    ck_assert_int_eq(pl_tenant_find(first, PLACES, "b"), -1);
    ck_assert_int_eq(pl_tenant_replace(first, PLACES, "b", fake_empty), 3);
    ck_assert_int_eq(emptied_count, 2);
}
END_TEST

START_TEST(in_use_is_not_replaced)
{
    fill();
    in_use = 1u << 1 | 1u << 2 | 1u << 4;
    ck_assert_int_eq(pl_tenant_replace(first, PLACES, "e", fake_empty), 3);
    in_use = ~0u;
    ck_assert_int_eq(pl_tenant_replace(first, PLACES, "f", fake_empty), -1);
    ck_assert_int_eq(pl_tenant_find(first, PLACES, "a"), 1);
    ck_assert_int_eq(pl_tenant_find(first, PLACES, "e"), 3);
    ck_assert_int_eq(emptied_count, 1);
}
END_TEST

/* Damage: the limit comes from the description, and is bounded all the same. */
START_TEST(limits)
{
    for (int i = 1; i < PL_JOB_TENANTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        ck_assert_int_eq(pl_tenant_find(first, 1000, name), i);
    }
    ck_assert_int_eq(pl_tenant_find(first, 1000, "more"), -1);
    ck_assert_int_eq(pl_tenant_find(first, 1, "n1"), -1);
    ck_assert_int_eq(pl_tenant_replace(first, 1, "more", fake_empty), -1);
    ck_assert_int_eq(pl_tenant_replace(first, 1000, "more", fake_empty), 1);
}
END_TEST

/* --- the lock ----------------------------------------------------------------------------------------------------- */

static int inside, entries, overlaps;

static void *enter_often(void *unused)
{
    for (int i = 0; i < 200; i++) {
        pl_tenant_lock(first);
        overlaps += inside++ != 0;
        entries++;
        inside--;
        pl_tenant_unlock(first);
    }
    return unused;
}

START_TEST(lock_excludes)
{
    pthread_t threads[4];
    inside = entries = overlaps = 0;
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, enter_often, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(entries, 800);
    ck_assert_int_eq(overlaps, 0);
    ck_assert_int_eq(atomic_load(&first->seating), 0);
}
END_TEST

START_TEST(lock_of_the_dead)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    atomic_store(&first->seating, (int32_t)child);
    pl_tenant_lock(first);
    ck_assert_int_eq(atomic_load(&first->seating), (int32_t)getpid());
    pl_tenant_unlock(first);
    ck_assert_int_eq(atomic_load(&first->seating), 0);
}
END_TEST

/* The lock was taken from this process while it was stopped. */
START_TEST(lock_of_another_stays)
{
    atomic_store(&first->seating, 1);
    pl_tenant_unlock(first);
    ck_assert_int_eq(atomic_load(&first->seating), 1);
}
END_TEST

/* Copies and an agent enter the same keys at the same time, in different orders, without the lock. */
enum { KEYS = 41, ENTERERS = 4 };
static int entered[ENTERERS][KEYS];
static pthread_barrier_t together;

static void *enter_keys(void *at)
{
    int *mine = at, stride = 2 * (int)(mine - entered[0]) / KEYS + 1; /* 1, 3, 5, 7 */
    pthread_barrier_wait(&together);
    for (int i = 0; i < KEYS; i++) {
        int k = i * stride % KEYS;
        mine[k] = pl_job_enter_tenant(first, PL_JOB_TENANTS, 1000u + (unsigned)k);
    }
    return NULL;
}

START_TEST(entered_at_once)
{
    pthread_t threads[ENTERERS];
    pthread_barrier_init(&together, NULL, ENTERERS);
    for (int round = 0; round < 50; round++) {
        memset((void *)first->tenant, 0, sizeof first->tenant);
        memset(entered, 0, sizeof entered);
        for (int i = 0; i < ENTERERS; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, enter_keys, entered[i]), 0);
        for (int i = 0; i < ENTERERS; i++)
            pthread_join(threads[i], NULL);
        for (int k = 0; k < KEYS; k++) {
            int place = pl_job_enter_tenant(first, PL_JOB_TENANTS, 1000u + (unsigned)k);
            ck_assert_int_gt(place, 0);
            for (int i = 0; i < ENTERERS; i++)
                ck_assert_int_eq(entered[i][k], place);
        }
        ck_assert(pl_job_has_tenant(first, KEYS));
        ck_assert(!pl_job_has_tenant(first, KEYS + 1));
    }
    pthread_barrier_destroy(&together);
}
END_TEST

/* --- names and words of copies ------------------------------------------------------------------------------------ */

/* This test program contains the library, so its copy has no name. */
START_TEST(own_name)
{
    char name[PL_TENANT_NAME];
    pl_tenant_name(1, name);
    ck_assert_str_eq(name, "");
    pl_tenant_name(2, name);
    ck_assert_str_eq(name, "#2");
    ck_assert(pl_tenant_key("a") != pl_tenant_key("b"));
    ck_assert(pl_tenant_key("") != 0);
}
END_TEST

START_TEST(copies)
{
    uint64_t own = pl_tenant_copy(), other_program = own ^ 1ull << 60;
    int local = 0;
    uint64_t nowhere = (own & ~((1ull << 48) - 1)) | ((uint64_t)(uintptr_t)&local & ((1ull << 48) - 1));
    ck_assert(pl_tenant_same_program(own));
    ck_assert(!pl_tenant_same_program(other_program));
    ck_assert(!pl_tenant_same_program(0));
    ck_assert(pl_tenant_is_loaded(own));
    ck_assert(!pl_tenant_is_loaded(other_program));
    ck_assert(!pl_tenant_is_loaded(nowhere));
    ck_assert(!pl_tenant_is_loaded(0));
    ck_assert(!pl_tenant_is_other(own));
    ck_assert(!pl_tenant_is_other(nowhere));
    ck_assert(!pl_tenant_is_other(0));
    ck_assert(!pl_tenant_is_other(own + 1)); /* where this library was before it was loaded again */
}
END_TEST

UNIT_MAIN_WITH("tenant", setup, teardown, names, vacant_before_own, replaced_is_the_oldest, in_use_is_not_replaced,
               limits, lock_excludes, lock_of_the_dead, lock_of_another_stays, entered_at_once, own_name, copies)
