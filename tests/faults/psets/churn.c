/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks except 0 publish without end, each its own set and one that all share, until a timer kills them at an
 * arbitrary point. Rank 0 sees only whole sets, is never delayed, and can publish when the others are dead. Prints
 * "whole".
 */
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { OTHERS = 4, POLLS = 2000 };

static MPI_Session session;
static MPI_Group world;

static void expect(int condition, const char *what)
{
    if (condition)
        return;
    printf("%s\n", what);
    fflush(stdout);
    _Exit(1);
}

static void publish(const char *name, int last)
{
    MPI_Group group;
    MPI_Group_range_incl(world, 1, (int[][3]){ { 0, last, 1 } }, &group);
    expect(MPIX_Session_pset_publish(session, name, group) == MPI_SUCCESS, "cannot publish");
    MPI_Group_free(&group);
}

static void churn(int rank)
{
    char name[32];
    timer_t timer;
    struct sigevent killing = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
    struct itimerspec when = { .it_value = { .tv_nsec = 30000000 + 3217000 * rank } };
    snprintf(name, sizeof name, "app://of/%d", rank);
    publish(name, 0);
    timer_create(CLOCK_MONOTONIC, &killing, &timer);
    timer_settime(timer, 0, &when, NULL);
    for (int i = 0;; i++) {
        publish(name, i % (OTHERS + 1));
        publish("app://common", (i + rank) % (OTHERS + 1));
    }
}

/* Is the set there? Then it must be ranks 0 to some last one. */
static int check_set(const char *name)
{
    MPI_Group group;
    int size, all[OTHERS + 1], got[OTHERS + 1];
    if (MPI_Group_from_session_pset(session, name, &group) != MPI_SUCCESS)
        return 0;
    MPI_Group_size(group, &size);
    expect(size >= 1 && size <= OTHERS + 1, "a set of impossible size");
    for (int i = 0; i < size; i++)
        all[i] = i;
    MPI_Group_translate_ranks(group, size, all, world, got);
    for (int i = 0; i < size; i++)
        expect(got[i] == i, "half a set");
    MPI_Group_free(&group);
    return 1;
}

int main(void)
{
    char name[32];
    MPI_Group self;
    int rank, there = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Group_rank(world, &rank);
    MPI_Group_from_session_pset(session, "mpi://SELF", &self);
    if (rank > 0)
        churn(rank);
    while (there < OTHERS) {
        there = 0;
        for (int r = 1; r <= OTHERS; r++) {
            snprintf(name, sizeof name, "app://of/%d", r);
            there += check_set(name);
        }
    }
    for (int i = 0; i < POLLS; i++) {
        int count;
        check_set("app://common");
        expect(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count) == MPI_SUCCESS, "cannot list");
        if (i % 10 == 0)
            publish("app://mine", i / 10 % (OTHERS + 1));
    }
    nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL); /* by now most are dead */
    for (int i = 0; i < 100; i++)
        publish("app://mine", i % (OTHERS + 1));
    expect(check_set("app://mine") && check_set("app://common"), "a set got lost");
    puts("whole");
    MPI_Group_free(&self);
    MPI_Group_free(&world);
    return MPI_Session_finalize(&session) != MPI_SUCCESS;
}
