/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of an algorithm, alike on all ranks. */
#ifndef PLENUM_CORE_COLL_SELECT_H
#define PLENUM_CORE_COLL_SELECT_H

#include "core/coll/algorithm.h"

/* The algorithm for a call: the one that the configuration forces, if it can do the call, else the first that a rule
 * names. Never NULL. */
const struct pl_algorithm *pl_coll_select(const struct pl_coll *coll);

/* The one that the configuration forces; NULL: none. */
const struct pl_algorithm *pl_coll_forced(enum pl_coll_kind kind);

/* Are all ranks on one node, and do all of them know it? */
bool pl_coll_are_near(const struct pl_comm *comm);

/* By name; NULL: the kind has none of that name, such as "auto". */
const struct pl_algorithm *pl_coll_named(enum pl_coll_kind kind, const char *name);

#endif
