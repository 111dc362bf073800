/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barrier. Dissemination: after round k a rank knows, directly or not, that the 2^(k+1) - 1 ranks before it have
 * arrived. Recursive doubling, for a power of two of ranks, has as many messages, but two ranks always send to each
 * other. Over TCP a message then carries the acknowledgment of the one before, which else takes a packet of its own.
 * Linear: each rank sends to all others, in one round.
 */
#include "core/coll/algorithm.h"

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

static void barrier_append_doubling(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_block nothing = pl_block_bytes(NULL, 0);
    for (int bit = 1; bit < coll->comm->size; bit *= 2) {
        pl_schedule_recv(schedule, nothing, coll->comm->rank ^ bit);
        pl_schedule_send(schedule, nothing, coll->comm->rank ^ bit);
        pl_schedule_wait(schedule);
    }
}

static void barrier_append_linear(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_block nothing = pl_block_bytes(NULL, 0);
    for (int i = 1; i < coll->comm->size; i++)
        pl_schedule_recv(schedule, nothing, (coll->comm->rank + i) % coll->comm->size);
    pl_append_to_all(schedule, coll->comm, nothing);
}

const struct pl_algorithm pl_barrier_dissemination = { PL_COLL_BARRIER, "dissemination", append_dissemination, NULL };
const struct pl_algorithm pl_barrier_recursive_doubling = { PL_COLL_BARRIER, "recursive_doubling",
                                                            barrier_append_doubling, pl_coll_is_power };
const struct pl_algorithm pl_barrier_linear = { PL_COLL_BARRIER, "linear", barrier_append_linear, NULL };
