/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of published process sets: publishing, changing, withdrawing, many at once from several processes that are
 * killed in the middle, threads, damaged tables, lack of memory.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/job/sets.h"
#include "unit.h"

enum { CAPACITY = 4096, SIZE = 64, WRITERS = 4, KILLS = 60 };

static struct pl_job_table table[1];

static void make(void)
{
    void *at = mmap(NULL, PL_JOB_TABLE_BYTES(CAPACITY), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(at, MAP_FAILED);
    *table = (struct pl_job_table){ at, CAPACITY, SIZE };
}

static void unmake(void)
{
    munmap(table->memory, PL_JOB_TABLE_BYTES(CAPACITY));
}

static const char *put(const char *name, uint32_t first, uint32_t last)
{
    uint64_t version;
    return pl_job_sets_change(table, name, (uint32_t[]){ first, last }, 1, &version);
}

static const char *withdraw(const char *name)
{
    uint64_t version;
    return pl_job_sets_change(table, name, NULL, 0, &version);
}

START_TEST(life_of_a_set)
{
    struct pl_job_sets sets;
    make();
    ck_assert_ptr_null(pl_job_sets_open(table, &sets));
    ck_assert_int_eq(sets.count, 0);
    pl_job_sets_close(&sets);
    ck_assert_ptr_null(put("app://a", 1, 3));
    ck_assert_ptr_null(put("app://b", 5, 5));
    ck_assert_ptr_null(put("app://a", 1, 3)); /* as it was: no change */
    ck_assert_uint_eq(pl_job_sets_version(table), 2);
    ck_assert_ptr_null(put("APP://A", 0, 63));
    ck_assert_ptr_null(pl_job_sets_open(table, &sets));
    ck_assert_int_eq(sets.count, 2);
    const struct pl_job_set *a = pl_job_sets_find(&sets, "app://a");
    ck_assert(a && a->version == 3 && a->count == 1 && a->ranges[0] == 0 && a->ranges[1] == 63);
    pl_job_sets_close(&sets);
    ck_assert_ptr_null(withdraw("app://a"));
    ck_assert_ptr_nonnull(strstr(withdraw("app://a"), "not published"));
    ck_assert_ptr_null(put("app://a", 2, 2));
    ck_assert_ptr_null(pl_job_sets_open(table, &sets));
    a = pl_job_sets_find(&sets, "app://a");
    ck_assert(a && a->version == 5);
    ck_assert_uint_eq(sets.version, 5);
    pl_job_sets_close(&sets);
    unmake();
}
END_TEST

/* Full, which does no harm, and empty again, many times. */
START_TEST(full)
{
    struct pl_job_sets sets;
    char name[64];
    const char *said = NULL;
    int count = 0;
    make();
    for (int round = 0; round < 3; round++) {
        for (count = 0; !said; count++) {
            snprintf(name, sizeof name, "app://set/%d/%d", round, count);
            said = put(name, 0, (uint32_t)count % SIZE);
        }
        ck_assert_ptr_nonnull(strstr(said, "full"));
        ck_assert_int_gt(count, 40);
        said = NULL;
        ck_assert_ptr_null(pl_job_sets_open(table, &sets));
        ck_assert_int_eq(sets.count, count - 1);
        for (int i = 0; i < sets.count; i++)
            ck_assert_ptr_null(withdraw(sets.set[i].name));
        pl_job_sets_close(&sets);
    }
    ck_assert_ptr_null(pl_job_sets_open(table, &sets));
    ck_assert_int_eq(sets.count, 0);
    pl_job_sets_close(&sets);
    unmake();
}
END_TEST

/* --- killed in the middle --------------------------------------------------------------------------------------- */

/* Every set is whole if all its ranges are {k, k} for one k, as many as k says. */
static void check_whole(void)
{
    struct pl_job_sets sets;
    const char *wrong = pl_job_sets_open(table, &sets);
    UNIT_CHECK(!wrong);
    for (int i = 0; i < sets.count; i++) {
        UNIT_CHECK(sets.set[i].count >= 1);
        UNIT_CHECK(sets.set[i].version <= sets.version);
        uint32_t k = sets.set[i].ranges[0];
        UNIT_CHECK(sets.set[i].count == 1 + k % 30);
        for (uint32_t r = 0; r < 2 * sets.set[i].count; r++)
            UNIT_CHECK(sets.set[i].ranges[r] == k);
    }
    pl_job_sets_close(&sets);
}

static void publish_one(const char *name, uint32_t k)
{
    uint32_t ranges[64];
    uint64_t version;
    for (uint32_t r = 0; r < 64; r++)
        ranges[r] = k;
    UNIT_CHECK(!pl_job_sets_change(table, name, ranges, 1 + k % 30, &version));
}

static void write_for_ever(int number)
{
    char name[32];
    for (uint32_t k = 0;; k = (k + 1) % SIZE) {
        snprintf(name, sizeof name, "app://%d", (int)(k % 3) + number % 2);
        publish_one(name, k);
    }
}

static pid_t start_writer(int number)
{
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(60);
        write_for_ever(number);
    }
    return pid;
}

