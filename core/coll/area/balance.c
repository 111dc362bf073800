/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With four ranks on two cores, three on the one and one on the other need twice the time for a barrier that two and
 * two need. The kernel leaves them so for tens of milliseconds: each has run just now, so its data is in the caches of
 * its core, and the kernel does not like to move it. Ranks publish their cores (await.c), so that each sees the
 * distribution.
 */
#include "core/coll/area/balance.h"

#include "core/coll/area/slots.h"
#include "core/engine/migrate.h"
#include "core/job/process.h"

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

void pl_area_balance(struct pl_area *area)
{
    int on[PL_AREA_RANKS];
    cpu_set_t emptier;
    for (int i = 0; i < area->size; i++)
        on[i] = (int)atomic_load_explicit(&pl_area_completed(area, i)->core, memory_order_relaxed) - 1;
    on[area->rank] = sched_getcpu();
    bool uneven = pl_area_has_emptier_cores(on, area->size, area->rank, pl_process.identity.slots, &emptier);
    if (uneven && area->uneven && pl_migrate_is_due(area->engine)) {
        atomic_fetch_add_explicit(&area->engine->wait.apart_tries, 1, memory_order_relaxed);
        pl_migrate_to(&emptier);
    }
    area->uneven = uneven;
}
