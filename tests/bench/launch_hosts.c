/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs over several hosts beside jobs on this machine alone, and beside another launcher, measured in turn.
 *
 *     launch_hosts PROGRAM ROUNDS COMMAND LAUNCHER HOST...
 *
 * PROGRAM calls MPI_Init and MPI_Finalize (tests/bench/start.c), COMMAND reaches the host %h, and LAUNCHER starts the
 * program that follows it on all hosts ("": there is none). Prints the medians of the rounds.
 *
 *     launch_hosts PROGRAM JOBS soak COMMAND HOST...
 *
 * launches as many jobs of one rank, and prints descriptors and memory of this process as it goes.
 */
#include <dirent.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/plenum.h"

enum { SLOTS = 2, IN_TURN = 50, AT_ONCE = 100, JOBS = 300, WIDE = 64, ROUNDS_MAX = 99 };

static const char *program;

static void check(int err)
{
    if (!err)
        return;
    fprintf(stderr, "launch_hosts: %s\n", plenum_error());
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- jobs ------------------------------------------------------------------------------------------------------ */

static void launch(struct plenum_runtime *rt, int ranks, enum plenum_map map)
{
    const char *const argv[] = { program, NULL };
    struct plenum_job *job;
    check(plenum_job_create(rt, &job));
    check(plenum_job_add_program(job, ranks, argv, NULL));
    check(plenum_job_set(job, PLENUM_JOB_MAP, map));
    check(plenum_job_launch(job));
    plenum_job_close(job);
}

static void handle(const struct plenum_event *e, int *finished, int *ready)
{
    if (e->kind == PLENUM_EVENT_FINISHED && e->code) {
        fprintf(stderr, "launch_hosts: a job ended with exit code %d\n", e->code);
        exit(1);
    }
    if (e->kind == PLENUM_EVENT_HOST && e->code == PLENUM_HOST_LOST) {
        fprintf(stderr, "launch_hosts: host %s is lost: %s\n", e->object, e->text);
        exit(1);
    }
    *finished += e->kind == PLENUM_EVENT_FINISHED;
    *ready += e->kind == PLENUM_EVENT_HOST;
}

/* Until as many jobs have finished and hosts have become ready. */
static void follow(struct plenum_runtime *rt, int jobs, int hosts)
{
    while (jobs > 0 || hosts > 0) {
        struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
        struct plenum_event *e;
        int finished = 0, ready = 0;
        poll(&p, 1, -1);
        while (plenum_runtime_next_event(rt, &e) == PLENUM_OK && e) {
            handle(e, &finished, &ready);
            plenum_event_free(e);
        }
        jobs -= finished;
        hosts -= ready;
    }
}

static struct plenum_runtime *open_runtime(const char *command, char **host, int hosts)
{
    struct plenum_runtime *rt;
    check(plenum_runtime_open(&rt));
    for (int i = 0; i < hosts; i++)
        check(plenum_runtime_host_add(rt, host[i], SLOTS, command));
    follow(rt, 0, hosts);
    check(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, 0));
    return rt;
}

/* --- what is measured: jobs per second, or milliseconds -------------------------------------------------------- */

static double in_turn(struct plenum_runtime *rt, int hosts)
{
    double start = now();
    (void)hosts;
    for (int i = 0; i < IN_TURN; i++) {
        launch(rt, 1, PLENUM_MAP_SLOT);
        follow(rt, 1, 0);
    }
    return IN_TURN / (now() - start);
}

static double at_once(struct plenum_runtime *rt, int hosts)
{
    double start = now();
    (void)hosts;
    for (int done = 0; done < JOBS; done += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++)
            launch(rt, 1, PLENUM_MAP_SLOT);
        follow(rt, AT_ONCE, 0);
    }
    return JOBS / (now() - start);
}

static double wide(struct plenum_runtime *rt, int hosts)
{
    double start = now();
    (void)hosts;
    launch(rt, WIDE, PLENUM_MAP_NODE);
    follow(rt, 1, 0);
    return 1000 * (now() - start);
}

