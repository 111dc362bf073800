/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one clock: CLOCK_MONOTONIC, in nanoseconds or milliseconds since some moment that all processes of a node share.
 *
 * A deadline is a moment of pl_clock_ns(), or PL_CLOCK_NEVER. Any thread, no locks, no state; plugins may use it.
 */
#ifndef PLENUM_CORE_BASE_CLOCK_H
#define PLENUM_CORE_BASE_CLOCK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define PL_CLOCK_NEVER INT64_MAX
#define PL_NS_PER_US   INT64_C(1000)
#define PL_NS_PER_MS   INT64_C(1000000)
#define PL_NS_PER_S    INT64_C(1000000000)

static inline int64_t pl_clock_read(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * PL_NS_PER_S + now.tv_nsec;
}

static inline int64_t pl_clock_ns(void)
{
    return pl_clock_read(CLOCK_MONOTONIC);
}

static inline int64_t pl_clock_ms(void)
{
    return pl_clock_ns() / PL_NS_PER_MS;
}

/* The same, late by up to one tick of the kernel (1 to 10 ms), at a fraction of the price: for code that asks in every
 * round of a loop. */
static inline int64_t pl_clock_coarse_ms(void)
{
    return pl_clock_read(CLOCK_MONOTONIC_COARSE) / PL_NS_PER_MS;
}

/* A duration as nanosleep() and ppoll() take it, or a moment as pthread_cond_timedwait() does. Negative counts as 0. */
static inline struct timespec pl_clock_timespec(int64_t ns)
{
    ns = ns > 0 ? ns : 0;
    return (struct timespec){ .tv_sec = (time_t)(ns / PL_NS_PER_S), .tv_nsec = (long)(ns % PL_NS_PER_S) };
}

/* Sleeps; a signal ends it early. */
static inline void pl_clock_sleep_ns(int64_t ns)
{
    struct timespec duration = pl_clock_timespec(ns);
    nanosleep(&duration, NULL);
}

/* --- deadlines ------------------------------------------------------------------------------------------------- */

/* `ms` from now. Negative, or too far for the clock: never. */
static inline int64_t pl_deadline_after_ms(int64_t ms)
{
    int64_t now = pl_clock_ns();
    return ms < 0 || ms > (PL_CLOCK_NEVER - now) / PL_NS_PER_MS ? PL_CLOCK_NEVER : now + ms * PL_NS_PER_MS;
}

static inline bool pl_deadline_passed(int64_t deadline)
{
    return deadline != PL_CLOCK_NEVER && pl_clock_ns() >= deadline;
}

/* For poll(): milliseconds until the deadline, rounded up so that it has passed when poll() returns; 0 once it has
 * passed, -1 if it never does. */
static inline int pl_deadline_left_ms(int64_t deadline)
{
    if (deadline == PL_CLOCK_NEVER)
        return -1;
    int64_t now = pl_clock_ns();
    int64_t ms = deadline > now ? (deadline - now - 1) / PL_NS_PER_MS + 1 : 0;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

#endif
