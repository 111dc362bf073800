/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress threads. See progress.h.
 *
 * A progress thread that took part in everything would be in the way: a thread of the program that waits would find
 * the lock taken, and each message would wake two threads. So it counts rounds of progress. If others than its own were
 * made, the program is in MPI, and the thread pauses. If none were, it sleeps in the transports.
 */
#include "core/engine/progress.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/base/memory.h"
#include "core/engine/engine.h"
#include "core/engine/wait.h"
#include "core/object/plugin.h"

enum {
    PAUSE_FIRST_US = 100, /* while the program is in MPI: as long as a message may wait that comes when it leaves */
    PAUSE_REPEATS = 4,    /* pauses of one length before longer ones */
    PAUSE_BUSY = 2,       /* doublings while the program makes progress: 0.4 ms */
    PAUSE_ASLEEP = 4,     /* while it sleeps in a call: 1.6 ms */
    ROUNDS_AFTER = 64,    /* rounds without an event, after one with: each yields */
    END_PAUSES = 100,     /* waits of a millisecond for threads to end, when the process ends */
};

struct pl_progress {
    struct pl_engine *engine;
    pthread_t thread;
    pid_t pid;              /* a fork() has no such thread */
    _Atomic uint32_t stop;  /* it shall end; the futex of its pauses */
    _Atomic bool ended;     /* it touches nothing any more */
    bool joined;            /* when the process ended: progress_lock */
    unsigned rounds;        /* the engine's, after its own last one */
    struct pl_list running; /* in progress_running */
};

static _Thread_local bool progress_here;
static struct pl_lock progress_lock = PL_LOCK_INIT(PL_RANK_LEAF);
static struct pl_list progress_running = { &progress_running, &progress_running };

bool pl_progress_is_this_thread(void)
{
    return progress_here;
}

/* --- the thread --------------------------------------------------------------------------------------------------- */

static bool progress_is_stopped(const struct pl_progress *progress)
{
    return atomic_load_explicit(&progress->stop, memory_order_acquire);
}

static void progress_pause(struct pl_progress *progress, unsigned pauses, unsigned most)
{
    unsigned doublings = pauses / PAUSE_REPEATS < most ? pauses / PAUSE_REPEATS : most;
    struct timespec length = { .tv_nsec = ((long)PAUSE_FIRST_US << doublings) * 1000 };
    syscall(SYS_futex, &progress->stop, FUTEX_WAIT_PRIVATE, 0, &length, NULL, 0);
}

static unsigned progress_rounds(const struct pl_progress *progress)
{
    return atomic_load_explicit(&progress->engine->rounds, memory_order_relaxed);
}

/* Has another thread made progress since this one looked? */
static bool progress_is_made(const struct pl_progress *progress)
{
    return progress_rounds(progress) != progress->rounds;
}

static int progress_round(struct pl_progress *progress)
{
    struct pl_engine *engine = progress->engine;
    pl_engine_enter(engine);
    int events = pl_engine_progress(engine);
    progress->rounds = progress_rounds(progress);
    pl_engine_leave(engine);
    return events;
}

/* Until nothing happens, or another thread does it. */
static bool progress_work(struct pl_progress *progress)
{
    bool any = false;
    int idle = 0;
    do {
        int events = progress_round(progress);
        any = any || events > 0;
        idle = events > 0 ? 0 : idle + 1;
        if (events == 0)
            sched_yield();
    } while (any && idle < ROUNDS_AFTER && !progress_is_stopped(progress) && !progress_is_made(progress));
    return any;
}

static void *progress_run(void *argument)
{
    struct pl_progress *progress = argument;
    const struct pl_awaited stop = { .word = &progress->stop, .value = 1 };
    unsigned pauses = 0, sleeps = 0;
    progress_here = true;
    while (!progress_is_stopped(progress)) {
        if (progress_is_made(progress)) {
            progress->rounds = progress_rounds(progress);
            sleeps = 0;
            progress_pause(progress, pauses++, PAUSE_BUSY);
            continue;
        }
        if (progress_work(progress))
            sleeps = 0;
        else if (pl_engine_attend(progress->engine, &stop, sleeps++))
            pauses = 0;
        else
            progress_pause(progress, pauses++, PAUSE_ASLEEP);
    }
    atomic_store_explicit(&progress->ended, true, memory_order_release);
    return NULL;
}

