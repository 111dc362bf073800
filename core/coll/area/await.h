/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for another rank's word in a collective area, and waking the ranks that wait. See area.h. */
#ifndef PLENUM_CORE_COLL_AREA_AWAIT_H
#define PLENUM_CORE_COLL_AREA_AWAIT_H

#include <stdint.h>

struct pl_area;
struct pl_area_call;
struct pl_awaited;
struct pl_coll;

/* Waits for the slot of a rank, which is not there yet; those of the ranks up to `end` may be missing, too. MPI error
 * class: MPI_ERR_PROC_ABORTED when a member of the communicator is gone. Job reports describe the call, unless it is
 * NULL. */
int pl_area_await(struct pl_area *area, const struct pl_area_call *call, int rank, int end);

/* The same for any word that the rank writes, in this collective. */
int pl_area_await_word(struct pl_area *area, const struct pl_coll *coll, int rank, int end,
                       const struct pl_awaited *awaited);

/* Wakes these ranks, a bit each. */
void pl_area_wake(struct pl_area *area, uint64_t asleep);

#endif
