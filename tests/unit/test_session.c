/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions from inside: the lock that a thread level needs, leaks when memory runs out while a session opens, and the
 * leak report in any capacity.
 */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/comm.h"
#include "core/engine/leak_report.h"
#include "core/engine/life.h"
#include "core/engine/p2p.h"
#include "core/job/process.h"
#include "core/object/errhandler.h"
#include "core/object/info.h"
#include "core/object/object.h"
#include "sessions/create/comm_from_group.h"
#include "sessions/session.h"

static struct pl_instance *session_of(const char *level)
{
    struct pl_instance *session;
    struct pl_info *info = pl_info_create();
    ck_assert_int_eq(pl_info_set(info, "mpi_thread_support_level", level), MPI_SUCCESS);
    ck_assert_int_eq(pl_session_open(info, NULL, &session), MPI_SUCCESS);
    pl_handle_drop(info);
    return session;
}

/* A session below MPI_THREAD_SERIALIZED takes no lock at all, whichever others there are. */
START_TEST(locks)
{
    struct pl_instance *multiple = session_of("MPI_THREAD_MULTIPLE"), *serialized = session_of("MPI_THREAD_SERIALIZED");
    struct pl_instance *funneled = session_of("MPI_THREAD_FUNNELED"), *single = session_of("MPI_THREAD_SINGLE");
    ck_assert(multiple->engine.lock.real && serialized->engine.lock.real);
    ck_assert(!funneled->engine.lock.real && !single->engine.lock.real);
    ck_assert_int_eq(single->thread_level, MPI_THREAD_SINGLE);
    ck_assert_int_eq(multiple->thread_level, MPI_THREAD_MULTIPLE);
    pl_session_close(multiple);
    pl_session_close(single);
    pl_session_close(serialized);
    pl_session_close(funneled);
    ck_assert_int_eq(pl_process.instances, 0);
}
END_TEST

/* By default nothing is printed; the log names what is left, in one line for each object. */
static ssize_t closing_says(const char *filter, char text[2000])
{
    int ends[2], err = dup(STDERR_FILENO);
    setenv("PLENUM_LOG", filter, 1);
    struct pl_instance *session = session_of("MPI_THREAD_MULTIPLE");
    struct pl_group *group = pl_instance_group_range(session, 1, pl_process_self(), 1);
    struct pl_comm *comm;
    bool ours;
    ck_assert_int_eq(pl_comm_create(session, NULL, group, NULL, pl_comm_new_id(), &comm), MPI_SUCCESS);
    strcpy(comm->name, "ocean");
    pl_handle_drop(group);
    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    ck_assert_int_eq(pl_session_check(session, &ours), MPI_SUCCESS);
    dup2(err, STDERR_FILENO);
    close(err);
    ck_assert(ours);
    pl_session_close(session);
    ssize_t length = read(ends[0], text, 1999);
    close(ends[0]);
    text[length > 0 ? length : 0] = '\0';
    unsetenv("PLENUM_LOG");
    return length;
}

START_TEST(log_of_the_end)
{
    char text[2000];
    ck_assert_int_eq(closing_says("", text), 0);
    ck_assert_int_eq(closing_says("session:error,match:debug", text), 0);
    ck_assert_int_gt(closing_says("session:warning", text), 0);
    ck_assert_ptr_nonnull(strstr(text, "session: left at the end of a session: communicator \"ocean\" (not freed)\n"));
    ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
}
END_TEST

static unsigned rounds(struct pl_instance *session)
{
    return atomic_load(&session->engine.rounds);
}

/* A thread that waits in one session drives another while no other thread does, unless its thread level forbids it. */
START_TEST(nudges)
{
    struct pl_instance *waiting = session_of("MPI_THREAD_MULTIPLE"), *busy = session_of("MPI_THREAD_MULTIPLE");
    pl_engine_nudge_others(&waiting->engine);
    for (int i = 0; i < 5; i++) {
        pl_engine_enter(&busy->engine);
        pl_engine_progress(&busy->engine); /* as if another thread drove it */
        pl_engine_leave(&busy->engine);
        unsigned before = rounds(busy);
        pl_engine_nudge_others(&waiting->engine);
        ck_assert_uint_eq(rounds(busy), before);
    }
    for (unsigned i = 1, before = rounds(busy); i < 5; i++) {
        pl_engine_nudge_others(&waiting->engine);
        ck_assert_uint_eq(rounds(busy), before + i);
    }
    unsigned idle = rounds(waiting);
    pl_engine_nudge_others(&waiting->engine);
    ck_assert_uint_eq(rounds(waiting), idle);
    pl_session_close(busy);
    pl_session_close(waiting);
}
END_TEST

static void *nudge(void *session)
{
    for (int i = 0; i < 5; i++)
        pl_engine_nudge_others(&((struct pl_instance *)session)->engine);
    return NULL;
}

