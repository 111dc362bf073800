/* SPDX-License-Identifier: BSD-3-Clause */
/* See migrate.h. */
#include "core/engine/migrate.h"

#include <string.h>

/* A thread that was not bound must not be bound to `all` now: it would not use a core that its cpuset gets later. */
static void migrate_restore(const cpu_set_t *all)
{
    cpu_set_t any, now;
    memset(&any, 0xff, sizeof any);
    bool unbound = sched_setaffinity(0, sizeof any, &any) == 0 && sched_getaffinity(0, sizeof now, &now) == 0 &&
                   CPU_EQUAL(&now, all);
    if (!unbound)
        sched_setaffinity(0, sizeof *all, all);
}

bool pl_migrate_to(const cpu_set_t *cores)
{
    cpu_set_t all, wanted;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return false;
    CPU_AND(&wanted, &all, cores);
    if (CPU_COUNT(&wanted) == 0 || sched_setaffinity(0, sizeof wanted, &wanted) != 0)
        return false;
    migrate_restore(&all);
    return true;
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
