/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting: spin briefly, yield the processor for a while, then sleep.
 *
 * Spinning is right when the peer runs on another processor and answers within a microsecond; yielding when it wants to
 * run on this one, so an engine with more ranks than cores (`patient`) begins with it; sleeping when the wait is long.
 * Other programs take cores too, and the job may not know how many there are. A yield from which it takes long to come
 * back has let somebody else run, perhaps the peer, which shares this processor: for a while there is hardly any
 * spinning (`crowd` above 0), and as the two need not share one, this thread sleeps once, since who is woken is put on
 * a core that is free. If it took as long as somebody runs who computes, and what was awaited is not there afterwards,
 * it was a stranger, and yielding to it again would only lose time: for a while there is more spinning than usual
 * (`crowd` below 0). Who gave the processor back earlier waits, too.
 *
 * Of the threads that wait in one engine, one sleeps in the transports, where messages wake it; the others sleep beside
 * it, on `activity`. When the first one wakes up it wakes the others, so that one of them takes its place. Whoever
 * completes something that a sleeper may wait for calls pl_engine_wake().
 *
 * Not everything that a waiter depends on can wake it: the process's other engines, an address that a peer has yet to
 * publish, a second transport. So a sleep is never much longer than the wait has already been.
 *
 * Locking: `asleep` by the engine's lock. No function here is called with it held.
 */
#include "core/engine/wait.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/cpu.h"
#include "core/engine/departure.h"
#include "core/engine/engine.h"
#include "core/engine/life.h"
#include "core/engine/request.h"
#include "core/engine/wait_record.h"

enum {
    SPINS = 2000,            /* rounds of progress, each some tens of nanoseconds */
    SPINS_CONTENDED = 50,    /* long enough for a peer that runs to answer */
    SPINS_UNRELATED = 20000, /* most of the time for which the scheduler lets a stranger run instead of the peer */
    YIELDS = 500,            /* each a microsecond, or as long as the others want to run */
    YIELDS_OVERSUBSCRIBED = 100,
    SPIN_NS = 100000, /* where a round asks the kernel, as over TCP, not so many but for so long */
    SPIN_CONTENDED_NS = 4000,
    SPIN_UNRELATED_NS = 600000,
    SPINS_CLOCK = 8,        /* rounds between looks at the clock */
    CONTENDED_NS = 5000,    /* a yield that takes longer has let somebody run */
    STARVED_NS = 1000000,   /* one that takes longer has let somebody run who computes: better to sleep, and be woken */
    CONTENTION_MEMORY = 32, /* short yields before it is forgotten */
    PART_NS = 4000000,      /* between two sleeps for another core's sake: there may be none that is free */
    NUDGE_SPINS = 64,       /* rounds between looks at the other engines */
    NUDGE_YIELDS = 8,
    POLLS = 2046, /* polls in vain between yields, as a mask of turns; some calls make two */
    POLLS_OVERSUBSCRIBED = 14,
    NAP_FIRST = 100,   /* microseconds; every further nap is twice as long ... */
    NAP_DOUBLINGS = 7, /* ... until here: 12.8 ms */
    NAP_BLIND = 500,   /* at most, when events may come where nobody listens */
    NAPS_SURE = 8,     /* then it is time to look whether somebody is there for whom to wait */
};

static bool wait_is_there(const struct pl_awaited *awaited)
{
    return awaited && pl_awaited_is_there(awaited);
}

/* --- sleeping --------------------------------------------------------------------------------------------------- */

static void sleep_beside(struct pl_engine *engine, unsigned activity, long microseconds)
{
    struct timespec most = { .tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000 };
    syscall(SYS_futex, &engine->wait.activity, FUTEX_WAIT_PRIVATE, activity, &most, NULL, 0);
}

