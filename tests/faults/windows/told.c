/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A member of a pool (docs/attach.md) dies while it holds a lock of a window, or while the others wait for it in a
 * fence. The waiting calls return an error, and their processes can go on. Exit code 0: all of that holds.
 */
#include <mpi-ext.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POOL = 3, VICTIM = 2 };

static struct shared {
    _Atomic int failed, locked, queued, made, fenced, told;
} * shared;
static MPI_Comm comm;
static char directory[64];

static void check(int code, int class, const char *words, int rank, int line)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int found = code, length;
    MPI_Error_class(code, &found);
    MPI_Error_string(code, text, &length);
    if (found == class && strstr(text, words))
        return;
    fprintf(stderr, "rank %d, line %d: class %d instead of %d, or no \"%s\" in: %s\n", rank, line, found, class, words,
            text);
    atomic_fetch_add(&shared->failed, 1);
}
#define EXPECT(code, class, words) check((code), (class), (words), rank, __LINE__)
#define CHECK_OK(code)             EXPECT(code, MPI_SUCCESS, "")

/* Makes progress until `all` processes are here. A process that dies may take its last messages with it, and one that
 * has closed its session is a reason of its own for errors: so none is ahead of the others. */
static void meet(_Atomic int *here, int all)
{
    int flag;
    atomic_fetch_add(here, 1);
    while (atomic_load(here) < all)
        MPI_Iprobe(0, 0, comm, &flag, MPI_STATUS_IGNORE);
}

/* The victim locks rank 0's memory and dies once the others have asked for the lock. */
static void die_locked(MPI_Win win, int rank)
{
    int one = 1;
    if (rank == VICTIM) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
        CHECK_OK(MPI_Win_flush(0, win));
        atomic_store(&shared->locked, 1);
        while (atomic_load(&shared->queued) < POOL - 1)
            MPI_Win_flush(0, win);
        raise(SIGKILL);
    }
    if (rank == 0) { /* makes progress for the ranks that ask it for the lock */
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        while (!atomic_load(&shared->locked))
            MPI_Win_flush(1, win);
        MPI_Win_unlock(1, win);
    }
    while (!atomic_load(&shared->locked))
        sched_yield();
    atomic_fetch_add(&shared->queued, 1);
    EXPECT(MPI_Win_lock(rank ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_PROC_ABORTED, "rank 2");
}

static void die_before_fence(MPI_Win win, int rank)
{
    CHECK_OK(MPI_Win_fence(0, win));
    meet(&shared->fenced, POOL);
    if (rank == VICTIM)
        raise(SIGKILL);
    EXPECT(MPI_Win_fence(0, win), MPI_ERR_PROC_ABORTED, "rank 2");
}

static void die_in_exposure(MPI_Win win, int rank)
{
    MPI_Group all, victim;
    const int number = VICTIM;
    CHECK_OK(MPI_Win_get_group(win, &all));
    CHECK_OK(MPI_Group_incl(all, 1, &number, &victim));
    if (rank == VICTIM)
        raise(SIGKILL);
    if (rank == 0)
        EXPECT(MPI_Win_start(victim, 0, win), MPI_ERR_PROC_ABORTED, "rank 2");
    CHECK_OK(MPI_Win_post(victim, 0, win));
    EXPECT(MPI_Win_wait(win), MPI_ERR_PROC_ABORTED, "rank 2");
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Group_free(&victim));
}

static void member(int rank, int allocates, void (*die)(MPI_Win, int))
{
    MPI_Session session;
    MPI_Group world;
    MPI_Win win;
    int *base, memory[4] = { 0 };
    CHECK_OK(MPIX_Attach(directory, rank, POOL));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    CHECK_OK(MPI_Comm_create_from_group(world, "test.windows", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(allocates ? MPI_Win_allocate(sizeof memory, sizeof(int), MPI_INFO_NULL, comm, &base, &win)
                       : MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, comm, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    meet(&shared->made, POOL);
    die(win, rank);
    if (die != die_in_exposure) /* else the epoch is still open: the session frees the window */
        EXPECT(MPI_Win_free(&win), MPI_ERR_PROC_ABORTED, "rank 2");
    meet(&shared->told, POOL - 1);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPIX_Detach());
}

static void run(int allocates, void (*die)(MPI_Win, int))
{
    pid_t pid[POOL];
    int status;
    _Atomic int *const counts[] = { &shared->locked, &shared->queued, &shared->made, &shared->fenced, &shared->told };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        atomic_store(counts[i], 0);
    for (int i = 0; i < POOL; i++) {
        pid[i] = fork();
        if (pid[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            member(i, allocates, die);
            _exit(0);
        }
    }
    for (int i = 0; i < POOL; i++)
        if (waitpid(pid[i], &status, 0) != pid[i] || (i == VICTIM ? !WIFSIGNALED(status) : status != 0)) {
            fprintf(stderr, "rank %d ended with status %#x\n", i, (unsigned)status);
            atomic_fetch_add(&shared->failed, 1);
        }
}

int main(void)
{
    void (*const deaths[])(MPI_Win, int) = { die_locked, die_before_fence, die_in_exposure };
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(directory, sizeof directory, "pool.XXXXXX");
    if (shared == MAP_FAILED || !mkdtemp(directory))
        return 1;
    unsetenv("PLENUM_JOB");
    for (int allocates = 0; allocates < 2; allocates++)
        for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++)
            run(allocates, deaths[i]);
    rmdir(directory);
    return atomic_load(&shared->failed) != 0;
}
