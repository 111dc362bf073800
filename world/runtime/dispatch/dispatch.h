/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What jobs take, and which job starts next. Kind 0 of what can be taken is slots; the others are resources with a name
 * (resource.h). A task is a job as this room sees it: what it takes, how long it may run, its priority. It waits, then
 * runs. The time is an argument, so a simulation can be its clock. The caller holds a lock.
 */
#ifndef PLENUM_WORLD_RUNTIME_DISPATCH_DISPATCH_H
#define PLENUM_WORLD_RUNTIME_DISPATCH_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/list.h"

enum {
    PL_KINDS = 16,         /* slots and the resources of a runtime */
    PL_DISPATCH_SCAN = 256 /* waiting tasks that are considered: a long queue must not make each start slow */
};

struct pl_amounts {
    long of[PL_KINDS];
};

struct pl_task {
    struct pl_list node; /* in struct pl_dispatch.waiting or .running */
    struct pl_amounts takes;
    long priority;   /* higher ones go first */
    int64_t most_ms; /* it runs no longer than this; 0: not known */
    int64_t ends_by; /* while it runs; INT64_MAX: not known */
    int overtaken;   /* while it was the first: by how many that may have delayed it */
};

/* What is known of the start of the first waiting task. */
struct pl_forecast {
    int64_t at;              /* the time by which enough is free; INT64_MAX: not known */
    struct pl_amounts spare; /* what is then left beside it */
};

/* A policy. Its functions decide by their arguments alone; they are called with the lock held, must not block and must
 * not call into the runtime. */
struct pl_policy {
    const char *name;
    /* Does `a` wait before `b`? Tasks that do not precede each other wait in the order of their arrival. */
    bool (*precedes)(const struct pl_task *a, const struct pl_task *b);
    /* `late` fits now, and `first`, before which it does not wait, does not. May `late` start? Counts what it allows.
     * NULL: no task overtakes. */
    bool (*may_overtake)(struct pl_task *first, const struct pl_task *late, const struct pl_forecast *forecast,
                         int64_t now);
};

/* By number of enum plenum_policy. */
extern const struct pl_policy *const pl_policies[];

struct pl_dispatch {
    const struct pl_policy *policy;
    struct pl_amounts total, used; /* 0 slots: no limit */
    struct pl_list waiting;        /* in the order of the policy */
    struct pl_list running;        /* in the order of `ends_by` */
    /* Is there a place for a task now, for which there is enough in all? NULL: there always is. */
    bool (*has_place)(const struct pl_task *task);
    int waiting_count;
    bool settled; /* no waiting task can start until something changes */
};

void pl_dispatch_init(struct pl_dispatch *s);

/* May this task, which neither waits nor runs, start now? Counts it as one that overtakes if it does. */
bool pl_dispatch_admits(struct pl_dispatch *s, struct pl_task *task, int64_t now);

/* Appends a task; returns how many wait before it. */
int pl_dispatch_wait(struct pl_dispatch *s, struct pl_task *task);

/* Takes the task that starts next from those that wait; NULL: none can. */
struct pl_task *pl_dispatch_next(struct pl_dispatch *s, int64_t now);

/* The task runs from now on, whether it fits or not. */
void pl_dispatch_start(struct pl_dispatch *s, struct pl_task *task, int64_t now);

/* The task has ended: one that ran. */
void pl_dispatch_end(struct pl_dispatch *s, struct pl_task *task);

/* The task no longer waits. */
void pl_dispatch_forget(struct pl_dispatch *s, struct pl_task *task);

/* Another priority, also of a task that waits: it then is the last of its new priority. */
void pl_dispatch_set_priority(struct pl_dispatch *s, struct pl_task *task, long priority);

/* Another policy, or another amount of a kind. */
void pl_dispatch_set_policy(struct pl_dispatch *s, const struct pl_policy *policy);
void pl_dispatch_set_total(struct pl_dispatch *s, int kind, long total);

#endif