/* Only its own thread enters a session without a lock. */
START_TEST(strangers)
{
    pthread_t thread;
    struct pl_instance *multiple = session_of("MPI_THREAD_MULTIPLE"), *single = session_of("MPI_THREAD_SINGLE");
    unsigned before = rounds(single);
    ck_assert_int_eq(pthread_create(&thread, NULL, nudge, multiple), 0);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(rounds(single), before);
    nudge(multiple);
    ck_assert_uint_gt(rounds(single), before);
    pl_session_close(single);
    pl_session_close(multiple);
}
END_TEST

static long objects(void)
{
    long count = 0;
    for (int kind = 1; kind < PL_KINDS; kind++)
        count += pl_object_count(kind);
    return count;
}

/* Every allocation that can fail does so once; nothing leaks, and the next session opens normally. */
START_TEST(out_of_memory)
{
    struct pl_instance *session = session_of("MPI_THREAD_MULTIPLE");
    pl_session_close(session);
    struct pl_info *info = pl_info_create();
    pl_info_set(info, "mpi_memory_alloc_kinds", "system,mpi:alloc_mem");
    pl_info_set(info, "mpi_assert_memory_alloc_kinds", "system");
    pl_info_set(info, "plenum_strict", "true");
    long before = objects();
    int failed = 0;
    for (int n = 1;; n++) {
        pl_memory_fail_at(n);
        int rc = pl_session_open(info, NULL, &session);
        bool happened = pl_memory_failed();
        pl_memory_fail_at(0);
        if (rc == MPI_SUCCESS)
            pl_session_close(session);
        else
            failed++;
        ck_assert_int_eq(objects(), before);
        ck_assert_int_eq(pl_process.instances, 0);
        if (!happened)
            break;
    }
    ck_assert_int_gt(failed, 5);
    pl_handle_drop(info);
}
END_TEST

/* An object that outlives its session cannot start anything, and leaks nothing when it tries. */
START_TEST(start_after_the_end)
{
    struct pl_instance *session = session_of("MPI_THREAD_MULTIPLE");
    struct pl_group *group = pl_instance_group_range(session, 1, pl_process_self(), 1);
    struct pl_comm *comm;
    struct pl_request *request = NULL;
    int data = 0;
    ck_assert_int_eq(pl_comm_create(session, NULL, group, NULL, pl_comm_new_id(), &comm), MPI_SUCCESS);
    pl_handle_drop(group);
    pl_object_retain(comm);
    pl_session_close(session);
    ck_assert_int_eq(pl_coll_isend(comm, &data, sizeof data, PL_TYPE_BYTE, 0, 1, &request), MPI_ERR_REQUEST);
    ck_assert_int_eq(pl_coll_irecv(comm, &data, sizeof data, PL_TYPE_BYTE, 0, 1, &request), MPI_ERR_REQUEST);
    ck_assert_ptr_null(request);
    pl_object_release(comm);
    ck_assert_int_eq(objects(), 0);
}
END_TEST

START_TEST(space_for_a_report)
{
    struct pl_instance *session = session_of("MPI_THREAD_SINGLE");
    struct pl_group *group = pl_instance_group_range(session, 1, pl_process_self(), 1);
    struct pl_comm *comms[30];
    for (int i = 0; i < 30; i++) {
        ck_assert_int_eq(pl_comm_create(session, NULL, group, NULL, pl_comm_new_id(), &comms[i]), MPI_SUCCESS);
        memset(comms[i]->name, 'a' + i % 26, MPI_MAX_OBJECT_NAME - 1);
    }
    pl_handle_drop(group);
    char text[4096];
    for (size_t capacity = 0; capacity < sizeof text; capacity = capacity * 2 + 1) {
        memset(text, '#', sizeof text);
        ck_assert_int_eq(pl_leak_report(session, text, capacity), 30);
        ck_assert(capacity == 0 || strlen(text) < capacity);
        ck_assert_int_eq(text[capacity], '#');
    }
    ck_assert_int_eq(pl_leak_report(session, text, sizeof text), 30);
    ck_assert(strstr(text, "2 communicators \"aaaa") && strstr(text, "(not freed), communicator \"eeee"));
    comms[7]->role.serves = "window";
    for (int i = 0; i < 30; i++)
        if (i != 7)
            ck_assert_int_eq(pl_comm_free(comms[i]), MPI_SUCCESS);
    strcpy(comms[7]->name, "halo");
    ck_assert_int_eq(pl_leak_report(session, text, sizeof text), 1);
    ck_assert_str_eq(text, "window \"halo\" (not freed)");
    pl_session_close(session);
}
END_TEST

UNIT_MAIN("session", locks, log_of_the_end, nudges, strangers, out_of_memory, start_after_the_end, space_for_a_report)
