/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One of four processes of a pool is killed during one-sided communication, on every path. No other process hangs, and
 * calls that depend on the victim return MPI_ERR_PROC_ABORTED. The survivors can create a window of their own, and
 * nothing stays in the pool's directory. Exit code 0: all of that holds.
 */
#include <mpi-ext.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POOL = 4, VICTIM = 1, BYTES = 100000, STORM = 3000, PATIENCE = 30 };

static int rank, failed, kept; /* `kept`: the memory is the process's own and is lost with it */
static MPI_Session session;
static MPI_Group world;
static MPI_Comm comm;
static MPI_Win win;
static MPI_Aint place[POOL];
static char *base, directory[64];

static void check(int good, const char *what, int got)
{
    if (good)
        return;
    failed = 1;
    fprintf(stderr, "rank %d: %s: class %d\n", rank, what, got);
}

static int class_of(int code)
{
    int class = code;
    if (code)
        MPI_Error_class(code, &class);
    return class;
}

static void is_aborted(int code, const char *what)
{
    check(class_of(code) == MPI_ERR_PROC_ABORTED, what, class_of(code));
}

static void is_good_or_aborted(int code, const char *what)
{
    check(code == MPI_SUCCESS || class_of(code) == MPI_ERR_PROC_ABORTED, what, class_of(code));
}

static void make_window(const char *flavor)
{
    MPI_Aint own = 0;
    if (strcmp(flavor, "allocated") == 0) {
        MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, comm, &base, &win);
    } else if (strcmp(flavor, "shared") == 0) {
        MPI_Win_allocate_shared(BYTES, 1, MPI_INFO_NULL, comm, &base, &win);
    } else {
        base = calloc(1, BYTES);
        if (strcmp(flavor, "created") == 0)
            MPI_Win_create(base, BYTES, 1, MPI_INFO_NULL, comm, &win);
        else
            MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
        if (strcmp(flavor, "dynamic") == 0) {
            MPI_Win_attach(win, base, BYTES);
            MPI_Get_address(base, &own);
            MPI_Allgather(&own, 1, MPI_AINT, place, 1, MPI_AINT, comm);
        }
    }
    kept = strcmp(flavor, "created") == 0 || strcmp(flavor, "dynamic") == 0;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(base, 0, BYTES);
    MPI_Barrier(comm);
}

static void die(void)
{
    if (rank == VICTIM)
        kill(getpid(), SIGKILL);
}

static void in_lock(void)
{
    if (rank == VICTIM)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(comm);
    die();
    int rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    is_good_or_aborted(rc, "the lock that the victim held");
    if (rc == MPI_SUCCESS)
        MPI_Win_unlock(0, win);
}

static void in_fence(void)
{
    MPI_Win_fence(0, win);
    die();
    is_aborted(MPI_Win_fence(0, win), "the fence");
}

static void in_start(void)
{
    MPI_Group all, one;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &(int){ VICTIM }, &one);
    die();
    is_aborted(MPI_Win_start(one, 0, win), "MPI_Win_start");
    MPI_Group_free(&one);
    MPI_Group_free(&all);
}

static void in_wait(void)
{
    MPI_Group all, one;
    int done = 0, rc = MPI_SUCCESS;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &(int){ VICTIM }, &one);
    if (rank != VICTIM)
        MPI_Win_post(one, 0, win);
    MPI_Barrier(comm);
    die();
    if (rank % 2) {
        while (rc == MPI_SUCCESS && !done)
            rc = MPI_Win_test(win, &done);
        is_aborted(rc, "MPI_Win_test");
    } else {
        is_aborted(MPI_Win_wait(win), "MPI_Win_wait");
    }
    MPI_Group_free(&one);
    MPI_Group_free(&all);
}

