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
    uint8_t undone; /* in how many moves in succession the kernel has soon taken this rank back */
    int moved_to;   /* the core of the last move; -1: it is no longer there */
    int64_t moved;  /* when: CLOCK_MONOTONIC, ns */
};

/* Should `rank` leave its core? on[i]: the core of rank i of `size`; -1: unknown. True if its core has more ranks than
 * an equal share of `cores` cores, rounded up, and no later rank is there. Then *emptier has the cores with at least
 * two ranks fewer. So a core whose last rank is bound keeps all of its ranks. */
bool pl_area_has_emptier_cores(const int *on, int size, int rank, int cores, cpu_set_t *emptier);

/* Moves the calling thread to an emptier core, if there is one for the second time in succession: close by, if it can.
 * Where the kernel takes it back, twice as much time passes until the next move. */
void pl_area_balance(struct pl_area *area);

#endif
