/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting: threads that wait in one engine are all woken, with no transport that can sleep, with one, and with two. */
#include "unit.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/proc_stat.h"
#include "core/engine/engine.h"
#include "core/engine/life.h"
#include "core/engine/request.h"
#include "core/engine/wait.h"

/* A transport that can only sleep, and counts. */
struct bed {
    _Atomic unsigned notes_fd;
    unsigned seen;
    _Atomic int sleepers, sleeps, arms, disarms, rounds;
    long first_sleep;  /* microseconds */
    bool busy;         /* arm() says that there is something to do */
    _Atomic int *done; /* set by progress after some rounds */
};

static int bed_progress(void *self)
{
    struct bed *bed = self;
    if (bed->done && ++bed->rounds == 5000)
        atomic_store(bed->done, 1);
    return 0;
}

static bool bed_arm(void *self)
{
    struct bed *bed = self;
    bed->arms++;
    bed->seen = atomic_load(&bed->notes_fd);
    return !bed->busy;
}

static void bed_sleep(void *self, long microseconds)
{
    struct bed *bed = self;
    struct timespec most = { .tv_sec = 0, .tv_nsec = microseconds * 1000 };
    ck_assert_int_gt(microseconds, 0);
    ck_assert_int_lt(microseconds, 1000000);
    ck_assert_int_eq(bed->sleepers++, 0); /* one at a time */
    if (bed->sleeps++ == 0)
        bed->first_sleep = microseconds;
    syscall(SYS_futex, &bed->notes_fd, FUTEX_WAIT_PRIVATE, bed->seen, &most, NULL, 0);
    bed->sleepers--;
}

static void bed_disarm(void *self)
{
    ((struct bed *)self)->disarms++;
}