/* On the direct path the target's process is not needed. */
static void put_to_victim(int count)
{
    static char data[BYTES];
    MPI_Win_lock_all(0, win);
    MPI_Barrier(comm);
    die();
    int rc = MPI_SUCCESS;
    for (int i = 0; i < 20 && rc == MPI_SUCCESS; i++) {
        rc = MPI_Put(data, count, MPI_CHAR, VICTIM, place[VICTIM], count, MPI_CHAR, win);
        if (rc == MPI_SUCCESS)
            rc = MPI_Win_flush(VICTIM, win);
        usleep(10000);
    }
    is_good_or_aborted(rc, "put and flush");
    is_good_or_aborted(MPI_Win_unlock_all(win), "MPI_Win_unlock_all");
}

static void in_flush(void)
{
    put_to_victim(8);
}

static void in_large(void)
{
    put_to_victim(BYTES);
}

static void in_free(void)
{
    die();
    is_aborted(MPI_Win_free(&win), "MPI_Win_free");
    check(win == MPI_WIN_NULL, "the window is freed nevertheless", 0);
}

static void in_get(void)
{
    static char data[BYTES];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(comm);
    die();
    int rc = MPI_Rget(data, BYTES, MPI_CHAR, VICTIM, place[VICTIM], BYTES, MPI_CHAR, win, &request);
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    is_good_or_aborted(rc, "MPI_Rget");
    is_good_or_aborted(MPI_Win_unlock_all(win), "MPI_Win_unlock_all");
}

static void in_storm(void)
{
    static int64_t one = 1, before; /* static: used until the window is freed, if the call fails */
    int rc = MPI_SUCCESS;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(comm);
    for (int i = 0; i < STORM && rc == MPI_SUCCESS; i++) {
        if (i == STORM / 3)
            die();
        rc = MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, place[0], MPI_SUM, win);
        if (rc == MPI_SUCCESS && i % 10 == 0)
            rc = MPI_Win_flush(0, win);
    }
    is_good_or_aborted(rc, "the others' accumulates");
    is_good_or_aborted(MPI_Win_flush(0, win), "MPI_Win_flush");
    is_good_or_aborted(MPI_Win_unlock_all(win), "MPI_Win_unlock_all");
}

/* The victim is killed while the others move data from and to its memory; it is in MPI only now and then. */
static void in_access(void)
{
    static char data[BYTES];
    int rc = MPI_SUCCESS;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(comm);
    while (rank == VICTIM) {
        for (int i = 0; i < STORM && ((volatile char *)base)[BYTES - 1] == 0; i++)
            sched_yield();
        if (((volatile char *)base)[BYTES - 1])
            die();
        MPI_Win_sync(win);
    }
    for (int i = 0; (kept || i < STORM) && rc == MPI_SUCCESS; i++) {
        data[BYTES - 1] = i > 100;
        rc = MPI_Put(data, BYTES, MPI_CHAR, VICTIM, place[VICTIM], BYTES, MPI_CHAR, win);
        if (rc == MPI_SUCCESS)
            rc = MPI_Win_flush(VICTIM, win);
        if (rc == MPI_SUCCESS)
            rc = MPI_Accumulate(data, 1, MPI_INT, VICTIM, place[VICTIM], 1, MPI_INT, MPI_SUM, win);
        if (rc == MPI_SUCCESS)
            rc = MPI_Get(data, BYTES / 2, MPI_CHAR, VICTIM, place[VICTIM], BYTES / 2, MPI_CHAR, win);
        if (rc == MPI_SUCCESS)
            rc = MPI_Win_flush(VICTIM, win);
    }
    if (kept)
        is_aborted(rc, "data from and to the victim");
    else
        is_good_or_aborted(rc, "data from and to the victim");
    is_good_or_aborted(MPI_Win_unlock_all(win), "MPI_Win_unlock_all");
}

