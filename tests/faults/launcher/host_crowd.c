/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A runtime with hosts that runs many jobs while hosts are lost. A lost host is added again until it is there.
 *
 *     host_crowd COMMAND JOBS SEED PROGRAM HOST...       COMMAND reaches %h; PROGRAM is tests/hosts/ring
 *
 * What is told must be whole: the end of each rank once if the job has started, the end of each job once, and nothing
 * after it. Prints "up" when the first job has started, and one line at the end.
 */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/plenum.h"

enum { AT_ONCE = 6, RANKS_MAX = 8, JOBS_MAX = 1000, SLOTS = 2, QUIET_MS = 50, PATIENCE_MS = 60000 };

struct told {
    struct plenum_job *job;
    int ranks, ended[RANKS_MAX];
    int started, unstarted, timed_out, finished;
};

static struct plenum_runtime *runtime;
static struct told told[JOBS_MAX];
static int launched, running, failures, lost;

static void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("host_crowd: ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    failures++;
}

/* --- jobs ------------------------------------------------------------------------------------------------------ */

static void describe(struct told *t, const char *ring)
{
    static const char *const kinds[][4] = {
        { "sh", "-c", "sleep 0.0$PLENUM_RANK", NULL },
        { "sh", "-c", "sleep 1000 & setsid sleep 1000 & echo up", NULL },
        { NULL, NULL, NULL, NULL },      /* the ring */
        { NULL, "forever", NULL, NULL }, /* until its time limit */
    };
    int kind = rand() % 4;
    const char *argv[4];
    memcpy(argv, kinds[kind], sizeof argv);
    argv[0] = argv[0] ? argv[0] : ring;
    t->ranks = 1 + rand() % RANKS_MAX;
    plenum_job_create(runtime, &t->job);
    plenum_job_add_program(t->job, t->ranks, argv, NULL);
    plenum_job_set_user(t->job, t);
    plenum_job_set(t->job, PLENUM_JOB_GRACE, 200);
    plenum_job_set(t->job, PLENUM_JOB_KEEP_GOING, kind < 2 && rand() % 2);
    if (kind == 3)
        plenum_job_set(t->job, PLENUM_JOB_TIME_LIMIT, 50 + rand() % 300);
}

/* False: there is no host now. */
static int launch(const char *ring)
{
    struct told *t = &told[launched];
    memset(t, 0, sizeof *t);
    describe(t, ring);
    int err = plenum_job_launch(t->job);
    if (err) {
        if (err != PLENUM_ERR_STATE)
            fail("a launch fails: %s", plenum_error());
        plenum_job_close(t->job);
        return 0;
    }
    launched++;
    running++;
    return 1;
}

static void finish(struct told *t)
{
    int number = (int)(t - told);
    if (++t->finished > 1) {
        fail("job %d: finished %d times", number, t->finished);
        return;
    }
    if (!t->started && !t->unstarted && !t->timed_out)
        fail("job %d: finished, but neither started, nor unstarted, nor at its time limit", number);
    for (int r = 0; r < t->ranks; r++)
        if (t->ended[r] > 1 || (t->started && t->ended[r] != 1))
            fail("job %d: the end of rank %d was told %d times", number, r, t->ended[r]);
    running--;
    plenum_job_close(t->job);
}

static void follow(const struct plenum_event *e)
{
    struct told *t = e->user;
    if (e->kind == PLENUM_EVENT_HOST && e->code == PLENUM_HOST_LOST)
        lost++;
    if (!t)
        return;
    if (t->finished && e->kind != PLENUM_EVENT_FINISHED)
        fail("job %d: event %d after its end", (int)(t - told), (int)e->kind);
    switch ((int)e->kind) {
    case PLENUM_EVENT_STARTED:
        if (!t->started++ && launched == 1) {
            puts("up");
            fflush(stdout);
        }
        break;
    case PLENUM_EVENT_UNSTARTED: t->unstarted++; break;
    case PLENUM_EVENT_TIMEOUT: t->timed_out++; break;
    case PLENUM_EVENT_EXITED:
    case PLENUM_EVENT_LOST: t->ended[e->rank]++; break;
    case PLENUM_EVENT_FINISHED: finish(t); break;
    default: break;
    }
}

/* False: nothing has happened for as long. */
static int take_events(int ms)
{
    struct pollfd p = { .fd = plenum_runtime_fd(runtime), .events = POLLIN };
    struct plenum_event *e;
    int some = poll(&p, 1, ms) > 0;
    while (plenum_runtime_next_event(runtime, &e) == PLENUM_OK && e) {
        follow(e);
        plenum_event_free(e);
    }
    return some;
}

/* --- hosts ------------------------------------------------------------------------------------------------------- */

static void add_lost(const char *command)
{
    struct plenum_host host;
    for (int i = 0; plenum_runtime_host(runtime, i, &host, sizeof host) == PLENUM_OK; i++)
        if (host.state == PLENUM_HOST_LOST) {
            if (plenum_runtime_host_add(runtime, host.name, SLOTS, command))
                fail("host %s cannot be added again: %s", host.name, plenum_error());
            return; /* the order has changed */
        }
}

static int run(const char *command, int jobs, const char *ring)
{
    int quiet = 0;
    while ((launched < jobs || running > 0) && quiet < PATIENCE_MS) {
        while (launched < jobs && running < AT_ONCE && launch(ring))
            ;
        quiet = take_events(QUIET_MS) ? 0 : quiet + QUIET_MS;
        add_lost(command);
    }
    return quiet < PATIENCE_MS;
}

int main(int argc, char *argv[])
{
    int jobs = argc > 2 ? atoi(argv[2]) : 0;
    if (argc < 6 || jobs < 1 || jobs > JOBS_MAX)
        return 2;
    srand((unsigned)atoi(argv[3]));
    if (plenum_runtime_open(&runtime))
        fail("%s", plenum_error());
    for (int i = 5; i < argc; i++)
        if (plenum_runtime_host_add(runtime, argv[i], SLOTS, argv[1]))
            fail("host %s: %s", argv[i], plenum_error());
    if (!run(argv[1], jobs, argv[4]))
        fail("%d jobs do not end", running);
    while (take_events(QUIET_MS))
        ;
    plenum_runtime_close(runtime);
    printf("%d jobs, %d hosts lost\n", launched, lost);
    return failures ? 1 : 0;
}
