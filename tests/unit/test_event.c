/* SPDX-License-Identifier: BSD-3-Clause */
/* Events when memory is short: any allocation from the making of a job to its end may fail, and a job that was launched
 * still says that it has finished, with its exit code. */
#include <poll.h>

#include "api/plenum.h"
#include "core/base/memory.h"
#include "unit.h"

static struct plenum_runtime *runtime;

static void setup(void)
{
    ck_assert_int_eq(plenum_runtime_open(&runtime), PLENUM_OK);
}

static void teardown(void)
{
    pl_memory_fail_at(0);
    plenum_runtime_close(runtime);
}

/* Takes events until the job has finished. Returns its code. */
static int await_finished(uint64_t id)
{
    for (;;) {
        struct plenum_event *event;
        struct pollfd ready = { .fd = plenum_runtime_fd(runtime), .events = POLLIN };
        ck_assert_int_eq(plenum_runtime_next_event(runtime, &event), PLENUM_OK);
        if (!event) {
            ck_assert_int_ge(poll(&ready, 1, -1), 0);
            continue;
        }
        bool finished = event->kind == PLENUM_EVENT_FINISHED;
        int code = event->code;
        ck_assert_uint_eq(event->job_id, id);
        plenum_event_free(event);
        if (finished)
            return code;
    }
}

/* True: the job was launched. */
static bool launch(int processes, struct plenum_job **job)
{
    const char *const argv[] = { "/bin/sh", "-c", "echo out; exit 5", NULL };
    *job = NULL;
    return plenum_job_create(runtime, job) == PLENUM_OK &&
           plenum_job_add_program(*job, processes, argv, NULL) == PLENUM_OK && plenum_job_launch(*job) == PLENUM_OK;
}

/* Returns whether an allocation has failed. */
static bool run_with_failure(int processes, long nth)
{
    struct plenum_job *job;
    pl_memory_fail_at(nth);
    bool launched = launch(processes, &job);
    bool failed = pl_memory_failed();
    ck_assert(launched || failed);
    if (launched)
        ck_assert_int_eq(await_finished(plenum_job_id(job)), 5);
    failed = pl_memory_failed();
    pl_memory_fail_at(0);
    plenum_job_close(job);
    return failed;
}

START_TEST(a_job_that_was_launched_finishes)
{
    for (int processes = 1; processes <= 2; processes++)
        for (long nth = 1; run_with_failure(processes, nth); nth++)
            ck_assert_int_lt(nth, 1000);
}
END_TEST

/* No memory at all from the launch on. */
START_TEST(none_is_left)
{
    struct plenum_job *job;
    ck_assert(launch(2, &job));
    uint64_t id = plenum_job_id(job);
    bool finished = false;
    while (!finished) {
        struct plenum_event *event;
        struct pollfd ready = { .fd = plenum_runtime_fd(runtime), .events = POLLIN };
        ck_assert_int_ge(poll(&ready, 1, -1), 0);
        pl_memory_fail_at(1);
        ck_assert_int_eq(plenum_runtime_next_event(runtime, &event), PLENUM_OK);
        finished = event && event->kind == PLENUM_EVENT_FINISHED;
        if (finished)
            ck_assert(event->job_id == id && event->code == 5);
        plenum_event_free(event);
    }
    pl_memory_fail_at(0);
    plenum_job_close(job);
}
END_TEST

UNIT_MAIN_WITH("events", setup, teardown, a_job_that_was_launched_finishes, none_is_left)