/* The survivors. */
static void go_on(void)
{
    MPI_Group rest;
    MPI_Comm of_rest;
    MPI_Win other;
    int *sum, size, me, one = rank + 1, victim = VICTIM, rc;
    MPI_Group_excl(world, 1, &victim, &rest);
    rc = MPI_Comm_create_from_group(rest, "the rest", MPI_INFO_NULL, MPI_ERRORS_RETURN, &of_rest);
    MPI_Group_free(&rest);
    check(rc == MPI_SUCCESS, "a communicator of the rest", class_of(rc));
    if (rc)
        return;
    MPI_Comm_size(of_rest, &size);
    MPI_Comm_rank(of_rest, &me);
    rc = MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, of_rest, &sum, &other);
    check(rc == MPI_SUCCESS, "a window of the rest", class_of(rc));
    *sum = 0;
    MPI_Win_fence(0, other);
    for (int i = 0; i < size; i++)
        MPI_Accumulate(&one, 1, MPI_INT, i, 0, 1, MPI_INT, MPI_SUM, other);
    MPI_Win_fence(0, other);
    check(*sum == POOL * (POOL + 1) / 2 - VICTIM - 1, "what the rest add up", *sum);
    MPI_Win_free(&other);
    MPI_Comm_free(&of_rest);
}

static const struct {
    const char *name;
    void (*run)(void);
} situations[] = {
    { "lock", in_lock },     { "fence", in_fence }, { "start", in_start }, { "wait", in_wait },   { "flush", in_flush },
    { "access", in_access }, { "large", in_large }, { "get", in_get },     { "storm", in_storm }, { "free", in_free },
};
static const char *const flavors[] = { "created", "allocated", "shared", "dynamic" };

static int live(const char *flavor, void (*run)(void))
{
    int rc = MPIX_Attach(directory, rank, POOL);
    check(rc == MPI_SUCCESS, "MPIX_Attach", rc);
    if (rc)
        return failed;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    rc = MPI_Comm_create_from_group(world, flavor, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    check(rc == MPI_SUCCESS, "a communicator of all", class_of(rc));
    make_window(flavor);
    run();
    go_on();
    if (win != MPI_WIN_NULL)
        is_good_or_aborted(MPI_Win_free(&win), "MPI_Win_free");
    if (strcmp(flavor, "created") == 0 || strcmp(flavor, "dynamic") == 0)
        free(base);
    MPI_Comm_free(&comm);
    MPI_Group_free(&world);
    rc = MPI_Session_finalize(&session);
    check(rc == MPI_SUCCESS, "MPI_Session_finalize", class_of(rc));
    rc = MPIX_Detach();
    check(rc == MPI_SUCCESS, "MPIX_Detach", rc);
    return failed;
}

static int try(const char *flavor, const char *name, void (*run)(void))
{
    pid_t pids[POOL];
    int wrong = 0;
    for (rank = 0; rank < POOL; rank++) {
        pids[rank] = fork();
        if (pids[rank] == 0) {
            alarm(PATIENCE);
            _exit(live(flavor, run));
        }
    }
    for (int i = 0; i < POOL; i++) {
        int status;
        waitpid(pids[i], &status, 0);
        int good = i == VICTIM ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL : status == 0;
        if (!good)
            fprintf(stderr, "window %s, %s: rank %d ended with %s %d\n", flavor, name, i,
                    WIFSIGNALED(status) ? "signal" : "code",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        wrong |= !good;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    for (size_t f = 0; f < sizeof flavors / sizeof flavors[0]; f++)
        for (size_t s = 0; s < sizeof situations / sizeof situations[0]; s++) {
            if ((argc > 1 && strcmp(argv[1], "all") != 0 && strcmp(argv[1], flavors[f]) != 0) ||
                (argc > 2 && strcmp(argv[2], situations[s].name) != 0))
                continue;
            snprintf(directory, sizeof directory, "pool.XXXXXX");
            if (!mkdtemp(directory))
                return 1;
            wrong |= try(flavors[f], situations[s].name, situations[s].run);
            if (rmdir(directory) != 0) {
                fprintf(stderr, "window %s, %s: something stays in %s\n", flavors[f], situations[s].name, directory);
                wrong = 1;
            }
        }
    return wrong;
}
