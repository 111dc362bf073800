/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: host GUEST
 * An embedding program: launches three guests, publishes a set for them, gets theirs as an event, withdraws its own.
 * Prints what is wrong.
 */
#include <plenum.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(good)                                                                                                   \
    do {                                                                                                               \
        if (!(good)) {                                                                                                 \
            fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #good, plenum_error());                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static struct plenum_runtime *rt;
static struct plenum_job *job;

static void refused(void)
{
    const int(*one)[2] = (const int[][2]){ { 0, 0 } };
    EXPECT(plenum_job_pset_publish(job, "mpi://WORLD", one, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset_publish(job, "hwloc://PU/0", one, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset_publish(job, "app://described", one, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset_publish(job, "engine", one, 1) == PLENUM_ERR_ARGUMENT && strstr(plenum_error(), "URI"));
    EXPECT(plenum_job_pset_publish(job, NULL, one, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset_publish(job, "app://x", (const int[][2]){ { 0, 3 } }, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset_publish(job, "app://x", (const int[][2]){ { 2, 1 } }, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset_publish(job, "app://x", NULL, -1) == PLENUM_ERR_ARGUMENT);
    char name[1001] = "app://"; /* of which a message shows the beginning */
    memset(name + 6, 'x', sizeof name - 7);
    EXPECT(plenum_job_pset_publish(job, name, (const int[][2]){ { 0, 3 } }, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(strstr(plenum_error(), "...\": 0-3 are not ranks of a job of size 3"));
    EXPECT(plenum_job_pset_withdraw(job, "app://x") == PLENUM_ERR_ARGUMENT);
}

static void describe(const char *participant)
{
    const char *const argv[] = { participant, NULL };
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_job_create(rt, &job) == PLENUM_OK);
    EXPECT(plenum_job_add_program(job, 3, argv, NULL) == PLENUM_OK);
    EXPECT(plenum_job_pset(job, "app://described", (const int[][2]){ { 0, 1 } }, 1) == PLENUM_OK);
    EXPECT(plenum_job_pset(job, "APP://described", (const int[][2]){ { 0, 1 } }, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset_publish(job, "app://engine", (const int[][2]){ { 0, 0 } }, 1) == PLENUM_ERR_STATE);
}

static bool take(struct plenum_event *e)
{
    static bool replied;
    char words[256];
    plenum_event_describe(e, words, sizeof words);
    if (e->kind == PLENUM_EVENT_STARTED) {
        EXPECT(plenum_job_pset_publish(job, "app://engine", (const int[][2]){ { 2, 2 }, { 0, 0 }, { 2, 2 } }, 3) ==
               PLENUM_OK);
        refused();
    }
    if (e->kind == PLENUM_EVENT_PSETS && e->text && strstr(e->text, "app://reply ") && !replied) {
        EXPECT(strcmp(e->text, "app://engine 1 2,0\napp://reply 2 1\n") == 0 && e->code == 2);
        EXPECT(strstr(words, "2 are published"));
        EXPECT(plenum_job_pset_withdraw(job, "app://Engine") == PLENUM_OK);
        replied = true;
    }
    EXPECT(e->kind != PLENUM_EVENT_EXITED || e->code == 0);
    EXPECT(e->kind != PLENUM_EVENT_FINISHED || (replied && e->code == 0));
    return e->kind == PLENUM_EVENT_FINISHED;
}

int main(int argc, char **argv)
{
    bool finished = false;
    EXPECT(argc == 2);
    describe(argv[1]);
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    while (!finished) {
        struct plenum_event *e;
        struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
        EXPECT(poll(&p, 1, 60000) == 1);
        while (plenum_runtime_next_event(rt, &e) == PLENUM_OK && e) {
            finished |= take(e);
            plenum_event_free(e);
        }
    }
    EXPECT(plenum_job_pset_publish(job, "app://late", (const int[][2]){ { 0, 0 } }, 1) == PLENUM_ERR_STATE);
    plenum_job_close(job);
    plenum_runtime_close(rt);
    return 0;
}
