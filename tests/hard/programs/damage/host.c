/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host of a runtime whose jobs write garbage over all memory that they share with it. It asks for reports, publishes
 * sets, sets time limits, and cancels, as an engine does; a job without fault always runs beside, and its result is
 * checked.
 *
 *     host RANK-PROGRAM SEED JOBS
 */
#include "tests/faults/launcher/embedder.h"

#include "damage.h"

enum { AT_ONCE = 4, PATIENCE_MS = 120000 };

static struct damage numbers; /* only its random numbers */
static const char *program;
static int finished_whole;

static struct plenum_job *start(struct plenum_runtime *rt, int ranks, const char *argument)
{
    struct plenum_job *job;
    const char *const argv[] = { program, argument, NULL };
    bool whole = strcmp(argument, "whole") == 0;
    EXPECT(plenum_job_create(rt, &job) == PLENUM_OK);
    EXPECT(plenum_job_add_program(job, ranks, argv, NULL) == PLENUM_OK);
    EXPECT(plenum_job_pset(job, "app://fixed", (const int[1][2]){ { 0, ranks - 1 } }, 1) == PLENUM_OK);
    plenum_job_set(job, PLENUM_JOB_GRACE, 0);
    if (whole) {
        plenum_job_set_user(job, &finished_whole);
    } else {
        plenum_job_set(job, PLENUM_JOB_TIME_LIMIT, 20 + (long)damage_below(&numbers, 200));
        plenum_job_set(job, PLENUM_JOB_KEEP_GOING, (long)damage_below(&numbers, 2));
    }
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    return job;
}

/* Its answers do not matter here: the job may have ended, or its memory is damaged. */
static void bother(struct plenum_job *job)
{
    switch (damage_below(&numbers, 6)) {
    case 0: plenum_job_report(job); break;
    case 1: plenum_job_pset_publish(job, "app://host", (const int[1][2]){ { 0, 0 } }, 1); break;
    case 2: plenum_job_pset_withdraw(job, "app://host"); break;
    case 3: plenum_job_signal(job, 0, SIGCONT); break;
    case 4: free(plenum_job_json(job)); break;
    default:
        if (damage_below(&numbers, 8) == 0)
            plenum_job_cancel(job);
    }
}

static void check_whole(const struct plenum_event *e)
{
    static const char want[] = "0 wrong of 2 ranks\n";
    if (e->kind == PLENUM_EVENT_OUTPUT)
        EXPECT(strcmp(e->text, want) == 0, "%s", e->text);
    if (e->kind == PLENUM_EVENT_FINISHED)
        EXPECT(e->code == 0, "the job without fault ended with %d", e->code);
    finished_whole += e->kind == PLENUM_EVENT_FINISHED;
}

/* Handles an event as a host does: it describes it in words and as JSON. */
static void look(const struct plenum_event *e)
{
    char words[300];
    plenum_event_describe(e, words, sizeof words);
    free(plenum_event_json(e));
    EXPECT(e->kind >= PLENUM_EVENT_STARTED && e->kind <= PLENUM_EVENT_ERROR);
    EXPECT(!e->text || strlen(e->text) <= e->length);
    if (e->user)
        check_whole(e);
}

int main(int argc, char **argv)
{
    struct plenum_runtime *rt;
    struct plenum_job *job[AT_ONCE + 1] = { NULL }; /* the last one is without fault */
    EXPECT(argc == 4);
    part = "host";
    program = argv[1];
    uint64_t seed = strtoull(argv[2], NULL, 10);
    int jobs = atoi(argv[3]), started = 0, finished = 0;
    numbers.state = seed;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    while (finished < jobs || job[AT_ONCE]) {
        for (int i = 0; i < AT_ONCE && started < jobs; i++)
            if (!job[i]) {
                char text[24];
                snprintf(text, sizeof text, "%llu", (unsigned long long)(seed * 1000000 + (unsigned)started++));
                job[i] = start(rt, 1 + (int)damage_below(&numbers, 3), text);
            }
        if (!job[AT_ONCE] && finished < jobs) {
            job[AT_ONCE] = start(rt, 2, "whole");
        }
        struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
        EXPECT(poll(&p, 1, PATIENCE_MS) == 1, "nothing happens: %d of %d jobs", finished, jobs);
        struct plenum_event *e;
        while (plenum_runtime_next_event(rt, &e) == PLENUM_OK && e) {
            look(e);
            for (int i = 0; i <= AT_ONCE; i++)
                if (e->kind == PLENUM_EVENT_FINISHED && job[i] && e->job == job[i]) {
                    plenum_job_close(job[i]);
                    job[i] = NULL;
                    finished += i < AT_ONCE;
                }
            plenum_event_free(e);
        }
        for (int i = 0; i < AT_ONCE; i++)
            if (job[i])
                bother(job[i]);
    }
    plenum_runtime_close(rt);
    EXPECT(finished_whole > 0);
    return 0;
}
