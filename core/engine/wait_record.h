/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread that waits tells the runtime when it asks (core/job/report.h): what it waits for, what is pending in
 * its engine, what has come that nobody receives, and where in the program it stands.
 *
 * Nothing here costs anything until a wait is long enough to yield the processor. Which MPI function it is follows from
 * the trace, which the runtime reads with the symbols of the program's files at hand.
 */
#ifndef PLENUM_CORE_ENGINE_WAIT_RECORD_H
#define PLENUM_CORE_ENGINE_WAIT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/engine/engine.h"
#include "core/job/report.h"

struct pl_comm;
struct pl_request;

/* What a wait is for, where that is not one request. On the stack of who waits. */
struct pl_waiting {
    enum pl_item_what what;
    struct pl_comm *comm;               /* NULL: none */
    int peer, tag;                      /* as in struct pl_job_item */
    struct pl_request *const *requests; /* [count] handles, null ones among them */
    int count;
    void (*describe)(const void *context,
                     struct pl_job_item *item); /* fills in more; NULL: nothing. Engine lock held */
    const void *context;
};

/* Has the runtime asked since this thread last answered? Then answers: for a wait for `request`, or for what
 * `wait->what` says. Lock not held. */
void pl_wait_record_check(struct pl_engine *engine, const struct pl_request *request, const struct pl_wait *wait);

/* The same for a program that tests and probes in a loop, when that was in vain. Looks every now and then. */
static inline void pl_wait_record_poll(struct pl_engine *engine, const struct pl_request *request,
                                       const struct pl_wait *wait)
{
    if ((atomic_load_explicit(&engine->rounds, memory_order_relaxed) & 14) == 0) /* some calls make two turns */
        pl_wait_record_check(engine, request, wait);
}

/* Adds a rank in the job to those that are awaited, while there is room. */
void pl_wait_record_add_rank(struct pl_job_item *item, int rank);

#endif
