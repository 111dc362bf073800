/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set-user-ID program that embeds the runtime: it launches `env` with a PMIx server and prints what the process got.
 * A variable that the program itself sets must arrive.
 */
#include <plenum.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>

static void follow(struct plenum_runtime *rt)
{
    struct plenum_event *event;
    for (bool finished = false; !finished;) {
        struct pollfd ready = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
        poll(&ready, 1, -1);
        while (plenum_runtime_next_event(rt, &event) == PLENUM_OK && event) {
            if (event->kind == PLENUM_EVENT_OUTPUT)
                fwrite(event->text, 1, event->length, stdout);
            finished |= event->kind == PLENUM_EVENT_FINISHED;
            plenum_event_free(event);
        }
    }
}

int main(void)
{
    const char *const argv[] = { "/usr/bin/env", NULL };
    struct plenum_runtime *rt;
    struct plenum_job *job;
    if (plenum_runtime_open(&rt) != PLENUM_OK || plenum_job_create(rt, &job) != PLENUM_OK)
        return 1;
    plenum_job_add_program(job, 1, argv, NULL);
    plenum_job_env(job, PLENUM_ALL, "PLENUM_OWN", "chosen");
    plenum_job_env(job, PLENUM_ALL, "PLENUM_RANK", "shadow");
    plenum_job_set(job, PLENUM_JOB_PMIX, PLENUM_PMIX_ON);
    if (plenum_job_launch(job) != PLENUM_OK) {
        fprintf(stderr, "%s\n", plenum_error());
        return 2;
    }
    follow(rt);
    plenum_runtime_close(rt);
    return 0;
}
