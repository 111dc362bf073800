/* SPDX-License-Identifier: BSD-3-Clause */
/* See dispatch.h. A task that takes more slots than there are counts as one that takes all: it runs alone. */
#include "world/runtime/dispatch/dispatch.h"

void pl_dispatch_init(struct pl_dispatch *s)
{
    *s = (struct pl_dispatch){ .policy = pl_policies[0] };
    pl_list_init(&s->waiting);
    pl_list_init(&s->running);
}

/* What has to be free of a kind. */
static long dispatch_needs(const struct pl_dispatch *s, const struct pl_task *task, int kind)
{
    long takes = task->takes.of[kind];
    return kind == 0 && takes > s->total.of[0] ? s->total.of[0] : takes;
}

static bool dispatch_fits_beside(const struct pl_dispatch *s, const struct pl_task *task, const struct pl_amounts *used)
{
    for (int kind = s->total.of[0] == 0; kind < PL_KINDS; kind++)
        if (task->takes.of[kind] > 0 && used->of[kind] + dispatch_needs(s, task, kind) > s->total.of[kind])
            return false;
    return true;
}

static bool dispatch_fits(const struct pl_dispatch *s, const struct pl_task *task)
{
    return dispatch_fits_beside(s, task, &s->used) && (!s->has_place || s->has_place(task));
}

/* --- the order of tasks ------------------------------------------------------------------------------------ */

static struct pl_task *dispatch_first(const struct pl_dispatch *s)
{
    return pl_list_empty(&s->waiting) ? NULL : PL_CONTAINER(s->waiting.next, struct pl_task, node);
}

int pl_dispatch_wait(struct pl_dispatch *s, struct pl_task *task)
{
    struct pl_list *at = &s->waiting;
    int before = s->waiting_count++;
    while (at->prev != &s->waiting && s->policy->precedes(task, PL_CONTAINER(at->prev, struct pl_task, node)))
        at = at->prev, before--;
    pl_list_append(at, &task->node);
    s->settled = false;
    return before;
}

void pl_dispatch_forget(struct pl_dispatch *s, struct pl_task *task)
{
    pl_list_remove(&task->node);
    s->waiting_count--;
    s->settled = false;
}

void pl_dispatch_start(struct pl_dispatch *s, struct pl_task *task, int64_t now)
{
    struct pl_list *at = &s->running;
    task->ends_by = task->most_ms ? now + task->most_ms : INT64_MAX;
    while (at->prev != &s->running && PL_CONTAINER(at->prev, struct pl_task, node)->ends_by > task->ends_by)
        at = at->prev;
    pl_list_append(at, &task->node);
    for (int kind = 0; kind < PL_KINDS; kind++)
        s->used.of[kind] += task->takes.of[kind];
}

void pl_dispatch_end(struct pl_dispatch *s, struct pl_task *task)
{
    pl_list_remove(&task->node);
    for (int kind = 0; kind < PL_KINDS; kind++)
        s->used.of[kind] -= task->takes.of[kind];
    s->settled = false;
}

/* --- what starts next -------------------------------------------------------------------------------------------- */

/* When does the task fit, if each running one takes all its time, and those of unknown length do not end? When there is
 * a place for it is not foreseen. */
static struct pl_forecast dispatch_foresee(const struct pl_dispatch *s, const struct pl_task *task, int64_t now)
{
    struct pl_amounts used = s->used;
    struct pl_forecast forecast = { .at = now };
    bool fits = dispatch_fits_beside(s, task, &used), lacks_place = fits;
    PL_LIST_EACH(other, &s->running, struct pl_task, node) {
        if (fits)
            break;
        if (other->ends_by > forecast.at)
            forecast.at = other->ends_by;
        if (forecast.at == INT64_MAX)
            break;
        for (int kind = 0; kind < PL_KINDS; kind++)
            used.of[kind] -= other->takes.of[kind];
        fits = dispatch_fits_beside(s, task, &used);
    }
    if (!fits || lacks_place)
        forecast.at = INT64_MAX;
    for (int kind = 0; kind < PL_KINDS; kind++)
        forecast.spare.of[kind] = s->total.of[kind] - used.of[kind] - dispatch_needs(s, task, kind);
    if (s->total.of[0] == 0)
        forecast.spare.of[0] = INT32_MAX;
    return forecast;
}

/* `*forecast` is made when it is needed. */
static bool dispatch_admits(struct pl_dispatch *s, struct pl_task *task, int64_t now, struct pl_forecast *forecast)
{
    struct pl_task *first = dispatch_first(s);
    if (!dispatch_fits(s, task))
        return false;
    if (!first || first == task || s->policy->precedes(task, first))
        return true;
    if (!s->policy->may_overtake)
        return false;
    if (forecast->at < 0)
        *forecast = dispatch_foresee(s, first, now);
    return s->policy->may_overtake(first, task, forecast, now);
}

bool pl_dispatch_admits(struct pl_dispatch *s, struct pl_task *task, int64_t now)
{
    struct pl_forecast forecast = { .at = -1 };
    return dispatch_admits(s, task, now, &forecast);
}

struct pl_task *pl_dispatch_next(struct pl_dispatch *s, int64_t now)
{
    struct pl_forecast forecast = { .at = -1 };
    int looked_at = 0;
    if (s->settled)
        return NULL;
    PL_LIST_EACH(task, &s->waiting, struct pl_task, node) {
        if (dispatch_admits(s, task, now, &forecast)) {
            pl_dispatch_forget(s, task);
            return task;
        }
        if (!s->policy->may_overtake || ++looked_at == PL_DISPATCH_SCAN)
            break;
    }
    s->settled = true;
    return NULL;
}

/* --- changes ------------------------------------------------------------------------------------------------ */

void pl_dispatch_set_priority(struct pl_dispatch *s, struct pl_task *task, long priority)
{
    bool waits = !pl_list_empty(&task->node) && task->ends_by == 0;
    if (priority == task->priority)
        return;
    if (waits)
        pl_dispatch_forget(s, task);
    task->priority = priority;
    if (waits)
        pl_dispatch_wait(s, task);
}

void pl_dispatch_set_policy(struct pl_dispatch *s, const struct pl_policy *policy)
{
    struct pl_list all;
    struct pl_list *node;
    pl_list_move(&all, &s->waiting);
    s->policy = policy;
    s->waiting_count = 0;
    while ((node = pl_list_pop(&all)))
        pl_dispatch_wait(s, PL_CONTAINER(node, struct pl_task, node));
    s->settled = false;
}

void pl_dispatch_set_total(struct pl_dispatch *s, int kind, long total)
{
    s->total.of[kind] = total;
    s->settled = false;
}
