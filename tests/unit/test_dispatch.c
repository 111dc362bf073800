/* SPDX-License-Identifier: BSD-3-Clause */
/* Which job starts next, as pure functions: the order, the fit, backfill, and 100,000 jobs with a simulated clock. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "world/runtime/dispatch/dispatch.h"
#include "world/runtime/dispatch/resource.h"

enum { FIFO, BACKFILL, SLOTS = 0, GPU = 1 };

static struct pl_dispatch d;

static void dispatch_begin(int policy, long slots, long gpus)
{
    pl_dispatch_init(&d);
    pl_dispatch_set_policy(&d, pl_policies[policy]);
    pl_dispatch_set_total(&d, SLOTS, slots);
    pl_dispatch_set_total(&d, GPU, gpus);
}

static struct pl_task task_of(long slots, long gpus, int64_t most_ms, long priority)
{
    return (struct pl_task){ .takes.of = { slots, gpus }, .most_ms = most_ms, .priority = priority };
}

static void expect_next(struct pl_task *wanted, int64_t now)
{
    struct pl_task *next = pl_dispatch_next(&d, now);
    ck_assert_ptr_eq(next, wanted);
    if (next)
        pl_dispatch_start(&d, next, now);
}

START_TEST(fifo_does_not_overtake)
{
    struct pl_task a = task_of(3, 0, 0, 0), wide = task_of(4, 0, 0, 0), small = task_of(1, 0, 1, 0);
    dispatch_begin(FIFO, 4, 0);
    ck_assert_int_eq(pl_dispatch_wait(&d, &a), 0);
    ck_assert_int_eq(pl_dispatch_wait(&d, &wide), 1);
    ck_assert_int_eq(pl_dispatch_wait(&d, &small), 2);
    expect_next(&a, 0);
    expect_next(NULL, 0);
    pl_dispatch_end(&d, &a);
    expect_next(&wide, 1);
    expect_next(NULL, 1);
    pl_dispatch_end(&d, &wide);
    expect_next(&small, 2);
}
END_TEST

START_TEST(priority)
{
    struct pl_task t[] = { task_of(1, 0, 0, 0), task_of(1, 0, 0, 0), task_of(1, 0, 0, 5), task_of(1, 0, 0, -5) };
    dispatch_begin(FIFO, 1, 0);
    for (int i = 0; i < 4; i++)
        pl_dispatch_wait(&d, &t[i]);
    expect_next(&t[2], 0);
    pl_dispatch_set_priority(&d, &t[2], 1); /* it runs: nothing moves */
    pl_dispatch_set_priority(&d, &t[0], -1);
    pl_dispatch_set_priority(&d, &t[3], 7);
    pl_dispatch_end(&d, &t[2]);
    expect_next(&t[3], 0);
    pl_dispatch_end(&d, &t[3]);
    expect_next(&t[1], 0);
    pl_dispatch_end(&d, &t[1]);
    expect_next(&t[0], 0);
}
END_TEST

/* Slots without a limit, and resources with one; a task of too many slots runs alone. */
START_TEST(kinds)
{
    struct pl_task a = task_of(100, 2, 0, 0), b = task_of(1, 1, 0, 0), c = task_of(1, 0, 0, 0);
    dispatch_begin(FIFO, 0, 2);
    ck_assert(pl_dispatch_admits(&d, &a, 0));
    pl_dispatch_start(&d, &a, 0);
    ck_assert(!pl_dispatch_admits(&d, &b, 0));
    ck_assert(pl_dispatch_admits(&d, &c, 0));
    pl_dispatch_set_total(&d, SLOTS, 4);
    ck_assert(!pl_dispatch_admits(&d, &c, 0));
    pl_dispatch_end(&d, &a);
    pl_dispatch_start(&d, &c, 0);
    ck_assert(!pl_dispatch_admits(&d, &a, 0));
    pl_dispatch_end(&d, &c);
    ck_assert(pl_dispatch_admits(&d, &a, 0));
}
END_TEST

/* The first one can start at 100: what ends before, or takes what is left beside it, may go first. */
START_TEST(backfill_with_limits)
{
    struct pl_task a = task_of(3, 0, 100, 0), wide = task_of(3, 0, 0, 0), small_gpu = task_of(1, 1, 0, 0);
    struct pl_task longer = task_of(1, 0, 101, 0), brief = task_of(1, 0, 100, 0), beside = task_of(1, 0, 0, 0);
    dispatch_begin(BACKFILL, 4, 1);
    pl_dispatch_start(&d, &a, 0);
    pl_dispatch_wait(&d, &wide);
    pl_dispatch_wait(&d, &beside); /* 3 + 1 fit at 100 */
    expect_next(&beside, 0);
    pl_dispatch_end(&d, &beside);
    wide.takes.of[SLOTS] = 4; /* as if it had asked for all */
    pl_dispatch_wait(&d, &longer);
    pl_dispatch_wait(&d, &brief);
    expect_next(&brief, 0);
    pl_dispatch_end(&d, &brief);
    expect_next(NULL, 1);
    pl_dispatch_wait(&d, &small_gpu); /* of a kind that wide does not take, but it also takes a slot */
    expect_next(NULL, 1);
    pl_dispatch_end(&d, &a);
    expect_next(&wide, 50);
}
END_TEST