START_TEST(killed_in_the_middle)
{
    pid_t writer[WRITERS];
    uint64_t state = 3;
    make();
    for (int i = 0; i < WRITERS; i++)
        writer[i] = start_writer(i);
    for (int n = 0; n < KILLS; n++) {
        struct timespec moment = { .tv_nsec = 200000 + 1000 * unit_below(&state, 2000) };
        nanosleep(&moment, NULL);
        int victim = unit_below(&state, WRITERS);
        kill(writer[victim], SIGKILL);
        check_whole();
        waitpid(writer[victim], NULL, 0);
        publish_one("app://mine", (uint32_t)n % SIZE); /* no other process delays it */
        check_whole();
        writer[victim] = start_writer(n);
    }
    for (int i = 0; i < WRITERS; i++) {
        kill(writer[i], SIGKILL);
        waitpid(writer[i], NULL, 0);
    }
    uint64_t before = pl_job_sets_version(table);
    ck_assert_uint_gt(before, KILLS);
    for (uint32_t k = 0; k < 20; k++)
        publish_one("app://mine", k);
    ck_assert_uint_ge(pl_job_sets_version(table), before + 19);
    check_whole();
    unmake();
}
END_TEST

/* A stopped process holds a buffer and delays no other. */
START_TEST(stopped_in_the_middle)
{
    make();
    pid_t writer[3];
    for (int i = 0; i < 3; i++) {
        writer[i] = start_writer(i);
        nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
        kill(writer[i], SIGSTOP);
        waitpid(writer[i], NULL, WUNTRACED);
    }
    for (uint32_t k = 0; k < 50; k++)
        publish_one("app://mine", k % SIZE);
    check_whole();
    for (int i = 0; i < 3; i++) {
        kill(writer[i], SIGKILL);
        waitpid(writer[i], NULL, 0);
    }
    unmake();
}
END_TEST

static void *publish_many(void *arg)
{
    char name[32];
    snprintf(name, sizeof name, "app://thread/%ld", (long)(intptr_t)arg);
    for (uint32_t k = 1; k <= 300; k++) {
        publish_one(name, k % SIZE);
        if (k % 10 == 0)
            check_whole();
    }
    return NULL;
}

START_TEST(threads)
{
    pthread_t thread[4];
    make();
    for (intptr_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, publish_many, (void *)i), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    ck_assert_uint_eq(pl_job_sets_version(table), 4 * 300); /* no change was lost */
    unmake();
}
END_TEST

/* --- what must not be believed ---------------------------------------------------------------------------------- */