static void bed_wake(void *self)
{
    struct bed *bed = self;
    atomic_fetch_add(&bed->notes_fd, 1);
    syscall(SYS_futex, &bed->notes_fd, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void bed_close(void *self)
{
    (void)self;
}

static bool bed_flushed(void *self)
{
    (void)self;
    return true;
}

static const struct pl_transport_ops bed_ops = {
    .abi = PL_TRANSPORT_ABI,
    .name = "bed",
    .close = bed_close,
    .flushed = bed_flushed,
    .progress = bed_progress,
    .arm = bed_arm,
    .sleep = bed_sleep,
    .disarm = bed_disarm,
    .wake = bed_wake,
};

static struct pl_engine engine;
static struct bed bed[2];

static void open_engine(int beds, bool oversubscribed)
{
    memset(bed, 0, sizeof bed);
    ck_assert_int_eq(pl_engine_open(&engine, NULL, MPI_THREAD_MULTIPLE, false), MPI_SUCCESS);
    engine.wait.oversubscribed = oversubscribed;
    for (int i = 0; i < beds; i++) {
        engine.transport[engine.transports].ops = &bed_ops;
        engine.transport[engine.transports++].self = &bed[i];
    }
}

/* As a request completes. */
static void complete(_Atomic int *done)
{
    pl_engine_enter(&engine);
    atomic_store_explicit(done, 1, memory_order_release);
    bool wake = atomic_load(&engine.wait.sleepers) > 0;
    pl_engine_leave(&engine);
    if (wake)
        pl_engine_wake(&engine);
}

enum { THREADS = 8, TURNS = 60 };
static struct waiter {
    pthread_t thread;
    struct pl_request request[TURNS];
    _Atomic int turn;
} waiter[THREADS];

static void *wait_in_turns(void *argument)
{
    struct waiter *w = argument;
    for (int i = 0; i < TURNS; i++) {
        pl_engine_wait(&engine, &w->request[i]);
        ck_assert_int_eq(atomic_load(&w->request[i].done), 1);
        atomic_store(&w->turn, i + 1);
    }
    return NULL;
}

static void many_threads(int beds, bool oversubscribed)
{
    uint64_t state = 9;
    open_engine(beds, oversubscribed);
    memset(waiter, 0, sizeof waiter);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&waiter[i].thread, NULL, wait_in_turns, &waiter[i]), 0);
    for (int left = THREADS * TURNS; left > 0;) {
        struct waiter *w = &waiter[unit_below(&state, THREADS)];
        int turn = atomic_load(&w->turn);
        if (turn == TURNS || atomic_load(&w->request[turn].done))
            continue;
        if (unit_below(&state, 8) == 0)
            nanosleep(&(struct timespec){ .tv_nsec = 1000 * unit_below(&state, 5000) }, NULL);
        complete(&w->request[turn].done);
        left--;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(waiter[i].thread, NULL);
    ck_assert_int_eq(atomic_load(&engine.wait.sleepers), 0);
    ck_assert(!engine.wait.asleep);
    for (int i = 0; i < beds; i++)
        ck_assert_int_eq(bed[i].arms, bed[i].disarms);
    pl_engine_close(&engine);
}

START_TEST(many_threads_without_sleep)
{
    many_threads(0, true);
}
END_TEST

START_TEST(many_threads_one_transport)
{
    many_threads(1, true);
    many_threads(1, false);
}
END_TEST

START_TEST(many_threads_two_transports)
{
    many_threads(2, true);
}
END_TEST

START_TEST(done_before)
{
    struct pl_request request = { .done = 1 };
    open_engine(1, true);
    pl_engine_wait(&engine, &request);
    ck_assert_int_eq(bed[0].arms, 0);
    pl_engine_close(&engine);
}
END_TEST

/* A transport that always has something to do keeps all threads awake. */
START_TEST(busy_transport)
{
    struct pl_request request = { 0 };
    open_engine(2, true);
    bed[1].busy = true;
    bed[0].done = &request.done;
    pl_engine_wait(&engine, &request);
    ck_assert_int_gt(bed[0].arms, 0);
    ck_assert_int_eq(bed[0].sleeps + bed[1].sleeps, 0);
    pl_engine_close(&engine);
}
END_TEST

/* The thread sleeps in both transports by turns. */
START_TEST(sleeps_alternate)
{
    struct pl_wait wait = { 0 };
    open_engine(2, true);
    for (int i = 0; i < 200 && bed[0].sleeps + bed[1].sleeps < 6; i++)
        pl_engine_idle(&engine, &wait);
    ck_assert_int_eq(bed[0].sleeps, 3);
    ck_assert_int_eq(bed[1].sleeps, 3);
    pl_engine_close(&engine);
}
END_TEST

/* A wait that has spun by a policy of long spins, and goes on by one of short ones. */
START_TEST(first_sleep_is_short)
{
    struct pl_wait wait = { 0 };
    open_engine(1, true);
    while (bed[0].sleeps == 0)
        pl_engine_idle(&engine, &wait);
    long shortest = bed[0].first_sleep;
    pl_engine_close(&engine);
    open_engine(1, false);
    wait = (struct pl_wait){ 0 };
    while (wait.rounds < 1000)
        pl_engine_idle(&engine, &wait);
    ck_assert_int_eq(bed[0].sleeps, 0);
    engine.wait.oversubscribed = true;
    while (bed[0].sleeps == 0)
        pl_engine_idle(&engine, &wait);
    ck_assert_int_eq(bed[0].first_sleep, shortest);
    pl_engine_close(&engine);
}
END_TEST

/* The library's yields: this long at least. */
static long yield_ns;

int sched_yield(void)
{
    for (long end = pl_clock_ns() + yield_ns; pl_clock_ns() < end;)
        continue;
    return (int)syscall(SYS_sched_yield);
}

/* How often another thread took this one's core. */
static long switches(void)
{
    struct rusage usage;
    ck_assert_int_eq(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nivcsw;
}

/* Yields are long although no other process runs, as where the kernel works for the network. */
START_TEST(yields_long_alone)
{
    open_engine(1, false);
    yield_ns = 30000;
    long seen = -1;
    for (int alone = 0, checked = 0; checked < 20;) {
        int contention = atomic_load(&engine.wait.contention);
        pl_engine_yield(&engine);
        long now = switches();
        alone = now == seen ? alone + 1 : 0;
        seen = now;
        if (alone < 2) /* something ran since the engine looked */
            continue;
        ck_assert_int_eq(atomic_load(&engine.wait.contention), contention - (contention > 0) + (contention < 0));
        checked++;
    }
    yield_ns = 0;
    pl_engine_close(&engine);
}
END_TEST

START_TEST(yields_to_another_process)
{
    cpu_set_t all, core;
    open_engine(1, false);
    CPU_ZERO(&core);
    CPU_SET((size_t)sched_getcpu(), &core);
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    ck_assert_int_eq(sched_setaffinity(0, sizeof core, &core), 0);
    pid_t other = fork();
    ck_assert_int_ge(other, 0);
    while (other == 0)
        continue;
    while (atomic_load(&engine.wait.contention) <= 0)
        pl_engine_yield(&engine);
    ck_assert_int_eq(kill(other, SIGKILL), 0);
    ck_assert_int_eq(waitpid(other, NULL, 0), other);
    ck_assert_int_eq(sched_setaffinity(0, sizeof all, &all), 0);
    pl_engine_close(&engine);
}
END_TEST

/* How often the library asked for another core. */
static int changes_of_core;

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *cores)
{
    changes_of_core++;
    return syscall(SYS_sched_setaffinity, pid, size, cores) < 0 ? -1 : 0;
}

/* Over a network a thread that shares its core with a peer stays there while more threads want to run than there are
 * cores. The kernel does not count a thread that it is moving from one core to another at that moment. */
START_TEST(stays_on_a_full_machine)
{
    enum { IDLES = 2000, FEW = IDLES / 10 };
    long count = 2 * sysconf(_SC_NPROCESSORS_ONLN) + 2;
    pid_t *others = calloc((size_t)count, sizeof *others);
    open_engine(1, false);
    for (long i = 0; i < count; i++) {
        others[i] = fork();
        ck_assert_int_ge(others[i], 0);
        while (others[i] == 0)
            continue;
    }
    int64_t deadline = pl_deadline_after_ms(10000); /* where the kernel does not tell, or holds some back */
    while (pl_proc_runnable() < count && !pl_deadline_passed(deadline))
        sched_yield();
    int idles = pl_deadline_passed(deadline) ? 0 : IDLES;
    changes_of_core = 0;
    for (int i = 0; i < idles; i++) {
        struct pl_wait wait = { 0 };
        atomic_store(&engine.wait.slow_spins, 2);
        atomic_store(&engine.wait.contention, 32);
        atomic_store(&engine.wait.apart_tries, (unsigned)i % 2);
        atomic_store(&engine.wait.moved_apart, 0);
        pl_engine_idle(&engine, &wait);
    }
    ck_assert_int_lt(changes_of_core, FEW);
    ck_assert_int_lt(bed[0].arms, FEW); /* nor does it sleep, to wake up on another core */
    for (long i = 0; i < count; i++) {
        ck_assert_int_eq(kill(others[i], SIGKILL), 0);
        ck_assert_int_eq(waitpid(others[i], NULL, 0), others[i]);
    }
    free(others);
    pl_engine_close(&engine);
}
END_TEST

UNIT_MAIN("wait", yields_long_alone, yields_to_another_process, done_before, busy_transport, sleeps_alternate,
          first_sleep_is_short, stays_on_a_full_machine, many_threads_without_sleep, many_threads_one_transport,
          many_threads_two_transports)
