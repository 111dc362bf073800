/* SPDX-License-Identifier: BSD-3-Clause */
/* See migrate.h. */
#include "core/engine/migrate.h"

#include <string.h>

#include "core/base/clock.h"

enum {
    PAUSE_NS = 1000000,  /* before a thread tries again to leave its core; every further time is twice as long ... */
    PAUSE_DOUBLINGS = 4, /* ... until here: 16 ms */
};

bool pl_migrate_is_due(struct pl_engine *engine)
{
    long now = pl_clock_ns();
    unsigned tries = atomic_load_explicit(&engine->wait.apart_tries, memory_order_relaxed);
    long pause = (long)PAUSE_NS << (tries < PAUSE_DOUBLINGS ? tries : PAUSE_DOUBLINGS);
    if (now - atomic_load_explicit(&engine->wait.moved_apart, memory_order_relaxed) < pause)
        return false;
    atomic_store_explicit(&engine->wait.moved_apart, now, memory_order_relaxed);
    return true;
}

void pl_migrate_to(const cpu_set_t *cores)
{
    cpu_set_t all, wanted;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    CPU_AND(&wanted, &all, cores);
    if (CPU_COUNT(&wanted) > 0 && sched_setaffinity(0, sizeof wanted, &wanted) == 0)
        sched_setaffinity(0, sizeof all, &all);
}

void pl_migrate_away(void)
{
    cpu_set_t others;
    int core = sched_getcpu();
    if (core < 0)
        return;
    memset(&others, 0xff, sizeof others);
    CPU_CLR((size_t)core, &others);
    pl_migrate_to(&others);
}