START_TEST(damaged)
{
    struct pl_job_sets sets;
    uint64_t state = 11;
    int refused = 0;
    make();
    for (int i = 0; i < 20000; i++) {
        memset(table->memory, 0, sizeof *table->memory + CAPACITY);
        put("app://one", 1, 2);
        put("app://two", 3, 9);
        unsigned char *bytes = (unsigned char *)(table->memory + 1) + (size_t)(table->memory->current & 255) * CAPACITY;
        for (int n = 1 + unit_below(&state, 3); n > 0; n--)
            bytes[unit_below(&state, 96)] = (unsigned char)unit_random(&state);
        if (unit_below(&state, 20) == 0)
            table->memory->current = unit_random(&state);
        if (pl_job_sets_open(table, &sets)) {
            refused++;
            continue;
        }
        for (int k = 0; k < sets.count; k++) {
            UNIT_CHECK(strlen(sets.set[k].name) > 0);
            for (uint32_t r = 0; r < 2 * sets.set[k].count; r++)
                UNIT_CHECK(sets.set[k].ranges[r] < SIZE);
        }
        pl_job_sets_close(&sets);
    }
    ck_assert_int_gt(refused, 5000);
    unmake();
}
END_TEST

START_TEST(short_of_memory)
{
    make();
    ck_assert_ptr_null(put("app://a", 1, 3));
    bool failed = true;
    for (long n = 1; failed; n++) {
        pl_memory_fail_at(n);
        const char *said = put("app://b", 0, (uint32_t)n);
        failed = pl_memory_failed();
        pl_memory_fail_at(0);
        ck_assert(failed ? said && strstr(said, "memory") : !said);
    }
    ck_assert_uint_eq(pl_job_sets_version(table), 2);
    unmake();
}
END_TEST

/* A copy in another table has the same sets and versions, whatever was there. */
START_TEST(replaced)
{
    struct pl_job_table other[1];
    struct pl_job_sets sets, copy;
    make();
    *other = *table;
    make();
    ck_assert_ptr_null(put("app://a", 1, 3));
    ck_assert_ptr_null(put("app://b", 5, 5));
    ck_assert_ptr_null(put("app://a", 0, 63));
    ck_assert_ptr_null(pl_job_sets_open(table, &sets));
    for (int i = 0; i < 3 * PL_JOB_BUFFERS; i++) {
        memset((void *)other->memory, i % 2 ? 0xff : i, PL_JOB_TABLE_BYTES(CAPACITY));
        ck_assert_ptr_null(pl_job_sets_replace(other, &sets));
        ck_assert_ptr_null(pl_job_sets_open(other, &copy));
        ck_assert(copy.version == 3 && copy.count == 2);
        const struct pl_job_set *a = pl_job_sets_find(&copy, "app://a"), *b = pl_job_sets_find(&copy, "app://b");
        ck_assert(a && a->version == 3 && a->count == 1 && a->ranges[0] == 0 && a->ranges[1] == 63);
        ck_assert(b && b->version == 2 && b->count == 1 && b->ranges[0] == 5 && b->ranges[1] == 5);
        pl_job_sets_close(&copy);
    }
    pl_job_sets_close(&sets);
    ck_assert_ptr_null(pl_job_sets_replace(other, &(struct pl_job_sets){ .version = 4 }));
    ck_assert_ptr_null(pl_job_sets_open(other, &copy));
    ck_assert(copy.version == 4 && copy.count == 0);
    pl_job_sets_close(&copy);
    other->capacity = 64; /* too small for two sets */
    ck_assert_ptr_null(pl_job_sets_open(table, &sets));
    ck_assert_ptr_nonnull(strstr(pl_job_sets_replace(other, &sets), "full"));
    pl_job_sets_close(&sets);
    munmap(other->memory, PL_JOB_TABLE_BYTES(CAPACITY));
    unmake();
}
END_TEST

UNIT_MAIN("job_sets", life_of_a_set, full, killed_in_the_middle, stopped_in_the_middle, threads, damaged,
          short_of_memory, replaced)
