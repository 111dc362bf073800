/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting: threads make progress, spin, yield, then sleep. Callers hold no lock, unless a function says otherwise. */
#ifndef PLENUM_CORE_ENGINE_WAIT_H
#define PLENUM_CORE_ENGINE_WAIT_H

#include "core/engine/engine.h"

struct pl_waiting;

/* Makes progress until the request is done; drops the lock between rounds. `engine` NULL: progress in all engines. */
void pl_engine_wait(struct pl_engine *engine, struct pl_request *request);
/* The same for one of several requests, which job reports name. */
void pl_engine_wait_among(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *all);

/* A wait under way. */
struct pl_wait {
    unsigned rounds;               /* without success; the caller resets it to 0 after a round with events */
    unsigned slept;                /* in how many of these it slept: the policies have not all as many rounds before */
    bool yielded;                  /* just now, to a compute-bound thread */
    long spinning;                 /* CLOCK_MONOTONIC ns, some rounds after it began to spin */
    long since;                    /* CLOCK_MONOTONIC ns when it began to yield; 0: not yet */
    const struct pl_waiting *what; /* what it is for, in job reports (wait_record.h); NULL: not said */
};

/* For any wait: the caller calls it between unsuccessful rounds with the same record, which begins zeroed. It spins,
 * yields, sleeps. `engine` NULL: for something that no engine brings. */
void pl_engine_idle(struct pl_engine *engine, struct pl_wait *wait);

/* Would the wait's thread fall asleep within this many further rounds? */
bool pl_engine_sleeps_within(const struct pl_engine *engine, const struct pl_wait *wait, unsigned rounds);

/* Yields the core. False: the thread that ran held it as long as a compute-bound one does; the caller should sleep and
 * be woken. */
bool pl_engine_yield(struct pl_engine *engine);

/* May another thread need this core? Then spinning makes little sense. */
static inline bool pl_engine_should_yield(const struct pl_engine *engine)
{
    return engine->wait.oversubscribed || atomic_load_explicit(&engine->wait.contention, memory_order_relaxed) > 0;
}

/* After an unsuccessful test or probe. A program that polls in a loop waits too: now and then it yields, and the other
 * engines progress. `engine` NULL: it polls for something that no engine brings. */
void pl_engine_polled(struct pl_engine *engine);

/* A counter that other threads or processes advance, and the value that it must reach (compared by difference: it may
 * wrap around). */
struct pl_awaited {
    const _Atomic uint32_t *word;
    uint32_t value;
};
static inline bool pl_awaited_is_there(const struct pl_awaited *awaited)
{
    return (int32_t)(atomic_load_explicit(awaited->word, memory_order_acquire) - awaited->value) >= 0;
}

/* pl_engine_idle() for a value in shared memory: the thread does not fall asleep once it is there. */
void pl_engine_idle_for(struct pl_engine *engine, const struct pl_awaited *awaited, struct pl_wait *wait);

/* A progress thread sleeps in the transports, after `sleeps` sleeps without an event in between: until a message comes,
 * pl_engine_wake(), or `stop` is there. Unlike a waiting thread it does not count as one that a completion must wake.
 * False: another thread sleeps there, so nothing happened. */
bool pl_engine_attend(struct pl_engine *engine, const struct pl_awaited *stop, unsigned sleeps);

/* Wakes the threads that sleep in this engine. Any thread, any locks. */
void pl_engine_wake(struct pl_engine *engine);

#endif