START_TEST(backfill_without_limits)
{
    struct pl_task a = task_of(3, 0, 0, 0), wide = task_of(4, 0, 0, 0), small[32];
    int passed = 0;
    dispatch_begin(BACKFILL, 4, 0);
    pl_dispatch_start(&d, &a, 0);
    pl_dispatch_wait(&d, &wide);
    for (int i = 0; i < 32; i++) {
        small[i] = task_of(1, 0, 0, 0);
        pl_dispatch_wait(&d, &small[i]);
    }
    for (struct pl_task *next; (next = pl_dispatch_next(&d, 0)); passed++) {
        pl_dispatch_start(&d, next, 0);
        pl_dispatch_end(&d, next);
    }
    ck_assert_int_eq(passed, 16);
    pl_dispatch_end(&d, &a);
    expect_next(&wide, 1);
    pl_dispatch_end(&d, &wide);
    expect_next(&small[16], 2);
}
END_TEST

static const struct pl_task *placeless;

static bool has_place(const struct pl_task *task)
{
    return task != placeless;
}

/* A task for which there is enough, but not in one place, waits; 16 others overtake it. */
START_TEST(places)
{
    struct pl_task first = task_of(1, 2, 5, 0), late[20];
    int started = 0;
    dispatch_begin(BACKFILL, 100, 100);
    d.has_place = has_place;
    placeless = &first;
    ck_assert(!pl_dispatch_admits(&d, &first, 0));
    pl_dispatch_wait(&d, &first);
    expect_next(NULL, 0);
    for (int i = 0; i < 20; i++) {
        late[i] = task_of(1, 0, 5, 0);
        pl_dispatch_wait(&d, &late[i]);
    }
    for (struct pl_task *next; (next = pl_dispatch_next(&d, 0)); started++)
        pl_dispatch_start(&d, next, 0);
    ck_assert_int_eq(started, 16);
    placeless = NULL;
    pl_dispatch_end(&d, &late[0]);
    expect_next(&first, 0);
    expect_next(&late[16], 0);
}
END_TEST

START_TEST(policy_changes)
{
    struct pl_task a = task_of(3, 0, 0, 0), wide = task_of(4, 0, 0, 0), small = task_of(1, 0, 0, 0);
    dispatch_begin(FIFO, 4, 0);
    pl_dispatch_start(&d, &a, 0);
    pl_dispatch_wait(&d, &wide);
    pl_dispatch_wait(&d, &small);
    expect_next(NULL, 0);
    pl_dispatch_set_policy(&d, pl_policies[BACKFILL]);
    expect_next(&small, 0);
    pl_dispatch_forget(&d, &wide);
    expect_next(NULL, 0);
    ck_assert_int_eq(d.waiting_count, 0);
}
END_TEST

START_TEST(resource_numbers)
{
    struct pl_resource r = { .count = 0 };
    int a[3], b[2];
    ck_assert(pl_resource_is_name("gpu") && pl_resource_is_name("a_1"));
    ck_assert(!pl_resource_is_name("") && !pl_resource_is_name(NULL) && !pl_resource_is_name("GPU"));
    ck_assert(!pl_resource_is_name("1a") && !pl_resource_is_name("a-b"));
    ck_assert(!pl_resource_is_name("abcdefghijabcdefghijabcdefghijab"));
    ck_assert(pl_resource_set(&r, "x", 4));
    pl_resource_take(&r, 3, a);
    ck_assert(a[0] == 0 && a[1] == 1 && a[2] == 2);
    pl_resource_give(&r, 1, &a[1]);
    pl_resource_take(&r, 2, b);
    ck_assert(b[0] == 1 && b[1] == 3);
    pl_resource_fini(&r);
}
END_TEST

/* --- 100,000 jobs ------------------------------------------------------------------------------------------ */

enum { JOBS = 100000, S = 64, G = 8, LONGEST = 1000, SLACK = 100, BETWEEN = 60 };

struct sim_job {
    struct pl_task task;
    int64_t arrives, ends, starts;
    int number[G];
};

