/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of an algorithm, alike on all ranks. */
#ifndef PLENUM_CORE_COLL_SELECT_H
#define PLENUM_CORE_COLL_SELECT_H

#include "core/coll/algorithm.h"

/* The algorithm for a call: the one that the configuration forces, if it can do the call, else the first that a rule
 * names. Never NULL. */
const struct pl_algorithm *pl_coll_select(const struct pl_coll *coll);

/* Appends a collective by that algorithm. In a reduction all ranks give the same amount, which selects the algorithm:
 * from PL_CUT_REDUCTION bytes on a wrong one may mean another algorithm. */
enum { PL_CUT_REDUCTION = 256 };
static inline void pl_coll_append(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    pl_coll_select(coll)->append(schedule, coll);
    if (!coll->op)
        return;
    schedule->exact = true;
    if (schedule->cut_from > PL_CUT_REDUCTION)
        schedule->cut_from = PL_CUT_REDUCTION;
}

/* The one that the configuration forces; NULL: none. */
const struct pl_algorithm *pl_coll_forced(enum pl_coll_kind kind);

/* By name; NULL: the kind has none of that name, such as "auto". */
const struct pl_algorithm *pl_coll_named(enum pl_coll_kind kind, const char *name);

#endif
