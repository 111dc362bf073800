/* SPDX-License-Identifier: BSD-3-Clause */
/* How ranks spread over the cores that they share. */
#ifndef PLENUM_CORE_COLL_AREA_BALANCE_H
#define PLENUM_CORE_COLL_AREA_BALANCE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct pl_area;

/* What a rank remembers between two checks. */
struct pl_area_balance {
    bool on;        /* the area has as many ranks as the job has here, and these share cores */
    bool uneven;    /* at the last check */
    uint8_t waits;  /* since then */
    uint8_t undone; /* moves that the rank has soon left again, since one that lasted */
    int moved_to;   /* the core of the last move; -1: it is no longer there */
    int64_t moved;  /* when: CLOCK_MONOTONIC, ns */
};

/* Should `rank` leave its core? on[i]: the core of rank i of `size`; -1: unknown. True if its core has more ranks than
 * an equal share of `cores` cores, rounded up, and no later rank is there. Then *emptier has the cores with at least
 * two ranks fewer. So a core whose last rank is bound keeps all of its ranks. */
bool pl_area_has_emptier_cores(const int *on, int size, int rank, int cores, cpu_set_t *emptier);

/* May the rank on this core move now? Where the kernel has taken it back within a tenth of a second, twice as much time
 * passes as before that. */
bool pl_area_balance_may_move(struct pl_area_balance *balance, int core, int64_t now);

/* Moves the calling thread to an emptier core, if there is one for the second time in succession: close by, if it
 * can. */
void pl_area_balance(struct pl_area *area);

#endif