static struct sim_job *sim;
static struct pl_resource sim_gpus;
static uint64_t sim_state;

static void sim_make(bool limits)
{
    int64_t at = 0;
    for (int i = 0; i < JOBS; i++) {
        bool wide = unit_below(&sim_state, 20) == 0;
        struct sim_job *j = &sim[i];
        *j = (struct sim_job){ .arrives = at };
        j->task = task_of(wide ? S : 1 + unit_below(&sim_state, 4), wide ? 0 : unit_below(&sim_state, 4) == 0, 0, 0);
        j->ends = 1 + unit_below(&sim_state, LONGEST); /* how long it runs, until it starts */
        if (limits)
            j->task.most_ms = j->ends + unit_below(&sim_state, SLACK);
        at += unit_below(&sim_state, 2 * BETWEEN);
    }
}

static void sim_start(struct sim_job *j, int64_t now)
{
    int gpus = (int)j->task.takes.of[GPU];
    for (int i = 0; i < gpus; i++)
        j->number[i] = -1;
    long taken = 0;
    for (int i = 0; i < G; i++)
        taken += sim_gpus.taken[i];
    UNIT_CHECK(taken == d.used.of[GPU]);
    pl_resource_take(&sim_gpus, gpus, j->number);
    for (int i = 0; i < gpus; i++)
        UNIT_CHECK(j->number[i] >= 0 && j->number[i] < G);
    pl_dispatch_start(&d, &j->task, now);
    UNIT_CHECK(d.used.of[SLOTS] <= S);
    UNIT_CHECK(d.used.of[GPU] <= G);
    j->starts = now;
    j->ends += now;
}

static struct sim_job *sim_first_to_end(void)
{
    struct sim_job *first = NULL;
    PL_LIST_EACH(task, &d.running, struct pl_task, node) {
        struct sim_job *j = PL_CONTAINER(task, struct sim_job, task);
        if (!first || j->ends < first->ends)
            first = j;
    }
    return first;
}

/* Runs all. The first job that waits starts within this time. */
static void sim_run(int policy, int64_t first_waits_most)
{
    int arrived = 0, ended = 0;
    struct pl_task *head = NULL;
    int64_t head_since = 0;
    dispatch_begin(policy, S, G);
    UNIT_CHECK(pl_resource_set(&sim_gpus, "test", G));
    while (ended < JOBS) {
        struct sim_job *end = sim_first_to_end();
        bool arrival = arrived < JOBS && (!end || sim[arrived].arrives <= end->ends);
        UNIT_CHECK(arrival || end);
        int64_t now = arrival ? sim[arrived].arrives : end->ends;
        if (arrival) {
            pl_dispatch_wait(&d, &sim[arrived++].task);
        } else {
            pl_dispatch_end(&d, &end->task);
            pl_resource_give(&sim_gpus, (int)end->task.takes.of[GPU], end->number);
            ended++;
        }
        for (struct pl_task *next; (next = pl_dispatch_next(&d, now));)
            sim_start(PL_CONTAINER(next, struct sim_job, task), now);
        struct pl_task *first = pl_list_empty(&d.waiting) ? NULL : PL_CONTAINER(d.waiting.next, struct pl_task, node);
        if (first != head)
            head = first, head_since = now;
        UNIT_CHECK((head ? now - head_since : 0) <= first_waits_most);
    }
    UNIT_CHECK(d.used.of[SLOTS] == 0);
    UNIT_CHECK(d.used.of[GPU] == 0);
    pl_resource_fini(&sim_gpus);
    sim_gpus = (struct pl_resource){ .count = 0 };
}

static void sim_all(int policy, bool limits, int64_t first_waits_most)
{
    sim = calloc(JOBS, sizeof *sim);
    ck_assert_ptr_nonnull(sim);
    sim_state = 5;
    sim_make(limits);
    sim_run(policy, first_waits_most);
    free(sim);
}

/* What runs when a job becomes the first one ends. */
START_TEST(simulation_fifo)
{
    sim_all(FIFO, false, LONGEST);
}
END_TEST

/* The same: none that starts later delays it. */
START_TEST(simulation_limits)
{
    sim_all(BACKFILL, true, LONGEST + SLACK);
}
END_TEST

/* 16 more may come, at worst one after the other. */
START_TEST(simulation_no_limits)
{
    sim_all(BACKFILL, false, 17 * LONGEST);
}
END_TEST

UNIT_MAIN("dispatch", fifo_does_not_overtake, priority, kinds, backfill_with_limits, backfill_without_limits, places,
          policy_changes, resource_numbers, simulation_fifo, simulation_limits, simulation_no_limits)
