/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that changes its process after MPI_Init, in a way that WAY names, and then communicates: on one rank or on
 * all (-1), before the first contact or after it ("later"). A call that fails says why. Exit code: 0 all data were
 * right, 2 calls have failed.
 *
 * usage: change WAY RANK [later]
 */
#include <fcntl.h>
#include <grp.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LONGEST = 4 << 20, STACK = 65536, NOT_A_USER = 65534 };

static int rank, size;
static int failed;

static void ended(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (!code)
        return;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "rank %d, %s: %s\n", rank, what, text);
    failed = 2;
}

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "rank %d: not so: %s\n", rank, what);
    exit(3);
}
#define CHECK(condition) check(condition, #condition)

/* --- communication ----------------------------------------------------------------------------------------------- */

static void exchange(MPI_Comm comm, int *a, int *b, int count)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < count; i++)
        a[i] = rank * 1000 + i;
    int code = MPI_Sendrecv(a, count, MPI_INT, right, 5, b, count, MPI_INT, left, 5, comm, MPI_STATUS_IGNORE);
    for (int i = 0; !code && i < count; i++)
        CHECK(b[i] == left * 1000 + i);
    ended(code, "sendrecv");
    code = MPI_Allreduce(a, b, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; !code && i < count; i++)
        CHECK(b[i] == 1000 * (size * (size - 1) / 2) + size * i);
    ended(code, "allreduce");
    ended(MPI_Bcast(b, count, MPI_INT, size - 1, comm), "bcast");
}

static void use_window(MPI_Comm comm)
{
    int own = rank, got = -1;
    MPI_Win win;
    int code = MPI_Win_create(&own, sizeof own, sizeof own, MPI_INFO_NULL, comm, &win);
    ended(code, "win_create");
    if (code)
        return;
    ended(MPI_Win_fence(0, win), "fence");
    code = MPI_Get(&got, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    ended(code, "get");
    code = code ? code : MPI_Win_fence(0, win);
    CHECK(code || got == (rank + 1) % size);
    MPI_Win_free(&win);
}

static void use_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int sum = 0, code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    ended(code, "session_init");
    if (code)
        return;
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    code = MPI_Comm_create_from_group(group, "changed", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    ended(code, "comm_create_from_group");
    if (!code) {
        code = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(code || sum == size * (size - 1) / 2);
        ended(code, "allreduce of the session");
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

static void *communicate(void *nothing)
{
    int *a = malloc(LONGEST), *b = malloc(LONGEST);
    MPI_Comm dup;
    CHECK(a && b);
    for (int count = 2; count <= (int)(LONGEST / sizeof *a); count *= 8)
        exchange(MPI_COMM_WORLD, a, b, count);
    free(a);
    free(b);
    int code = MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    ended(code, "comm_dup");
    if (!code)
        MPI_Comm_free(&dup);
    use_window(MPI_COMM_WORLD);
    use_session();
    return nothing;
}

static void communicate_in_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstacksize(&attributes, STACK) == 0);
    CHECK(pthread_create(&thread, &attributes, communicate, NULL) == 0);
    pthread_join(thread, NULL);
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

static jmp_buf back;

static void jump(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(back, 1);
}

/* Leaves calls by a jump out of their error handler, as C++ programs do by an exception. */
static void leave_calls(void)
{
    MPI_Errhandler handler;
    MPI_Request request;
    volatile int jumps = 0;
    int out = 1, in = 0;
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    if (setjmp(back) == 0)
        MPI_Send(&out, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD);
    else
        jumps++;
    if (setjmp(back) == 0)
        MPI_Bcast(&out, 1, MPI_INT, 1000, MPI_COMM_WORLD);
    else
        jumps++;
    MPI_Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    if (setjmp(back) == 0)
        MPI_Recv(&in, 0, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    else
        jumps++;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (setjmp(back) == 0)
        MPI_Allreduce(&out, &in, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD);
    else
        jumps++;
    CHECK(jumps == 4);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
}

static void limit(int what, rlim_t most)
{
    struct rlimit limits;
    CHECK(getrlimit(what, &limits) == 0);
    limits.rlim_cur = most;
    CHECK(setrlimit(what, &limits) == 0);
}

static void move_into_removed_directory(int as_root)
{
    char path[] = "/tmp/changed-XXXXXX";
    CHECK(mkdtemp(path) != NULL);
    CHECK((as_root ? chroot(path) : 0) == 0 && chdir(as_root ? "/" : path) == 0);
    if (!as_root)
        rmdir(path);
}

static void set_signals(void (*to)(int))
{
    for (int i = 1; i < 32; i++)
        if (i != SIGKILL && i != SIGSTOP && i != SIGSEGV)
            signal(i, to);
}

static void change(const char *way)
{
    sigset_t all;
    if (strcmp(way, "descriptors") == 0) { /* as daemons do; and other files take the numbers */
        close_range(3, ~0u, 0);
        CHECK(open("/dev/null", O_RDWR) == 3 && open("/dev/null", O_RDWR) == 4);
    } else if (strcmp(way, "standard streams") == 0) {
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
    } else if (strcmp(way, "no directory") == 0) {
        move_into_removed_directory(0);
    } else if (strcmp(way, "root directory") == 0) {
        move_into_removed_directory(1);
    } else if (strcmp(way, "user") == 0) {
        CHECK(setgroups(0, NULL) == 0 && setresgid(NOT_A_USER, NOT_A_USER, NOT_A_USER) == 0);
        CHECK(setresuid(NOT_A_USER, NOT_A_USER, NOT_A_USER) == 0);
    } else if (strcmp(way, "no more files") == 0) {
        limit(RLIMIT_NOFILE, 3);
    } else if (strcmp(way, "locked memory") == 0) {
        limit(RLIMIT_MEMLOCK, 65536);
        CHECK(mlockall(MCL_FUTURE) == 0);
    } else if (strcmp(way, "mounts") == 0) {
        CHECK(unshare(CLONE_NEWNS) == 0);
    } else if (strcmp(way, "network") == 0) {
        CHECK(unshare(CLONE_NEWNET) == 0);
    } else if (strcmp(way, "pids") == 0) {
        CHECK(unshare(CLONE_NEWPID) == 0);
    } else if (strcmp(way, "environment") == 0) {
        clearenv();
    } else if (strcmp(way, "blocked signals") == 0) {
        sigfillset(&all);
        CHECK(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
    } else if (strcmp(way, "default signals") == 0) {
        set_signals(SIG_DFL);
    } else if (strcmp(way, "ignored signals") == 0) {
        set_signals(SIG_IGN);
    } else if (strcmp(way, "jumps") == 0) {
        leave_calls();
    } else {
        CHECK(strcmp(way, "nothing") == 0 || strcmp(way, "short stack") == 0);
    }
}

int main(int argc, char **argv)
{
    int provided, only = argc > 2 ? atoi(argv[2]) : -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc > 3)
        communicate(NULL);
    if (only < 0 || only == rank)
        change(argv[1]);
    if (strcmp(argv[1], "short stack") == 0)
        communicate_in_thread();
    else
        communicate(NULL);
    MPI_Finalize();
    return failed;
}
