/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With four ranks on two cores, three on the one and one on the other need twice the time for a barrier that two and
 * two need. The kernel leaves them so for tens of milliseconds: each has run just now, so its data is in the caches of
 * its core, and the kernel does not like to move it. Ranks publish their cores (await.c), so that each sees the
 * distribution.
 */
#include "core/coll/area/balance.h"

#include "core/base/clock.h"
#include "core/base/sysfs.h"
#include "core/coll/area/slots.h"
#include "core/engine/migrate.h"
#include "core/job/process.h"

enum {
    PAUSE_NS = 1000000,   /* between two moves; twice as long each time that the kernel has undone one ... */
    PAUSE_DOUBLINGS = 10, /* ... until here: 1 s */
    SOON_NS = 100000000,  /* in which it does */
};

bool pl_area_has_emptier_cores(const int *on, int size, int rank, int cores, cpu_set_t *emptier)
{
    uint16_t ranks[CPU_SETSIZE] = { 0 };
    for (int i = 0; i < size; i++) {
        if (on[i] < 0 || on[i] >= CPU_SETSIZE || (on[i] == on[rank] && i > rank))
            return false;
        ranks[on[i]]++;
    }
    if (cores < 1 || ranks[on[rank]] <= (size + cores - 1) / cores)
        return false;
    CPU_ZERO(emptier);
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (ranks[core] + 2 <= ranks[on[rank]])
            CPU_SET((size_t)core, emptier);
    return true;
}

/* The core on which a rank waited lately; -1: it has not. One that comes last all the time never waits, and may have
 * moved since. */
static int balance_core_of(const struct pl_area *area, int rank)
{
    uint32_t word = atomic_load_explicit(&pl_area_completed(area, rank)->core, memory_order_relaxed);
    return pl_area_core_is_new(word, area->next) ? pl_area_core_of(word) : -1;
}

/* After another program has got this rank's place the kernel may be right: the pause grows. */
bool pl_area_balance_may_move(struct pl_area_balance *balance, int core, int64_t now)
{
    if (balance->moved_to >= 0 && balance->moved_to != core) {
        bool soon = now - balance->moved < SOON_NS;
        balance->undone = !soon ? 0 : balance->undone < PAUSE_DOUBLINGS ? balance->undone + 1 : PAUSE_DOUBLINGS;
        balance->moved_to = -1;
    }
    return now - balance->moved >= (int64_t)PAUSE_NS << balance->undone;
}

static void balance_move(struct pl_area_balance *balance, int core, const cpu_set_t *emptier, int64_t now)
{
    cpu_set_t near;
    bool closer = pl_sysfs_cache("/sys", core, &near);
    if (closer)
        CPU_AND(&near, &near, emptier);
    bool moved = (closer && pl_migrate_to(&near)) || pl_migrate_to(emptier);
    balance->moved = now;
    balance->moved_to = moved ? sched_getcpu() : -1;
    balance->undone = moved ? balance->undone : PAUSE_DOUBLINGS; /* it is bound */
}

void pl_area_balance(struct pl_area *area)
{
    struct pl_area_balance *balance = &area->balance;
    int on[PL_AREA_RANKS], core = sched_getcpu();
    cpu_set_t emptier;
    for (int i = 0; i < area->size; i++)
        on[i] = i == area->rank ? core : balance_core_of(area, i);
    bool before = balance->uneven;
    balance->uneven = pl_area_has_emptier_cores(on, area->size, area->rank, pl_process.identity.slots, &emptier);
    if (!balance->uneven || !before)
        return;
    int64_t now = pl_clock_ns();
    if (pl_area_balance_may_move(balance, core, now))
        balance_move(balance, core, &emptier, now);
}