void pl_progress_leave_to_user(struct pl_engine *engine, struct pl_list *deferred)
{
    bool any = false;
    PL_LIST_EACH(work, deferred, struct pl_deferred, link) {
        if (work->ops->calls_user && !work->ops->calls_user(work))
            continue;
        pl_list_remove(&work->link);
        pl_list_append(&engine->deferred.work, &work->link);
        any = true;
    }
    if (any && atomic_load_explicit(&engine->wait.sleepers, memory_order_seq_cst) > 0)
        pl_engine_wake(engine);
}

/* --- beginning and end -------------------------------------------------------------------------------------------- */

/* Signals are for the program's threads, except those that an access of the thread itself causes: the program may
 * handle them, when it protects its memory, and crash reports do. */
static int progress_create(struct pl_progress *progress)
{
    static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int rc = pthread_create(&progress->thread, NULL, progress_run, progress);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        pthread_setname_np(progress->thread, "plenum-progress");
    return rc;
}

static void progress_ask_to_end(struct pl_progress *progress)
{
    atomic_store_explicit(&progress->stop, 1, memory_order_seq_cst);
    syscall(SYS_futex, &progress->stop, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pl_engine_wake(progress->engine);
}

/* The process ends without finalization: the threads end before libraries that they use. One that waits for a lock of
 * a thread that has called exit() touches nothing either. */
static void progress_end_all(void)
{
    struct timespec moment = { .tv_nsec = 1000000 };
    if (!pl_lock_try(&progress_lock))
        return;
    PL_LIST_EACH(progress, &progress_running, struct pl_progress, running) {
        if (progress->pid != getpid())
            continue;
        progress_ask_to_end(progress);
        for (int i = 0; i < END_PAUSES && !atomic_load_explicit(&progress->ended, memory_order_acquire); i++)
            nanosleep(&moment, NULL);
        progress->joined = atomic_load_explicit(&progress->ended, memory_order_acquire);
        if (progress->joined)
            pthread_join(progress->thread, NULL);
        pl_list_remove(&progress->running);
    }
    pl_lock_drop(&progress_lock);
}

/* Once in a process. The library that contains this code stays loaded from then on. */
static void progress_prepare(void)
{
    pl_plugin_stay_loaded();
    atexit(progress_end_all);
}

int pl_progress_start(struct pl_engine *engine)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct pl_progress *progress = pl_calloc(1, sizeof *progress);
    if (!progress)
        return pl_fail_memory("a progress thread");
    pthread_once(&once, progress_prepare);
    progress->engine = engine;
    progress->pid = getpid();
    progress->rounds = progress_rounds(progress);
    engine->threads.progress = progress;
    int rc = progress_create(progress);
    if (rc) {
        engine->threads.progress = NULL;
        free(progress);
        errno = rc;
        return pl_fail_errno(MPI_ERR_OTHER, "cannot start a progress thread; PLENUM_PROGRESS=none needs none");
    }
    pl_lock_take(&progress_lock);
    pl_list_append(&progress_running, &progress->running);
    pl_lock_drop(&progress_lock);
    return MPI_SUCCESS;
}

void pl_progress_stop(struct pl_engine *engine)
{
    struct pl_progress *progress = engine->threads.progress;
    if (!progress)
        return;
    pl_lock_take(&progress_lock);
    pl_list_remove(&progress->running);
    pl_lock_drop(&progress_lock);
    progress_ask_to_end(progress);
    if (!progress->joined)
        pthread_join(progress->thread, NULL);
    engine->threads.progress = NULL;
    free(progress);
}