static void wake_beside(struct pl_engine *engine)
{
    atomic_fetch_add_explicit(&engine->wait.activity, 1, memory_order_seq_cst);
    syscall(SYS_futex, &engine->wait.activity, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static bool can_sleep(const struct pl_engine *engine, int i)
{
    return engine->transport[i].ops->arm != NULL;
}

/* Announces the sleep to all transports. False: one of them has something to do. Lock held. */
static bool wait_arm(struct pl_engine *engine)
{
    bool quiet = true;
    for (int i = 0; i < engine->transports; i++)
        if (can_sleep(engine, i))
            quiet = engine->transport[i].ops->arm(engine->transport[i].self) && quiet;
    return quiet;
}

static void wait_disarm(struct pl_engine *engine)
{
    for (int i = 0; i < engine->transports; i++)
        if (can_sleep(engine, i))
            engine->transport[i].ops->disarm(engine->transport[i].self);
}

/* Sleeps in the one transport that can; in one of several, by turns and briefly; in none, beside. Lock not held. */
static void sleep_in(struct pl_engine *engine, unsigned nap, unsigned activity, long microseconds)
{
    int able[PL_TRANSPORTS_MAX], count = 0;
    for (int i = 0; i < engine->transports; i++)
        if (can_sleep(engine, i))
            able[count++] = i;
    if (count != 1 && microseconds > NAP_BLIND)
        microseconds = NAP_BLIND;
    if (count == 0) {
        sleep_beside(engine, activity, microseconds);
        return;
    }
    int chosen = able[nap % (unsigned)count];
    engine->transport[chosen].ops->sleep(engine->transport[chosen].self, microseconds);
}

/* `sleepers` is counted up before `done` is read, and read after `done` is written: one of the two sees the other. */
static void take_nap(struct pl_engine *engine, const struct pl_awaited *awaited, unsigned nap)
{
    long microseconds = (long)NAP_FIRST << (nap < NAP_DOUBLINGS ? nap : NAP_DOUBLINGS);
    pl_engine_enter(engine);
    unsigned activity = atomic_load_explicit(&engine->wait.activity, memory_order_acquire);
    atomic_fetch_add_explicit(&engine->wait.sleepers, 1, memory_order_seq_cst);
    bool first = !engine->wait.asleep, quiet = !wait_is_there(awaited);
    if (quiet && first) {
        engine->wait.asleep = true;
        quiet = wait_arm(engine) && !wait_is_there(awaited); /* what lies in shared memory is not seen by wait_arm() */
        pl_engine_leave(engine);
        if (quiet)
            sleep_in(engine, nap, activity, microseconds);
        pl_engine_enter(engine);
        wait_disarm(engine);
        engine->wait.asleep = false;
    } else if (quiet) {
        pl_engine_leave(engine);
        sleep_beside(engine, activity, microseconds);
        pl_engine_enter(engine);
    }
    bool others = atomic_fetch_sub_explicit(&engine->wait.sleepers, 1, memory_order_seq_cst) > 1;
    pl_engine_leave(engine);
    if (first && others)
        wake_beside(engine);
}

void pl_engine_wake(struct pl_engine *engine)
{
    wake_beside(engine);
    int transports = atomic_load_explicit(&engine->transports, memory_order_acquire);
    for (int i = 0; i < transports; i++)
        if (engine->transport[i].ops->wake)
            engine->transport[i].ops->wake(engine->transport[i].self);
}

/* --- waiting ----------------------------------------------------------------------------------------------------- */

static long wait_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* How long it took, in nanoseconds. */
static long wait_yield(struct pl_engine *engine)
{
    long before = wait_nanoseconds();
    sched_yield();
    long took = wait_nanoseconds() - before;
    int contention = atomic_load_explicit(&engine->wait.contention, memory_order_relaxed);
    if (took > CONTENDED_NS)
        atomic_store_explicit(&engine->wait.contention, CONTENTION_MEMORY, memory_order_relaxed);
    else if (contention != 0)
        atomic_store_explicit(&engine->wait.contention, contention > 0 ? contention - 1 : contention + 1,
                              memory_order_relaxed);
    return took;
}

bool pl_engine_yield(struct pl_engine *engine)
{
    return wait_yield(engine) <= STARVED_NS;
}

void pl_engine_polled(struct pl_engine *engine)
{
    unsigned turn = atomic_load_explicit(&engine->rounds, memory_order_relaxed);
    if ((turn & (pl_engine_should_yield(engine) ? POLLS_OVERSUBSCRIBED : POLLS)) == 0)
        wait_yield(engine);
}

/* It takes long: time to look whether somebody wants to know for what. */
static void be_asked(struct pl_engine *engine, const struct pl_request *request, struct pl_wait *wait)
{
    if (!wait->since)
        wait->since = wait_nanoseconds();
    pl_wait_record_check(engine, request, wait);
}

/* Shares a processor with the peer, although there are enough. */
static bool should_part(struct pl_engine *engine, int contention)
{
    if (engine->wait.oversubscribed || contention <= 0)
        return false;
    long now = wait_nanoseconds();
    if (now - atomic_load_explicit(&engine->wait.moved_apart, memory_order_relaxed) < PART_NS)
        return false;
    atomic_store_explicit(&engine->wait.moved_apart, now, memory_order_relaxed);
    return true;
}

static bool has_spun_long(struct pl_wait *wait, unsigned round, int contention)
{
    if (round == 0 || round % SPINS_CLOCK != 0)
        return false;
    long now = wait_nanoseconds(), most = contention > 0   ? SPIN_CONTENDED_NS
                                          : contention < 0 ? SPIN_UNRELATED_NS
                                                           : SPIN_NS;
    if (round == SPINS_CLOCK)
        wait->spinning = now;
    return now - wait->spinning > most;
}

static void wait_idle(struct pl_engine *engine, const struct pl_awaited *awaited, struct pl_request *request,
                      struct pl_wait *wait)
{
    if (wait->yielded) /* for long, and it has brought nothing */
        atomic_store_explicit(&engine->wait.contention, -CONTENTION_MEMORY, memory_order_relaxed);
    wait->yielded = false;
    int contention = atomic_load_explicit(&engine->wait.contention, memory_order_relaxed);
    unsigned round = wait->rounds, spins = engine->wait.oversubscribed ? 0
                                           : contention > 0            ? SPINS_CONTENDED
                                           : contention < 0            ? SPINS_UNRELATED
                                                                       : SPINS;
    unsigned yields = engine->wait.oversubscribed || contention > 0 ? YIELDS_OVERSUBSCRIBED : YIELDS;
    if (round < UINT_MAX)
        wait->rounds++;
    if (round < spins) {
        if (round % NUDGE_SPINS == NUDGE_SPINS - 1)
            pl_engine_nudge_others(engine);
        if (has_spun_long(wait, round, contention))
            wait->rounds = spins;
        pl_relax();
        return;
    }
    round -= spins;
    be_asked(engine, request, wait);
    if (should_part(engine, contention)) {
        take_nap(engine, awaited, 0);
        return;
    }
    if (round < yields) {
        if (round % NUDGE_YIELDS == NUDGE_YIELDS - 1)
            pl_engine_nudge_others(engine);
        long took = wait_yield(engine);
        wait->yielded = took > STARVED_NS;
        if (took > STARVED_NS)
            wait->rounds = spins + yields;
        return;
    }
    if (round - yields >= NAPS_SURE)
        pl_departure_check(engine, request, wait->what);
    if (pl_engine_nudge_others(engine) == 0)
        take_nap(engine, awaited, round - yields);
}

/* Waiting for something that no engine brings, a generalized request: move all engines on, and be brief. */
static void idle_anywhere(const struct pl_request *request, struct pl_wait *wait)
{
    be_asked(NULL, request, wait);
    struct timespec nap = { .tv_nsec = NAP_FIRST * 1000 };
    if (pl_engine_nudge_others(NULL) > 0)
        wait->rounds = 0;
    else if (wait->rounds++ < YIELDS)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

void pl_engine_idle(struct pl_engine *engine, struct pl_wait *wait)
{
    if (engine)
        wait_idle(engine, NULL, NULL, wait);
    else
        idle_anywhere(NULL, wait);
}

void pl_engine_idle_for(struct pl_engine *engine, const struct pl_awaited *awaited, struct pl_wait *wait)
{
    wait_idle(engine, awaited, NULL, wait);
}

void pl_engine_wait(struct pl_engine *engine, struct pl_request *request)
{
    pl_engine_wait_among(engine, request, NULL);
}

void pl_engine_wait_among(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *all)
{
    const struct pl_awaited awaited = { .word = (const _Atomic uint32_t *)&request->done, .value = 1 };
    struct pl_wait wait = { .what = all };
    while (!engine && !wait_is_there(&awaited))
        idle_anywhere(request, &wait);
    while (!wait_is_there(&awaited)) {
        pl_engine_enter(engine);
        int events = pl_engine_progress(engine);
        pl_engine_leave(engine);
        if (events)
            wait.rounds = 0;
        else if (!wait_is_there(&awaited))
            wait_idle(engine, &awaited, request, &wait);
    }
}
