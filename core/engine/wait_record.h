/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wait records: the part of the job report (core/job/report.h) that a waiting thread writes when the runtime asks. It
 * says what the thread waits for, what is pending in its engine, which messages were not received, and its trace.
 *
 * A wait pays nothing for this until it has lasted long enough to yield the processor. The runtime finds the MPI
 * function in the trace, by the symbols of the program's files.
 */
#ifndef PLENUM_CORE_ENGINE_WAIT_RECORD_H
#define PLENUM_CORE_ENGINE_WAIT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/engine/wait.h"
#include "core/job/report.h"

struct pl_comm;
struct pl_request;
struct pl_schedule;

/* What a wait is for, if not for one request. On the waiting thread's stack. */
struct pl_waiting {
    enum pl_item_what what;
    struct pl_comm *comm;               /* NULL: none */
    int peer, tag;                      /* as in struct pl_job_item */
    struct pl_schedule *schedule;       /* a collective that this thread executes, in `comm`; NULL: none */
    struct pl_request *const *requests; /* [count] handles, null ones among them */
    int count;                          /* of requests */
    /* Fills in more; NULL: nothing. Engine lock held. */
    void (*describe)(const void *context, struct pl_job_item *item);
    const void *context;
};

/* Writes the record if the runtime has asked since this thread last answered: of a wait for `request`, or for
 * `wait->what`. Lock not held. */
void pl_wait_record_check(struct pl_engine *engine, const struct pl_request *request, const struct pl_wait *wait);

/* The same after an unsuccessful test or probe of a program that polls in a loop. Checks in one of several rounds. */
static inline void pl_wait_record_poll(struct pl_engine *engine, const struct pl_request *request,
                                       const struct pl_wait *wait)
{
    if ((atomic_load_explicit(&engine->rounds, memory_order_relaxed) & 14) == 0) /* some calls make two rounds */
        pl_wait_record_check(engine, request, wait);
}

/* Adds a rank of the job to the item's awaited ranks, while there is room. */
void pl_wait_record_add_rank(struct pl_job_item *item, int rank);

/* Makes a rank of a communicator the item's peer, and awaited; MPI_ANY_SOURCE and PL_ANY: any rank. */
void pl_wait_record_add_peer(struct pl_job_item *item, const struct pl_comm *comm, int peer);

#endif
