/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host of runtimes, for the launcher's tests: resources and their numbers, priorities, backfill. Arguments as in
 * runtime_user.c.
 */
#include "embedder.h"

/* Takes events until this job has one of this kind. Returns its code, and its text into `text`. */
static int take(struct plenum_runtime *rt, const struct plenum_job *job, enum plenum_event_kind kind, char *text)
{
    for (;;) {
        struct plenum_event *e;
        struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
        EXPECT(plenum_runtime_next_event(rt, &e) == PLENUM_OK);
        if (!e) {
            EXPECT(poll(&p, 1, 60000) == 1, "nothing happens");
            continue;
        }
        bool it = e->kind == kind && e->job_id == plenum_job_id(job);
        int code = e->code;
        if (it && text)
            snprintf(text, 256, "%s", e->text ? e->text : "");
        plenum_event_free(e);
        if (it)
            return code;
    }
}

/* A job that runs until it is cancelled. */
static struct plenum_job *sleeper(struct plenum_runtime *rt, int ranks)
{
    return new_job(rt, ranks, "exec sleep 1000");
}

static void end(struct plenum_job *job)
{
    EXPECT(plenum_job_cancel(job) == PLENUM_OK && plenum_job_wait(job, 60000, NULL) == PLENUM_OK);
}

/* What a rank reads is what the library says. */
static void part_numbers(void)
{
    struct plenum_runtime *rt;
    char text[256], numbers[64];
    unsetenv("ROCR_VISIBLE_DEVICES");
    setenv("CUDA_VISIBLE_DEVICES", "4,GPU-b,6", 1);
    setenv("ZE_AFFINITY_MASK", "", 1);
    setenv("PLENUM_RESOURCE_GPU", "of an outer job", 1);
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_runtime_resource(rt, "gpu", 3) == PLENUM_OK && plenum_runtime_resource(rt, "key_2", 2) == PLENUM_OK);
    struct plenum_job *first = sleeper(rt, 1);
    EXPECT(plenum_job_resource(first, "gpu", 1, PLENUM_EACH_RANK) == PLENUM_OK);
    EXPECT(plenum_job_launch(first) == PLENUM_OK);
    EXPECT(plenum_job_numbers(first, 0, "gpu", numbers, sizeof numbers) == 1 && strcmp(numbers, "0") == 0);
    struct plenum_job *job = new_job(rt, 2,
                                     "echo $CUDA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES ${ZE_AFFINITY_MASK-unset} "
                                     "$PLENUM_RESOURCE_GPU $PLENUM_RESOURCE_KEY_2");
    EXPECT(plenum_job_resource(job, "gpu", 1, PLENUM_EACH_RANK) == PLENUM_OK);
    EXPECT(plenum_job_resource(job, "key_2", 2, PLENUM_WHOLE_JOB) == PLENUM_OK);
    EXPECT(plenum_job_env(job, PLENUM_ALL, "ZE_AFFINITY_MASK", NULL) == PLENUM_OK);
    EXPECT(plenum_job_redirect(job, 0, 1, -1) == PLENUM_OK); /* rank 1 speaks */
    EXPECT(plenum_job_numbers(job, 1, "gpu", numbers, sizeof numbers) == 1 && strcmp(numbers, "2") == 0);
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    EXPECT(plenum_job_numbers(job, 1, "key_2", numbers, sizeof numbers) == 3 && strcmp(numbers, "0,1") == 0);
    take(rt, job, PLENUM_EVENT_OUTPUT, text);
    EXPECT(strcmp(text, "6 2 unset 2 0,1\n") == 0, "%s", text);
    EXPECT(take(rt, job, PLENUM_EVENT_FINISHED, NULL) == 0);
    EXPECT(plenum_job_numbers(job, 1, "gpu", numbers, sizeof numbers) == 0);
    struct plenum_job *none = new_job(rt, 1, "echo $CUDA_VISIBLE_DEVICES $PLENUM_RESOURCE_GPU");
    EXPECT(plenum_job_launch(none) == PLENUM_OK);
    take(rt, none, PLENUM_EVENT_OUTPUT, text);
    EXPECT(strcmp(text, "4,GPU-b,6\n") == 0, "%s", text);
    plenum_runtime_close(rt);
}

