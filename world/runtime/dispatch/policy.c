/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The policies. Each keeps the order of priorities, and of arrival within a priority.
 *
 * Backfill lets a later task start while the first one waits, if that does not delay the first one (EASY backfill).
 * Either it ends before enough is free for the first one, or it takes only what is left beside it. That needs time
 * limits. When it is not known by when the first one can start, OVERTAKINGS later tasks may start, and then no more. So
 * what the first one waits for no longer grows, whatever arrives.
 */
#include "world/runtime/dispatch/dispatch.h"

enum { OVERTAKINGS = 16 };

static bool policy_by_priority(const struct pl_task *a, const struct pl_task *b)
{
    return a->priority > b->priority;
}

static bool policy_fits_spare(const struct pl_task *task, const struct pl_amounts *spare)
{
    for (int kind = 0; kind < PL_KINDS; kind++)
        if (task->takes.of[kind] > 0 && task->takes.of[kind] > spare->of[kind])
            return false;
    return true;
}

static bool policy_backfill(struct pl_task *first, const struct pl_task *late, const struct pl_forecast *forecast,
                            int64_t now)
{
    if (forecast->at == INT64_MAX)
        return first->overtaken < OVERTAKINGS && ++first->overtaken;
    return (late->most_ms > 0 && now + late->most_ms <= forecast->at) || policy_fits_spare(late, &forecast->spare);
}

static const struct pl_policy policy_fifo_table = { "fifo", policy_by_priority, NULL };
static const struct pl_policy policy_backfill_table = { "backfill", policy_by_priority, policy_backfill };

const struct pl_policy *const pl_policies[] = { &policy_fifo_table, &policy_backfill_table };
