/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting: a thread spins, then yields the processor, then sleeps.
 *
 * Spinning is right when the peer runs on another core and answers within a microsecond, yielding when it needs this
 * core, sleeping when the wait is long. How long each phase lasts is a policy (wait_policy.h). Every round chooses it
 * anew, since other programs take cores, too: by whether the job has more ranks than cores, and by what the thread's
 * yields have shown. These facts last for the next 32 short yields (`contention`):
 *   - A long yield has let another process run if the kernel counts a switch, perhaps the peer, which then shares this
 *     core. The thread hardly spins. As the two need not share a core it sleeps once, since the kernel wakes a process
 *     on a free core. If that does not help, no core is free, and it asks the kernel for any other core.
 *   - If the yield took as long as a compute-bound process runs, and what was awaited is not there afterwards, that
 *     process is an unrelated one. Yielding to it again would only lose time, so the thread spins longer than usual.
 *     A missing message after a shorter yield proves nothing: the other process may only wait, too.
 *
 * Where a round of progress calls the kernel, as over TCP, a yield takes less time than a round. Once its spins have
 * shown that, an engine with peers on other hosts spins no more, and learns early that another process needs the core.
 * Its threads stay on their cores where all have as much to do.
 *
 * Of the threads that wait in one engine, one sleeps in the transports, where messages wake it; the others sleep beside
 * it, on `activity`. When the first one wakes up it wakes the others, so that one of them takes its place. A thread
 * that completes something for which another may sleep calls pl_engine_wake().
 *
 * Not everything that a wait depends on can wake it: the process's other engines, an address that a peer has yet to
 * publish, a second transport. So a sleep is never much longer than the wait has already been.
 *
 * Locking: `asleep` by the engine's lock. No function here is called with it held.
 */
#include "core/engine/wait.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/cpu.h"
#include "core/base/proc_stat.h"
#include "core/engine/comm_failures.h"
#include "core/engine/departure.h"
#include "core/engine/engine.h"
#include "core/engine/life.h"
#include "core/engine/migrate.h"
#include "core/engine/request.h"
#include "core/engine/wait_policy.h"
#include "core/engine/wait_record.h"

/* --- policies; docs/notes/waiting.md has the measurements -------------------------------------------------------- */

/* The peer has a core of its own, as far as is known. */
static const struct pl_wait_policy wait_alone = {
    .spins = 2000, /* each some tens of nanoseconds */
    .spin_ns = 100000,
    .yields = 500, /* each 0.5 us, or as long as the other processes want to run */
    .poll_period = 1024,
};

/* Another process ran during the last yields. It may be the peer: a message then takes 2 to 4 us, not the 200 us after
 * which the scheduler would separate two processes that spin. */
static const struct pl_wait_policy wait_contended_by_peer = {
    .spins = 50, /* long enough for a peer that runs to answer */
    .spin_ns = 4000,
    .yields = 100,
    .poll_period = 8,
    /* Else the kernel moves one of the two after 10 ms, and beside a program that computes never. Meanwhile a barrier
     * takes 2.5 us instead of 0.1, and a message 10 to 50 us instead of 1. */
    .moves_apart = true,
};

/* The same two where a round of progress is slow: a yield takes less time than one. While no other process is known to
 * need the core, fewer yields see a message earlier. */
static const struct pl_wait_policy wait_slow = {
    .spins = 0,
    .yields = 4000,
    .sparse = true,
    .poll_period = 1024,
};
static const struct pl_wait_policy wait_slow_contended_by_peer = {
    .spins = 0,
    .yields = 100,
    .poll_period = 8,
    .moves_apart = true,
};

/* What ran during the last yield may have been peers that moved long data. */
static const struct pl_wait_policy wait_slow_contended_by_unrelated = {
    .spins = 0,
    .yields = 10,
    .poll_period = 1024,
};

/* A process that computes ran during the last yield. With one such process on two cores a message takes 3.6 us, and
 * 27 us without a spin before each yield. */
static const struct pl_wait_policy wait_contended_by_unrelated = {
    .spins = 20000,    /* most of the time for which the scheduler lets the unrelated process run instead of the peer */
    .spin_ns = 600000, /* the same */
    .yields = 500,
    .poll_period = 1024,
};

/* The job has more ranks than cores: the peer most likely waits for this one. */
static const struct pl_wait_policy wait_oversubscribed = {
    .spins = 0,
    .yields = 100,
    /* A solver of hypre polls: six ranks on two busy cores take a second with this and STARVED_NS, else minutes. */
    .poll_period = 8,
};

