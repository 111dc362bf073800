/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine that embeds the runtime: keeps three jobs of a program running, one after the other, until it is killed:
 * engine RANKS PROGRAM [ARGUMENT...]. Its first line of output is "up". */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/plenum.h"

enum { JOBS = 3 };

static void launch(struct plenum_runtime *runtime, int ranks, char **argv)
{
    struct plenum_job *job;
    if (plenum_job_create(runtime, &job) || plenum_job_add_program(job, ranks, (const char *const *)argv, NULL) ||
        plenum_job_launch(job)) {
        fprintf(stderr, "engine: %s\n", plenum_error());
        exit(EXIT_FAILURE);
    }
    plenum_job_close(job);
}

int main(int argc, char **argv)
{
    struct plenum_runtime *runtime;
    struct plenum_event *event;
    if (argc < 3 || plenum_runtime_open(&runtime))
        return 2;
    for (int i = 0; i < JOBS; i++)
        launch(runtime, atoi(argv[1]), argv + 2);
    puts("up");
    fflush(stdout);
    for (;;) {
        poll(&(struct pollfd){ .fd = plenum_runtime_fd(runtime), .events = POLLIN }, 1, -1);
        while (plenum_runtime_next_event(runtime, &event) == PLENUM_OK && event) {
            if (event->kind == PLENUM_EVENT_FINISHED)
                launch(runtime, atoi(argv[1]), argv + 2);
            plenum_event_free(event);
        }
    }
}
