/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process whose MPI_Init has failed, and which lives on. In place of the World's card its slot has the reason, which
 * ends the waits of the ranks that search for that card, on other hosts too.
 *
 * The process may call MPI_Init again, as if it had not failed, until another process has acted on the failure. That is
 * a rank that misses it, or the runtime on behalf of the processes that have spawned it. Whichever comes first changes
 * the state, PL_PROCESS_UNABLE: both sides always agree.
 */
#ifndef PLENUM_CORE_JOB_UNABLE_H
#define PLENUM_CORE_JOB_UNABLE_H

#include <string.h>

#include "core/base/visible.h"
#include "core/job/card.h"

enum { PL_UNABLE_WORDS = 320 };

/* Has the layout of a card, which begins with the id of an engine: that is never 0. */
struct pl_job_unable {
    uint64_t mark;             /* 0 */
    uint32_t consequence;      /* 1: it failed because another process is absent, which others learn, too */
    char why[PL_UNABLE_WORDS]; /* one line */
};
_Static_assert(sizeof(struct pl_job_unable) <= PL_CARD_MAX, "the reason is in place of a card");

static inline struct pl_job_unable pl_job_unable(const char *why, bool consequence)
{
    struct pl_job_unable unable = { .consequence = consequence };
    pl_visible(unable.why, sizeof unable.why, why);
    return unable;
}

/* Is a card that was read such a reason? */
static inline bool pl_job_unable_is(const void *card, size_t length, struct pl_job_unable *unable)
{
    if (length != sizeof *unable)
        return false;
    memcpy(unable, card, sizeof *unable);
    unable->why[sizeof unable->why - 1] = '\0';
    return unable->mark == 0;
}

/* The caller acts on the failure. False: the process has begun to call MPI_Init again. One that aborts does not. */
static inline bool pl_job_unable_settle(struct pl_job_rank *rank)
{
    uint32_t unable = PL_PROCESS_UNABLE;
    return atomic_compare_exchange_strong(&rank->state, &unable, PL_PROCESS_GIVEN_UP) ||
           unable == PL_PROCESS_GIVEN_UP || unable == PL_PROCESS_ABORTED;
}

#endif
