/* SPDX-License-Identifier: BSD-3-Clause */
/* Barrier: dissemination. After round k a rank has heard, directly or not, of the 2^(k+1) - 1 ranks before it. */
#include "core/collectives/algorithm.h"

static void append_dissemination(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    struct pl_block nothing = pl_block_bytes(NULL, 0);
    for (int distance = 1; distance < size; distance *= 2) {
        pl_schedule_recv(schedule, nothing, (rank - distance + size) % size);
        pl_schedule_send(schedule, nothing, (rank + distance) % size);
        pl_schedule_wait(schedule);
    }
}

const struct pl_algorithm pl_barrier_dissemination = { PL_COLL_BARRIER, "dissemination", append_dissemination, NULL };
