/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process sets from several threads: one publishes and withdraws, one queries, one makes progress in another session
 * and so runs the watcher, while sessions with watchers open and close.
 */
/*
 * Process sets from several threads: one publishes and withdraws, one asks, one makes progress elsewhere and so runs
 * the watcher, while sessions that watch come and go.
 */
#include <mpi-ext.h>
#include <pthread.h>

#include "mtest.h"

enum { CHANGES = 200, SESSIONS = 30 };

static MPI_Session session;
static MPI_Group self;
static _Atomic int stop, calls, open_sessions;

static void watcher(MPI_Session of, const char *name, MPI_Count version, void *context)
{
    (void)of, (void)name, (void)version;
    CHECK(*(_Atomic int *)context == 1); /* never after the end of its session */
    calls++;
}

static void *publish(void *arg)
{
    char name[32];
    snprintf(name, sizeof name, "app://thread/%d", mtest_rank);
    for (int i = 0; i < CHANGES; i++) {
        CHECK_OK(MPIX_Session_pset_publish(session, name, self));
        CHECK_OK(MPIX_Session_pset_withdraw(session, name));
    }
    stop = 1;
    return arg;
}

static void *ask(void *arg)
{
    MPI_Group group;
    int count = 0, before = 0, size;
    while (!stop) {
        CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
        CHECK(count >= before);
        before = count;
        if (MPI_Group_from_session_pset(session, "app://thread/0", &group) == MPI_SUCCESS) {
            CHECK_OK(MPI_Group_size(group, &size));
            CHECK(size == 1);
            CHECK_OK(MPI_Group_free(&group));
        }
    }
    return arg;
}

static void *progress(void *arg)
{
    int flag;
    while (!stop)
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    return arg;
}

/* Its watcher checks the flag, which says whether the session is open. */
static void watch_for_a_while(void)
{
    _Atomic int is_open = 1;
    MPI_Session watched;
    int count;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &watched));
    CHECK_OK(MPIX_Session_pset_watch(watched, watcher, &is_open));
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Session_get_num_psets(watched, MPI_INFO_NULL, &count));
    if (open_sessions++ % 2)
        CHECK_OK(MPIX_Session_pset_watch(watched, NULL, NULL));
    CHECK_OK(MPI_Session_finalize(&watched));
    is_open = 2;
}

int main(int argc, char **argv)
{
    pthread_t thread[3];
    void *(*const run[])(void *) = { publish, ask, progress };
    if (mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE)
        CHECK(0);
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
    _Atomic int always = 1;
    CHECK_OK(MPIX_Session_pset_watch(session, watcher, &always));
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, run[i], NULL);
    for (int i = 0; i < SESSIONS && !stop; i++)
        watch_for_a_while();
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    CHECK(calls > 0);
    CHECK_OK(MPI_Group_free(&self));
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
