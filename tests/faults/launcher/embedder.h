/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the launcher's tests that embed libplenum: expectations, jobs, following events, measuring. */
#ifndef LAUNCHER_EMBEDDER_H
#define LAUNCHER_EMBEDDER_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/plenum.h"

#define UNUSED __attribute__((unused))

static const char *part = "";

/* For leak checkers: leaks of the PMIx library are not reported. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpmix\n";
}

#define EXPECT(good, ...)                                                                                              \
    do {                                                                                                               \
        if (!(good)) {                                                                                                 \
            fprintf(stderr, "%s, line %d: %s: ", part, __LINE__, #good);                                               \
            fprintf(stderr, " " __VA_ARGS__);                                                                          \
            fprintf(stderr, " (%s)\n", plenum_error());                                                                \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static UNUSED struct plenum_job *new_job(struct plenum_runtime *rt, int ranks, const char *script)
{
    struct plenum_job *job;
    const char *const argv[] = { "sh", "-c", script, NULL };
    EXPECT(plenum_job_create(rt, &job) == PLENUM_OK);
    EXPECT(plenum_job_add_program(job, ranks, argv, NULL) == PLENUM_OK);
    return job;
}

/* The totals of the events of a runtime. */
struct totals {
    int started, exited, lost, finished, code;
    size_t bytes;
};

/* Follows a runtime by its descriptor until `jobs` jobs have finished. */
static UNUSED struct totals follow(struct plenum_runtime *rt, int jobs)
{
    struct totals t = { 0 };
    while (t.finished < jobs) {
        struct plenum_event *e;
        struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
        EXPECT(poll(&p, 1, 60000) == 1, "nothing happens: %d of %d jobs", t.finished, jobs);
        while (plenum_runtime_next_event(rt, &e) == PLENUM_OK && e) {
            t.started += e->kind == PLENUM_EVENT_STARTED;
            t.exited += e->kind == PLENUM_EVENT_EXITED;
            t.lost += e->kind == PLENUM_EVENT_LOST;
            t.finished += e->kind == PLENUM_EVENT_FINISHED;
            t.bytes += e->kind == PLENUM_EVENT_OUTPUT ? e->length : 0;
            if (e->kind == PLENUM_EVENT_FINISHED && e->code)
                t.code = e->code;
            plenum_event_free(e);
        }
    }
    return t;
}

/* --- what a process consists of ---------------------------------------------------------------------------- */

struct size {
    int descriptors, threads, mappings;
};

static UNUSED int entries(const char *directory)
{
    int count = 0;
    DIR *d = opendir(directory);
    while (d && readdir(d))
        count++;
    if (d)
        closedir(d);
    return count;
}

static UNUSED struct size measure(void)
{
    struct size s = { entries("/proc/self/fd"), entries("/proc/self/task"), 0 };
    FILE *maps = fopen("/proc/self/maps", "r");
    for (int c; maps && (c = getc(maps)) != EOF;)
        s.mappings += c == '\n';
    if (maps)
        fclose(maps);
    return s;
}

/* --- parts ------------------------------------------------------------------------------------------------- */

struct part {
    const char *name;
    void (*run)(void);
};

/* Runs the parts that the arguments name; all of them must exist. */
static UNUSED int run_parts(const struct part *parts, size_t count, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t p = 0;
        while (p < count && strcmp(argv[i], parts[p].name) != 0)
            p++;
        part = argv[i];
        EXPECT(p < count, "there is no such part");
        parts[p].run();
    }
    return 0;
}

#define PARTS_MAIN(...)                                                                                                \
    int main(int argc, char **argv)                                                                                    \
    {                                                                                                                  \
        static const struct part parts[] = { __VA_ARGS__ };                                                            \
        return run_parts(parts, sizeof parts / sizeof *parts, argc, argv);                                             \
    }

#endif
