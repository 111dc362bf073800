/* SPDX-License-Identifier: BSD-3-Clause */
/* How ranks spread over the cores that they share. */
#ifndef PLENUM_CORE_COLL_AREA_BALANCE_H
#define PLENUM_CORE_COLL_AREA_BALANCE_H

#include <sched.h>
#include <stdbool.h>

struct pl_area;

/* Should `rank` leave its core? on[i]: the core of rank i of `size`; -1: unknown. True if its core has more ranks than
 * an equal share of `cores` cores, and no later rank is there: *emptier is the set of those with at least two fewer. */
bool pl_area_has_emptier_cores(const int *on, int size, int rank, int cores, cpu_set_t *emptier);

/* Moves the calling thread to an emptier core, if there is one for the second time in succession. For areas of all
 * ranks of a node that has fewer cores. */
void pl_area_balance(struct pl_area *area);

#endif
