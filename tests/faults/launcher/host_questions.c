/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A runtime with hosts whose jobs find each other by a name, and which publishes a process set that a job on all hosts
 * watches.
 *
 *     host_questions COMMAND PROGRAM HOST...       COMMAND reaches %h; PROGRAM is tests/hosts/questions
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/plenum.h"

enum { SLOTS = 2, PATIENCE_MS = 60000 };

static struct plenum_runtime *runtime;
static int failures;

static void check(int good, const char *what)
{
    if (!good)
        printf("host_questions: %s: %s\n", what, plenum_error());
    failures += !good;
}

static struct plenum_job *launch(const char *program, const char *what, int ranks, const char *host)
{
    struct plenum_job *job;
    check(plenum_job_create(runtime, &job) == PLENUM_OK &&
              plenum_job_add_program(job, ranks, (const char *const[]){ program, what, NULL }, NULL) == PLENUM_OK,
          what);
    for (int r = 0; host && r < ranks; r++)
        check(plenum_job_host(job, r, host) == PLENUM_OK, "a host for a rank");
    check(plenum_job_launch(job) == PLENUM_OK, what);
    return job;
}

static void expect_end(struct plenum_job *job, const char *what)
{
    int code = -1;
    check(plenum_job_wait(job, PATIENCE_MS, &code) == PLENUM_OK && code == 0, what);
    if (code != 0)
        printf("host_questions: %s ends with code %d\n", what, code);
    plenum_job_close(job);
}

/* One job serves under a name and the other calls, on another host. Then another pair does: the name is free again. */
static void meet(const char *program, const char *first, const char *last)
{
    for (int round = 0; round < 2; round++) {
        struct plenum_job *call = launch(program, "call", 2, last), *serve = launch(program, "serve", 2, first);
        expect_end(serve, "the job that serves");
        expect_end(call, "the job that calls");
    }
}

/* The next event of the job of this kind; NULL: there is none in time. */
static struct plenum_event *await_event(struct plenum_job *job, enum plenum_event_kind kind)
{
    struct plenum_event *event;
    struct pollfd p = { .fd = plenum_runtime_fd(runtime), .events = POLLIN };
    while (poll(&p, 1, PATIENCE_MS) > 0)
        while (plenum_runtime_next_event(runtime, &event) == PLENUM_OK && event) {
            if (event->job == job && event->kind == kind)
                return event;
            if (event->kind == PLENUM_EVENT_OUTPUT)
                printf("%.*s", (int)event->length, event->text);
            plenum_event_free(event);
        }
    return NULL;
}

/* Until all ranks have published a set of this name. */
static void await_sets(struct plenum_job *job, const char *name, int ranks)
{
    struct plenum_event *event;
    int seen = 0;
    while (seen < ranks && (event = await_event(job, PLENUM_EVENT_PSETS))) {
        seen = 0;
        for (const char *at = event->text; at && (at = strstr(at, name)); at++)
            seen++;
        plenum_event_free(event);
    }
    check(seen == ranks, name);
}

static void watch(const char *program, int ranks)
{
    struct plenum_job *job = launch(program, "watch", ranks, NULL);
    const int told[][2] = { { 1, ranks - 1 }, { 0, 0 } }, bad[][2] = { { 1, ranks } };
    await_sets(job, "app://ready/", ranks);
    check(plenum_job_pset_publish(job, "app://told", told, 2) == PLENUM_OK, "publishing");
    check(plenum_job_pset_publish(job, "app://bad", bad, 1) == PLENUM_ERR_ARGUMENT, "a set of other ranks");
    check(plenum_job_pset_withdraw(job, "app://bad") == PLENUM_ERR_ARGUMENT, "withdrawing what is not published");
    await_sets(job, "app://seen/", ranks);
    check(plenum_job_pset_withdraw(job, "app://told") == PLENUM_OK, "withdrawing");
    expect_end(job, "the job that watches");
}

int main(int argc, char **argv)
{
    if (argc < 5 || plenum_runtime_open(&runtime))
        return 2;
    for (int i = 3; i < argc; i++)
        check(plenum_runtime_host_add(runtime, argv[i], SLOTS, argv[1]) == PLENUM_OK, "a host");
    meet(argv[2], argv[3], argv[argc - 1]);
    watch(argv[2], SLOTS * (argc - 3));
    plenum_runtime_close(runtime);
    if (!failures)
        puts("all as it should be");
    return failures > 0;
}