/* Jobs wait until enough is free; what can never be is refused. */
static void part_resources(void)
{
    struct plenum_runtime *rt;
    char numbers[64];
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_runtime_resource(rt, "license", 3) == PLENUM_OK);
    EXPECT(plenum_runtime_resource(rt, "License", 3) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_runtime_resource(rt, "license", -1) == PLENUM_ERR_ARGUMENT);
    struct plenum_job *job[3];
    for (int i = 0; i < 3; i++) {
        job[i] = sleeper(rt, 2);
        EXPECT(plenum_job_resource(job[i], "license", 1, PLENUM_EACH_RANK) == PLENUM_OK);
    }
    EXPECT(plenum_job_resource(job[2], "license", 2, PLENUM_EACH_RANK) == PLENUM_OK);
    EXPECT(plenum_job_launch(job[2]) == PLENUM_ERR_ARGUMENT);
    EXPECT(strcmp(plenum_error(), "the job asks for 4 of \"license\" (2 for each of 2 ranks, 0 for all), and the "
                                  "runtime has 3") == 0,
           "%s", plenum_error());
    EXPECT(plenum_job_resource(job[2], "license", 1, PLENUM_EACH_RANK) == PLENUM_OK);
    EXPECT(plenum_job_resource(job[2], "gpu", 1, PLENUM_WHOLE_JOB) == PLENUM_OK);
    EXPECT(plenum_job_launch(job[2]) == PLENUM_ERR_ARGUMENT && strstr(plenum_error(), "\"gpu\""));
    EXPECT(plenum_job_resource(job[2], "gpu", 0, PLENUM_WHOLE_JOB) == PLENUM_OK);
    for (int i = 0; i < 3; i++)
        EXPECT(plenum_job_launch(job[i]) == PLENUM_OK);
    EXPECT(plenum_job_resource(job[2], "license", 1, PLENUM_EACH_RANK) == PLENUM_ERR_STATE);
    EXPECT(plenum_runtime_resource(rt, "license", 4) == PLENUM_ERR_STATE);
    EXPECT(take(rt, job[1], PLENUM_EVENT_QUEUED, NULL) == 0 && take(rt, job[2], PLENUM_EVENT_QUEUED, NULL) == 1);
    EXPECT(plenum_job_numbers(job[1], 0, "license", numbers, sizeof numbers) == 0);
    end(job[1]); /* in the queue */
    end(job[0]);
    EXPECT(take(rt, job[2], PLENUM_EVENT_STARTED, NULL) == 2);
    EXPECT(plenum_job_numbers(job[2], 1, "license", numbers, sizeof numbers) == 1 && strcmp(numbers, "1") == 0);
    struct plenum_job *fails = new_job(rt, 1, "exit 0"), *good = new_job(rt, 1, "exit 0");
    EXPECT(plenum_job_redirect_file(fails, 0, 1, "/no/such/directory/%r") == PLENUM_OK);
    EXPECT(plenum_job_resource(fails, "license", 1, PLENUM_EACH_RANK) == PLENUM_OK);
    EXPECT(plenum_job_launch(fails) == PLENUM_ERR_SYSTEM); /* its number is free again */
    EXPECT(plenum_job_resource(good, "license", 1, PLENUM_WHOLE_JOB) == PLENUM_OK);
    EXPECT(plenum_job_launch(good) == PLENUM_OK && plenum_job_wait(good, 60000, NULL) == PLENUM_OK);
    end(job[2]);
    EXPECT(plenum_runtime_resource(rt, "license", 1) == PLENUM_OK); /* no job has or wants one */
    plenum_runtime_close(rt);
}

static void part_priorities(void)
{
    struct plenum_runtime *rt;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, 1) == PLENUM_OK);
    struct plenum_job *first = sleeper(rt, 1), *job[4];
    EXPECT(plenum_job_launch(first) == PLENUM_OK);
    EXPECT(plenum_job_set(first, PLENUM_JOB_PRIORITY, 1) == PLENUM_ERR_STATE);
    for (int i = 0; i < 4; i++) {
        job[i] = new_job(rt, 1, "exit 0");
        EXPECT(plenum_job_set(job[i], PLENUM_JOB_PRIORITY, i == 3 ? -7 : i) == PLENUM_OK);
        EXPECT(plenum_job_launch(job[i]) == PLENUM_OK);
    }
    EXPECT(plenum_job_set(job[0], PLENUM_JOB_PRIORITY, 1) == PLENUM_OK); /* behind job 1 */
    EXPECT(plenum_job_set(job[3], PLENUM_JOB_PRIORITY, 9) == PLENUM_OK);
    EXPECT(plenum_job_set(job[3], PLENUM_JOB_GRACE, 9) == PLENUM_ERR_STATE);
    end(first);
    static const int order[] = { 3, 2, 1, 0 };
    for (int i = 0; i < 4; i++) {
        struct plenum_event *e = NULL;
        while (!e || e->kind != PLENUM_EVENT_STARTED || e->job == first) {
            plenum_event_free(e);
            while (plenum_runtime_next_event(rt, &e) == PLENUM_OK && !e)
                poll(&(struct pollfd){ .fd = plenum_runtime_fd(rt), .events = POLLIN }, 1, -1);
        }
        EXPECT(e->job == job[order[i]], "job %d", (int)e->job_id);
        plenum_event_free(e);
    }
    plenum_runtime_close(rt);
}

static void part_backfill(void)
{
    struct plenum_runtime *rt;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_POLICY, 2) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_HEARTBEAT, -1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_HEARTBEAT, 1000) == PLENUM_OK);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, 2) == PLENUM_OK);
    struct plenum_job *half = sleeper(rt, 1), *wide = sleeper(rt, 2), *brief = sleeper(rt, 1),
                      *free_end = sleeper(rt, 1);
    EXPECT(plenum_job_set(half, PLENUM_JOB_TIME_LIMIT, 1000000) == PLENUM_OK);
    EXPECT(plenum_job_set(brief, PLENUM_JOB_TIME_LIMIT, 500000) == PLENUM_OK);
    EXPECT(plenum_job_launch(half) == PLENUM_OK && plenum_job_launch(wide) == PLENUM_OK);
    EXPECT(plenum_job_launch(free_end) == PLENUM_OK && plenum_job_launch(brief) == PLENUM_OK);
    EXPECT(take(rt, brief, PLENUM_EVENT_QUEUED, NULL) == 2); /* the default: no job overtakes */
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_POLICY, PLENUM_POLICY_BACKFILL) == PLENUM_OK);
    EXPECT(take(rt, brief, PLENUM_EVENT_STARTED, NULL) == 1);
    end(brief);
    EXPECT(plenum_job_signal(free_end, 0, 1) == PLENUM_ERR_STATE); /* it would delay the wide one */
    end(half);
    EXPECT(take(rt, wide, PLENUM_EVENT_STARTED, NULL) == 2);
    end(wide);
    EXPECT(take(rt, free_end, PLENUM_EVENT_STARTED, NULL) == 1);
    plenum_runtime_close(rt);
}

PARTS_MAIN({ "numbers", part_numbers }, { "resources", part_resources }, { "priorities", part_priorities },
           { "backfill", part_backfill })
