/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress thread of a session comes and goes with it. A session says whether it has one, beside one without; fifty
 * cycles leave nothing behind; a forked child has no such thread and ends; a process that exits without finalization
 * ends, too. With nothing to do the thread sleeps.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mtest.h"
#include "progress.h"
#include "usage.h"

enum { WARM_UP = 5, CYCLES = 50, WORDS = 10000 };

static MPI_Session open_session(const char *progress, const char *alone)
{
    MPI_Info info;
    MPI_Session session;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "plenum_progress", progress));
    CHECK_OK(MPI_Info_set(info, "plenum_alone", alone));
    CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED"));
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Info_free(&info));
    return session;
}

static void check_info(MPI_Session session, const char *progress, const char *alone)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL] = "";
    int flag = 0, size = sizeof value;
    CHECK_OK(MPI_Session_get_info(session, &info));
    CHECK_OK(MPI_Info_get_string(info, "plenum_progress", &size, value, &flag));
    CHECK(flag && strcmp(value, progress) == 0);
    size = sizeof value;
    CHECK_OK(MPI_Info_get_string(info, "thread_level", &size, value, &flag));
    CHECK(strcmp(value, "MPI_THREAD_FUNNELED") == 0);
    size = sizeof value;
    CHECK_OK(MPI_Info_get_string(info, "plenum_alone", &size, value, &flag));
    CHECK(flag && strcmp(value, alone) == 0);
    CHECK_OK(MPI_Info_free(&info));
}

static MPI_Comm all_of(MPI_Session session)
{
    MPI_Group group;
    MPI_Comm comm;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "progress", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    return comm;
}

static void cycle(int n)
{
    static int values[WORDS], sums[WORDS];
    MPI_Session session = open_session("thread", "false");
    MPI_Request request;
    CHECK(progress_threads() == 1);
    MPI_Comm comm = all_of(session);
    CHECK_OK(MPI_Comm_rank(comm, &mtest_rank));
    CHECK_OK(MPI_Comm_size(comm, &mtest_size));
    for (int i = 0; i < WORDS; i++)
        values[i] = mtest_rank + n + i;
    CHECK_OK(MPI_Iallreduce(values, sums, WORDS, MPI_INT, MPI_SUM, comm, &request));
    if (n % 10 == mtest_rank)
        usleep(2000);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < WORDS; i++)
        CHECK(sums[i] == mtest_size * (n + i) + mtest_size * (mtest_size - 1) / 2);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK(progress_threads() == 0);
}

/* A session with a thread beside one without; a wrong value. */
static void choose(void)
{
    MPI_Info info;
    MPI_Session without = open_session("none", "false"), with = open_session("thread", "false"), wrong;
    check_info(without, "none", "false");
    check_info(with, "thread", "false");
    CHECK(progress_threads() == 1);
    CHECK_OK(MPI_Session_finalize(&without));
    CHECK(progress_threads() == 1);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "plenum_progress", "sometimes"));
    CHECK_CLASS(MPI_Session_init(info, MPI_ERRORS_RETURN, &wrong), MPI_ERR_INFO_VALUE);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_finalize(&with));
    CHECK(progress_threads() == 0);
}

static int ended_well(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Exits with a session open, whose memory the address sanitizer would take for a leak. */
static _Noreturn void leave(int code)
{
#ifdef __SANITIZE_ADDRESS__
    _exit(code);
#else
    exit(code);
#endif
}

/* The parent's session works on. */
static void forks(void)
{
    MPI_Session session = open_session("thread", "false");
    MPI_Comm comm = all_of(session);
    int sum = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(progress_threads() == 0 && MPI_Session_finalize(&session) != MPI_SUCCESS ? 0 : 1);
    CHECK(child > 0 && ended_well(child));
    child = fork();
    if (child == 0)
        leave(0);
    CHECK(child > 0 && ended_well(child));
    CHECK_OK(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == mtest_size);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

/* In a child that has not used MPI before. */
static void exits(void)
{
    pid_t child = fork();
    if (child == 0) {
        MPI_Session session = open_session("thread", "true");
        check_info(session, "thread", "true");
        MPI_Comm comm = all_of(session);
        MPI_Barrier(comm);
        leave(progress_threads() == 1 && mtest_failures == 0 ? 0 : 1);
    }
    CHECK(child > 0 && ended_well(child));
}

/* Signals go to the program's threads, except those that the thread's own accesses cause. */
static void signals(void)
{
    MPI_Session session = open_session("thread", "false");
    unsigned long long blocked;
    do /* a new thread begins with all signals blocked */
        blocked = progress_look().blocked;
    while ((blocked >> (SIGSEGV - 1) & 1) && usleep(1000) == 0);
    for (int number = 1; number < 32; number++) {
        int own = number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP ||
                  number == SIGSYS || number == SIGKILL || number == SIGSTOP;
        CHECK((blocked >> (number - 1) & 1) == !own);
    }
    CHECK_OK(MPI_Session_finalize(&session));
}

/* With nothing to do the thread sleeps. One that polls would never be found asleep so often in a row. */
static void idles(void)
{
    enum { IN_A_ROW = 20 };
    MPI_Session session = open_session("thread", "false");
    MPI_Comm comm = all_of(session);
    MPI_Barrier(comm);
    for (int row = 0; row < IN_A_ROW; row++) {
        usleep(2000);
        if (progress_look().state != 'S')
            row = -1;
    }
    CHECK(progress_threads() == 1);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(void)
{
    exits();
    for (int n = 0; n < WARM_UP; n++)
        cycle(n);
    struct usage before = usage_now();
    for (int n = 0; n < CYCLES; n++)
        cycle(n);
    struct usage after = usage_now();
    CHECK(after.descriptors == before.descriptors);
    CHECK(after.threads == before.threads);
    CHECK(after.mappings <= before.mappings + 2); /* the allocator may still settle */
    CHECK(after.resident_kib < before.resident_kib + usage_settles_kib());
    choose();
    forks();
    signals();
    idles();
    MTEST_END;
}