static double one_each(struct plenum_runtime *rt, int hosts)
{
    double start = now();
    launch(rt, hosts, PLENUM_MAP_NODE);
    follow(rt, 1, 0);
    return 1000 * (now() - start);
}

static const struct figure {
    const char *name;
    double (*measure)(struct plenum_runtime *rt, int hosts);
} figures[] = {
    { "jobs of one rank, one after the other, 1/s", in_turn },
    { "jobs of one rank, 100 at once, 1/s", at_once },
    { "64 ranks up and down, ms", wide },
    { "a rank for each host, up and down, ms", one_each },
};

enum { FIGURES = sizeof figures / sizeof *figures };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static double other(const char *launcher)
{
    char command[8192];
    double start = now();
    snprintf(command, sizeof command, "%s %s >/dev/null 2>&1", launcher, program);
    if (system(command) != 0) {
        fprintf(stderr, "launch_hosts: fails: %s\n", command);
        exit(1);
    }
    return 1000 * (now() - start);
}

static void measure(int rounds, const char *command, const char *launcher, char **host, int hosts)
{
    static double here[FIGURES][ROUNDS_MAX], there[FIGURES][ROUNDS_MAX], others[ROUNDS_MAX];
    struct plenum_runtime *one = open_runtime(NULL, NULL, 0), *several = open_runtime(command, host, hosts);
    for (int r = 0; r < rounds; r++) {
        for (int f = 0; f < FIGURES; f++) {
            here[f][r] = figures[f].measure(one, hosts);
            there[f][r] = figures[f].measure(several, hosts);
        }
        others[r] = launcher[0] ? other(launcher) : 0;
    }
    printf("%-48s %12s %9d hosts\n", "", "this machine", hosts);
    for (int f = 0; f < FIGURES; f++)
        printf("%-48s %12.1f %15.1f\n", figures[f].name, median(here[f], rounds), median(there[f], rounds));
    if (launcher[0])
        printf("%-48s %12s %15.1f\n", "a rank for each host, by the other launcher, ms", "", median(others, rounds));
    plenum_runtime_close(one);
    plenum_runtime_close(several);
}

/* --- many jobs ------------------------------------------------------------------------------------------------- */

static int count_descriptors(void)
{
    int count = 0;
    DIR *fds = opendir("/proc/self/fd");
    while (fds && readdir(fds))
        count++;
    if (fds)
        closedir(fds);
    return count - 3; /* . and .. and the directory */
}

static long resident_kib(void)
{
    long kib = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmRSS: %ld", &kib);
    if (status)
        fclose(status);
    return kib;
}

static void soak(int jobs, const char *command, char **host, int hosts)
{
    struct plenum_runtime *rt = open_runtime(command, host, hosts);
    int step = jobs / 20 > AT_ONCE ? jobs / 20 : AT_ONCE;
    double start = now();
    for (int done = 0, shown = 0; done < jobs; done += AT_ONCE) {
        if (done >= shown) {
            printf("%d jobs, %.0f s: %d descriptors, %ld KiB\n", done, now() - start, count_descriptors(),
                   resident_kib());
            fflush(stdout);
            shown += step;
        }
        for (int i = 0; i < AT_ONCE; i++)
            launch(rt, 1, PLENUM_MAP_SLOT);
        follow(rt, AT_ONCE, 0);
    }
    printf("%d jobs, %.0f s: %d descriptors, %ld KiB\n", jobs, now() - start, count_descriptors(), resident_kib());
    plenum_runtime_close(rt);
}

int main(int argc, char *argv[])
{
    int count = argc > 5 ? atoi(argv[2]) : 0;
    bool soaks = argc > 5 && strcmp(argv[3], "soak") == 0;
    if (count < 1 || (!soaks && count > ROUNDS_MAX)) {
        fprintf(stderr, "usage: launch_hosts PROGRAM ROUNDS COMMAND LAUNCHER HOST...\n"
                        "       launch_hosts PROGRAM JOBS soak COMMAND HOST...\n");
        return 2;
    }
    program = argv[1];
    if (soaks)
        soak(count, argv[4], argv + 5, argc - 5);
    else
        measure(count, argv[3], argv[4], argv + 5, argc - 5);
    return 0;
}
