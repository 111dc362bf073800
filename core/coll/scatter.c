/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter: gather the other way round. Linear: the root to all ranks. Binomial: packed blocks for a whole subtree in
 * one message, for short blocks and many ranks.
 */
#include "core/coll/algorithm.h"

static void scatter_append_linear(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    if (coll->comm->rank != coll->root) {
        pl_schedule_recv(schedule, pl_coll_received(coll), coll->root);
        return;
    }
    for (int rank = 0; rank < coll->comm->size; rank++)
        if (rank != coll->root)
            pl_schedule_send(schedule, pl_send_block(coll, rank), rank);
    if (coll->recvbuf != MPI_IN_PLACE)
        pl_schedule_copy(schedule, pl_send_block(coll, coll->root), pl_coll_received(coll));
}

static void scatter_append_binomial(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int size = coll->comm->size, me = pl_rank_from(coll->root, coll->comm->rank, size), bit;
    schedule->exact = true; /* a rank that gets less than it expects passes on less */
    bool root = me == 0, in_place = coll->recvbuf == MPI_IN_PLACE;
    size_t each = root ? pl_block_size(pl_send_block(coll, 0)) : pl_block_size(pl_coll_received(coll));
    int below = root ? size : me & -me, parent = pl_rank_back(coll->root, me & (me - 1), size);
    if (me + below > size)
        below = size - me;

    if (below == 1 && !root) {
        pl_schedule_recv(schedule, pl_coll_received(coll), parent);
        return;
    }
    unsigned char *blocks = pl_schedule_temp(schedule, (size_t)below * each);
    if (root) {
        for (int i = 0; i < size; i++)
            pl_schedule_copy(schedule, pl_send_block(coll, pl_rank_back(coll->root, i, size)),
                             pl_packed(blocks, each, i, 1));
    } else {
        pl_schedule_recv(schedule, pl_packed(blocks, each, 0, below), parent);
        pl_schedule_wait(schedule);
    }
    for (bit = below > 1 ? pl_power_below(below - 1) : 0; bit > 0; bit /= 2) {
        int theirs = bit < below - bit ? bit : below - bit;
        pl_schedule_send(schedule, pl_packed(blocks, each, bit, theirs), pl_rank_back(coll->root, me + bit, size));
    }
    if (!(root && in_place))
        pl_schedule_copy(schedule, pl_packed(blocks, each, 0, 1), pl_coll_received(coll));
}

const struct pl_algorithm pl_scatter_linear = { PL_COLL_SCATTER, "linear", scatter_append_linear, NULL };
const struct pl_algorithm pl_scatter_binomial = { PL_COLL_SCATTER, "binomial", scatter_append_binomial, NULL };
const struct pl_algorithm pl_scatterv_linear = { PL_COLL_SCATTERV, "linear", scatter_append_linear, NULL };