enum {
    SPINS_CLOCK = 8,        /* spins between two readings of the clock */
    SPINS_NUDGE = 64,       /* between two rounds of progress in the other engines */
    YIELDS_NUDGE = 8,       /* the same */
    SPARSE = 4,             /* slow rounds with one yield: another process waits for 2 us */
    KERNEL_NS = 250,        /* a longer round of progress has called the kernel ... */
    SLOW_SPINS = 2,         /* ... as all do if this many spins in succession had such rounds */
    CONTENDED_NS = 5000,    /* a longer yield may have let another process run: one that has not takes 0.5 us */
    SLOW_NS = 1000,         /* the same where that process, too, may yield after one round of progress */
    STARVED_NS = 1000000,   /* a longer one has let a process run that computes: better to sleep, and be woken */
    CONTENTION_MEMORY = 32, /* short yields until contention is forgotten */
    APART_NS = 1000000,     /* before a thread tries again to leave the core; every further time is twice as long ... */
    APART_DOUBLINGS = 4,    /* ... until here: 16 ms */
    FREE_NS = 10000000,     /* it has left the core if no other process has run there for this long */
    SLEEP_FIRST_US = 100,   /* every further sleep is twice as long ... */
    SLEEP_DOUBLINGS = 7,    /* ... until here: 12.8 ms */
    SLEEP_BLIND_US = 500,   /* the longest, when events may come that do not wake the thread */
    ATTEND_DOUBLINGS = 10,  /* a progress thread's: to 102 ms ... */
    ATTEND_BLIND_US = 4000, /* ... or to this, after SLEEP_DOUBLINGS sleeps */
    SLEEPS_DEPARTED = 8,    /* before a wait, 25 ms old by then, checks whether its peers have departed */
    POLLS_NUDGE = 8,        /* a polling program's polls between its rounds in the other engines */
    POLLS_VAIN = 128,       /* its polls between readings of the clock for what it polls for in vain ... */
    POLLED_NS = 25000000,   /* ... and the time between its checks */
};

/* `contention` counts short yields: down to 0 after a peer has been seen, up to 0 after an unrelated process. */
static bool is_contended_by_peer(int contention)
{
    return contention > 0;
}

static bool is_contended_by_unrelated(int contention)
{
    return contention < 0;
}

/* Peers that share a core yield after each slow round, so that short yields do not show that they are apart. */
static bool is_slow(const struct pl_engine *engine)
{
    return atomic_load_explicit(&engine->wait.slow_spins, memory_order_relaxed) == SLOW_SPINS;
}

static const struct pl_wait_policy *wait_choose_policy(const struct pl_engine *engine)
{
    int contention = atomic_load_explicit(&engine->wait.contention, memory_order_relaxed);
    if (engine->wait.oversubscribed)
        return &wait_oversubscribed;
    if (is_contended_by_peer(contention))
        return is_slow(engine) ? &wait_slow_contended_by_peer : &wait_contended_by_peer;
    if (is_contended_by_unrelated(contention))
        return is_slow(engine) ? &wait_slow_contended_by_unrelated : &wait_contended_by_unrelated;
    return is_slow(engine) ? &wait_slow : &wait_alone;
}

static void wait_note_peer(struct pl_engine *engine, long now)
{
    long before = atomic_exchange_explicit(&engine->wait.contended, now, memory_order_relaxed);
    if (is_slow(engine) && now - before > FREE_NS)
        atomic_store_explicit(&engine->wait.apart_tries, 0, memory_order_relaxed);
    atomic_store_explicit(&engine->wait.contention, CONTENTION_MEMORY, memory_order_relaxed);
}

static void wait_note_unrelated(struct pl_engine *engine)
{
    atomic_store_explicit(&engine->wait.contention, -CONTENTION_MEMORY, memory_order_relaxed);
}

static void wait_note_short_yield(struct pl_engine *engine)
{
    int contention = atomic_load_explicit(&engine->wait.contention, memory_order_relaxed);
    if (contention == 0)
        return;
    contention += is_contended_by_peer(contention) ? -1 : 1;
    atomic_store_explicit(&engine->wait.contention, contention, memory_order_relaxed);
    if (contention == 0 && !is_slow(engine))
        atomic_store_explicit(&engine->wait.apart_tries, 0, memory_order_relaxed);
}

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
    engine->wait.inside = true; /* some make progress */
    for (int i = 0; i < engine->transports; i++)
        if (can_sleep(engine, i))
            quiet = engine->transport[i].ops->arm(engine->transport[i].self) && quiet;
    engine->wait.inside = false;
    return quiet;
}

