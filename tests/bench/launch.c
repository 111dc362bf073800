/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many jobs a second the runtime launches and ends: one rank each, one after the other, then 100 at once; and how
 * long a job of 64 ranks takes from the launch to the end.
 *
 *     launch PROGRAM [JOBS]      PROGRAM calls MPI_Init and MPI_Finalize (tests/bench/start.c)
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "api/plenum.h"

enum { AT_ONCE = 100, WIDE = 64, WIDE_ROUNDS = 5 };

static void check(int err)
{
    if (!err)
        return;
    fprintf(stderr, "launch: %s\n", plenum_error());
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void launch(struct plenum_runtime *rt, const char *program, int ranks)
{
    const char *const argv[] = { program, NULL };
    struct plenum_job *job;
    check(plenum_job_create(rt, &job));
    check(plenum_job_add_program(job, ranks, argv, NULL));
    check(plenum_job_launch(job));
    plenum_job_close(job);
}

static void follow(struct plenum_runtime *rt, int jobs)
{
    while (jobs > 0) {
        struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
        struct plenum_event *e;
        poll(&p, 1, -1);
        while (plenum_runtime_next_event(rt, &e) == PLENUM_OK && e) {
            if (e->kind == PLENUM_EVENT_FINISHED) {
                jobs--;
                if (e->code) {
                    fprintf(stderr, "launch: a job ended with exit code %d\n", e->code);
                    exit(1);
                }
            }
            plenum_event_free(e);
        }
    }
}

int main(int argc, char *argv[])
{
    struct plenum_runtime *rt;
    int jobs = argc > 2 ? atoi(argv[2]) : 500;
    if (argc < 2 || jobs < 1) {
        fprintf(stderr, "usage: launch PROGRAM [JOBS]\n");
        return 2;
    }
    check(plenum_runtime_open(&rt));
    launch(rt, argv[1], 1);
    follow(rt, 1);

    double start = now();
    for (int i = 0; i < jobs; i++) {
        launch(rt, argv[1], 1);
        follow(rt, 1);
    }
    printf("one after the other: %.0f jobs/s (%d jobs)\n", jobs / (now() - start), jobs);

    start = now();
    for (int done = 0; done < jobs; done += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++)
            launch(rt, argv[1], 1);
        follow(rt, AT_ONCE);
    }
    int rounds = (jobs + AT_ONCE - 1) / AT_ONCE;
    printf("%d at once: %.0f jobs/s (%d jobs)\n", AT_ONCE, rounds * AT_ONCE / (now() - start), rounds * AT_ONCE);

    start = now();
    for (int i = 0; i < WIDE_ROUNDS; i++) {
        launch(rt, argv[1], WIDE);
        follow(rt, 1);
    }
    printf("%d ranks up and down: %.0f ms (mean of %d)\n", WIDE, 1000 * (now() - start) / WIDE_ROUNDS, WIDE_ROUNDS);
    plenum_runtime_close(rt);
    return 0;
}
