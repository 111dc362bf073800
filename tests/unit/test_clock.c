/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock goes forward and its units agree. Deadlines, also those at the ends of the range. */
#include "unit.h"

#include "core/base/clock.h"

START_TEST(it_goes_forward)
{
    int64_t last = pl_clock_ns();
    UNIT_CHECK(last > 0);
    for (int i = 0; i < 10000; i++) {
        int64_t now = pl_clock_ns();
        UNIT_CHECK(now >= last);
        last = now;
    }
    int64_t before = pl_clock_ns() / PL_NS_PER_MS, ms = pl_clock_ms(), after = pl_clock_ns() / PL_NS_PER_MS;
    UNIT_CHECK(before <= ms && ms <= after);
    UNIT_CHECK(pl_clock_coarse_ms() <= pl_clock_ms());
}
END_TEST

START_TEST(it_sleeps)
{
    int64_t began = pl_clock_ns();
    pl_clock_sleep_ns(3 * PL_NS_PER_MS);
    UNIT_CHECK(pl_clock_ns() - began >= 3 * PL_NS_PER_MS);
    pl_clock_sleep_ns(0);
    pl_clock_sleep_ns(-1);
}
END_TEST

static bool is_time(int64_t ns, time_t seconds, long rest)
{
    struct timespec time = pl_clock_timespec(ns);
    return time.tv_sec == seconds && time.tv_nsec == rest;
}

START_TEST(durations)
{
    UNIT_CHECK(is_time(0, 0, 0));
    UNIT_CHECK(is_time(-1, 0, 0) && is_time(INT64_MIN, 0, 0));
    UNIT_CHECK(is_time(PL_NS_PER_S - 1, 0, 999999999));
    UNIT_CHECK(is_time(PL_NS_PER_S, 1, 0));
    UNIT_CHECK(is_time(INT64_MAX, 9223372036, 854775807));
}
END_TEST

START_TEST(deadlines)
{
    int64_t soon = pl_deadline_after_ms(0);
    UNIT_CHECK(pl_deadline_passed(soon) && pl_deadline_left_ms(soon) == 0);
    UNIT_CHECK(pl_deadline_passed(0) && pl_deadline_left_ms(INT64_MIN) == 0);

    int64_t later = pl_deadline_after_ms(100000000);
    int left = pl_deadline_left_ms(later);
    UNIT_CHECK(!pl_deadline_passed(later) && left > 0 && left <= 100000000);

    /* Rounded up: a wait for the remaining time ends behind the deadline. */
    int64_t deadline = pl_clock_ns() + 1500 * PL_NS_PER_US;
    for (int64_t ms; (ms = pl_deadline_left_ms(deadline)) > 0;)
        pl_clock_sleep_ns(ms * PL_NS_PER_MS);
    UNIT_CHECK(pl_deadline_passed(deadline));
}
END_TEST

START_TEST(far_deadlines)
{
    UNIT_CHECK(pl_deadline_after_ms(-1) == PL_CLOCK_NEVER);
    UNIT_CHECK(pl_deadline_after_ms(INT64_MIN) == PL_CLOCK_NEVER);
    UNIT_CHECK(pl_deadline_after_ms(INT64_MAX) == PL_CLOCK_NEVER);
    UNIT_CHECK(pl_deadline_after_ms(INT64_MAX / PL_NS_PER_MS) == PL_CLOCK_NEVER);
    UNIT_CHECK(!pl_deadline_passed(PL_CLOCK_NEVER) && pl_deadline_left_ms(PL_CLOCK_NEVER) == -1);
    UNIT_CHECK(pl_deadline_left_ms(PL_CLOCK_NEVER - 1) == INT_MAX);
}
END_TEST

UNIT_MAIN("clock", it_goes_forward, it_sleeps, durations, deadlines, far_deadlines)