static void wait_disarm(struct pl_engine *engine)
{
    for (int i = 0; i < engine->transports; i++)
        if (can_sleep(engine, i))
            engine->transport[i].ops->disarm(engine->transport[i].self);
}

/* Sleeps in the transport that can; in several of them by turns and no longer than `blind`; beside them if none can.
 * Lock not held. */
static void sleep_in(struct pl_engine *engine, unsigned slept, unsigned activity, long microseconds, long blind)
{
    int able[PL_TRANSPORTS_MAX], count = 0;
    for (int i = 0; i < engine->transports; i++)
        if (can_sleep(engine, i))
            able[count++] = i;
    if (count != 1 && microseconds > blind)
        microseconds = blind;
    if (count == 0) {
        sleep_beside(engine, activity, microseconds);
        return;
    }
    int chosen = able[slept % (unsigned)count];
    engine->transport[chosen].ops->sleep(engine->transport[chosen].self, microseconds);
}

/* Sleeps after `slept` other sleeps. The sleeper counts itself before it reads `done`, and the completer reads that
 * count after it has written `done`: one of the two sees the other. */
static void wait_sleep(struct pl_engine *engine, const struct pl_awaited *awaited, unsigned slept)
{
    long microseconds = (long)SLEEP_FIRST_US << (slept < SLEEP_DOUBLINGS ? slept : SLEEP_DOUBLINGS);
    pl_engine_enter(engine);
    unsigned activity = atomic_load_explicit(&engine->wait.activity, memory_order_acquire);
    atomic_fetch_add_explicit(&engine->wait.sleepers, 1, memory_order_seq_cst);
    bool first = !engine->wait.asleep, quiet = !wait_is_there(awaited);
    if (quiet && first) {
        engine->wait.asleep = true;
        quiet = wait_arm(engine) && !wait_is_there(awaited); /* wait_arm() does not see shared memory */
        pl_engine_leave(engine);
        if (quiet)
            sleep_in(engine, slept, activity, microseconds, SLEEP_BLIND_US);
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

bool pl_engine_attend(struct pl_engine *engine, const struct pl_awaited *stop, unsigned sleeps)
{
    pl_engine_enter(engine);
    bool first = !engine->wait.asleep;
    if (!first) {
        pl_engine_leave(engine);
        return false;
    }
    bool pending = !pl_list_empty(&engine->hooks) || !pl_list_empty(&engine->sends.unresolved);
    unsigned most = pending ? SLEEP_DOUBLINGS : ATTEND_DOUBLINGS;
    long microseconds = (long)SLEEP_FIRST_US << (sleeps < most ? sleeps : most);
    unsigned activity = atomic_load_explicit(&engine->wait.activity, memory_order_acquire);
    engine->wait.asleep = true;
    bool quiet = wait_arm(engine) && !wait_is_there(stop);
    pl_engine_leave(engine);
    if (quiet)
        sleep_in(engine, sleeps, activity, microseconds, sleeps > SLEEP_DOUBLINGS ? ATTEND_BLIND_US : SLEEP_BLIND_US);
    pl_engine_enter(engine);
    wait_disarm(engine);
    engine->wait.asleep = false;
    bool others = atomic_load_explicit(&engine->wait.sleepers, memory_order_seq_cst) > 0;
    pl_engine_leave(engine);
    if (others)
        wake_beside(engine);
    return true;
}

void pl_engine_wake(struct pl_engine *engine)
{
    wake_beside(engine);
    int transports = atomic_load_explicit(&engine->transports, memory_order_acquire);
    for (int i = 0; i < transports; i++)
        if (engine->transport[i].ops->wake)
            engine->transport[i].ops->wake(engine->transport[i].self);
}

/* --- phases ----------------------------------------------------------------------------------------------------- */

/* Has the kernel run another thread in place of this one since this was last asked here? True also if unknown. */
static bool wait_gave_way(void)
{
    static _Thread_local long seen;
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return true;
    long before = seen;
    seen = usage.ru_nivcsw;
    return seen != before;
}

/* The longest yield that shows nothing. Where ranks share cores, peers run in nearly all yields, and only the time of a
 * process that computes matters. */
static long longest_short_yield(const struct pl_engine *engine)
{
    return engine->wait.oversubscribed ? STARVED_NS : is_slow(engine) ? SLOW_NS : CONTENDED_NS;
}

/* Lets other processes of this core run. Returns for how long they did, in nanoseconds; 0 if that shows nothing. A long
 * yield in which none did was the kernel's: it takes 25 us at times for the packets of a network. */
static long wait_yield(struct pl_engine *engine)
{
    long before = pl_clock_ns();
    sched_yield();
    long now = pl_clock_ns(), took = now - before;
    if (took > longest_short_yield(engine) && wait_gave_way()) {
        wait_note_peer(engine, now);
        return took;
    }
    wait_note_short_yield(engine);
    return 0;
}

/* Long spins of an engine that has peers on other hosts show whether its rounds of progress call the kernel. */
static void wait_note_pace(struct pl_engine *engine, bool slow)
{
    int before = atomic_load_explicit(&engine->wait.slow_spins, memory_order_relaxed);
    int now = !slow || !engine->outside.far ? 0 : before < SLOW_SPINS ? before + 1 : SLOW_SPINS;
    if (now != before)
        atomic_store_explicit(&engine->wait.slow_spins, now, memory_order_relaxed);
}

static bool has_spun_long(struct pl_engine *engine, struct pl_wait *wait, unsigned round, long most)
{
    if (round == 0 || round % SPINS_CLOCK != 0)
        return false;
    long now = pl_clock_ns();
    if (round == SPINS_CLOCK)
        wait->spinning = now;
    else if (round == 2 * SPINS_CLOCK)
        wait_note_pace(engine, now - wait->spinning > SPINS_CLOCK * KERNEL_NS);
    return now - wait->spinning > most;
}

static void wait_spin_phase(struct pl_engine *engine, const struct pl_wait_policy *policy, struct pl_wait *wait,
                            unsigned round)
{
    if (round % SPINS_NUDGE == SPINS_NUDGE - 1)
        pl_engine_nudge_others(engine);
    if (has_spun_long(engine, wait, round, policy->spin_ns))
        wait->rounds = policy->spins;
    pl_relax();
}

/* Do more threads want to run than the machine has cores, and another one? One more is an unrelated program, beside
 * which one of two peers may run. */
static bool is_machine_full(void)
{
    return pl_proc_runnable() > sysconf(_SC_NPROCESSORS_ONLN) + 1;
}

/*
 * Is it time to leave the core to the peer? A time at which it is no use counts as a try.
 *
 * On a full machine all cores have as much to do as this one, and leaving it brings them out of balance. Where messages
 * take microseconds that costs more than a peer on the same core does. Where they take a tenth of one it costs less.
 */
static bool should_move_apart(struct pl_engine *engine, const struct pl_wait_policy *policy)
{
    if (!policy->moves_apart)
        return false;
    long now = pl_clock_ns();
    unsigned tries = atomic_load_explicit(&engine->wait.apart_tries, memory_order_relaxed);
    long pause = (long)APART_NS << (tries < APART_DOUBLINGS ? tries : APART_DOUBLINGS);
    if (now - atomic_load_explicit(&engine->wait.moved_apart, memory_order_relaxed) < pause)
        return false;
    atomic_store_explicit(&engine->wait.moved_apart, now, memory_order_relaxed);
    if (!is_slow(engine) || !is_machine_full())
        return true;
    atomic_fetch_add_explicit(&engine->wait.apart_tries, 1, memory_order_relaxed);
    return false;
}

/* By turns: the kernel wakes a thread on a free core, if there is one. */
static void wait_move_apart(struct pl_engine *engine, const struct pl_awaited *awaited)
{
    if (atomic_fetch_add_explicit(&engine->wait.apart_tries, 1, memory_order_relaxed) % 2 == 0)
        wait_sleep(engine, awaited, 0);
    else
        pl_migrate_away();
}

static void wait_yield_phase(struct pl_engine *engine, const struct pl_wait_policy *policy, struct pl_wait *wait,
                             unsigned round)
{
    if (round % YIELDS_NUDGE == YIELDS_NUDGE - 1)
        pl_engine_nudge_others(engine);
    if (policy->sparse && round % SPARSE != SPARSE - 1)
        return;
    wait->yielded = wait_yield(engine) > STARVED_NS;
    if (wait->yielded)
        wait->rounds = policy->spins + policy->yields;
}

/* Ends a wait for what cannot come. */
static void wait_end_vain(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *what)
{
    pl_engine_enter(engine);
    pl_departure_check(engine, request, what);
    for (int i = 0; i < PL_ENGINE_CLIENTS; i++)
        if (pl_engine_clients[i].awaited)
            pl_engine_clients[i].awaited(engine, request, what);
    pl_engine_leave(engine);
}

static void wait_sleep_phase(struct pl_engine *engine, const struct pl_awaited *awaited, struct pl_request *request,
                             struct pl_wait *wait)
{
    unsigned slept = wait->slept;
    if (slept < UINT_MAX)
        wait->slept++;
    if (slept >= SLEEPS_DEPARTED)
        wait_end_vain(engine, request, wait->what);
    if (pl_engine_nudge_others(engine) == 0)
        wait_sleep(engine, awaited, slept);
}

/* A wait is long enough to answer the runtime when it asks what for. */
static void wait_answer_runtime(struct pl_engine *engine, const struct pl_request *request, struct pl_wait *wait)
{
    if (!wait->since)
        wait->since = pl_clock_ns();
    pl_wait_record_check(engine, request, wait);
}

/* --- waiting ---------------------------------------------------------------------------------------------------- */

/* Between two unsuccessful rounds of progress: one step of the phase that the policy has for this round. */
static void wait_idle(struct pl_engine *engine, const struct pl_awaited *awaited, struct pl_request *request,
                      struct pl_wait *wait)
{
    if (wait->yielded) /* for long, and in vain */
        wait_note_unrelated(engine);
    wait->yielded = false;
    const struct pl_wait_policy *policy = wait_choose_policy(engine);
    unsigned round = wait->rounds;
    if (round == 0)
        wait->slept = 0;
    if (round < UINT_MAX)
        wait->rounds++;
    if (round < policy->spins) {
        wait_spin_phase(engine, policy, wait, round);
        return;
    }
    round -= policy->spins;
    wait_answer_runtime(engine, request, wait);
    if (should_move_apart(engine, policy))
        wait_move_apart(engine, awaited);
    else if (round < policy->yields)
        wait_yield_phase(engine, policy, wait, round);
    else
        wait_sleep_phase(engine, awaited, request, wait);
}

/* Waits for what no engine brings, a generalized request: makes progress in all engines, and sleeps briefly. */
static void idle_anywhere(const struct pl_request *request, struct pl_wait *wait)
{
    wait_answer_runtime(NULL, request, wait);
    struct timespec most = { .tv_nsec = SLEEP_FIRST_US * 1000 };
    if (pl_engine_nudge_others(NULL) > 0)
        wait->rounds = 0;
    else if (wait->rounds++ < wait_alone.yields)
        sched_yield();
    else
        nanosleep(&most, NULL);
}

bool pl_engine_sleeps_within(const struct pl_engine *engine, const struct pl_wait *wait, unsigned rounds)
{
    const struct pl_wait_policy *policy = wait_choose_policy(engine);
    return wait->rounds + rounds >= policy->spins + (policy->moves_apart ? 0 : policy->yields);
}

bool pl_engine_yield(struct pl_engine *engine)
{
    return wait_yield(engine) <= STARVED_NS;
}

/* Some transports check whether their peers live only when a thread is about to sleep. */
static void wait_check_peers(struct pl_engine *engine)
{
    pl_engine_enter(engine);
    if (!engine->wait.asleep) {
        wait_arm(engine);
        wait_disarm(engine);
    }
    pl_engine_leave(engine);
}

/* A program that polls may never wait, and its collectives cannot be cancelled. */
static void wait_end_vain_polls(struct pl_engine *engine)
{
    long now = pl_clock_ns(), before = atomic_load_explicit(&engine->wait.polled, memory_order_relaxed);
    if (now - before < POLLED_NS)
        return;
    atomic_store_explicit(&engine->wait.polled, now, memory_order_relaxed);
    if (before) {
        wait_check_peers(engine);
        wait_end_vain(engine, NULL, NULL);
    }
}

void pl_engine_polled(struct pl_engine *engine)
{
    if (!engine) {
        pl_engine_nudge_all();
        return;
    }
    /* Not the engine's rounds: what the program does between two polls may make as many each time. */
    unsigned polls = atomic_load_explicit(&engine->wait.polls, memory_order_relaxed) + 1;
    atomic_store_explicit(&engine->wait.polls, polls, memory_order_relaxed);
    if (polls % POLLS_NUDGE == 0)
        pl_engine_nudge_others(engine);
    if (polls % POLLS_VAIN == 0)
        wait_end_vain_polls(engine);
    if (polls % wait_choose_policy(engine)->poll_period == 0)
        wait_yield(engine);
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
        bool held = !wait_is_there(&awaited) && pl_request_is_held(request);
        pl_engine_leave(engine);
        if (held)
            return;
        if (events)
            wait.rounds = 0;
        else if (!wait_is_there(&awaited))
            wait_idle(engine, &awaited, request, &wait);
    }
}
