/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather. Linear: all ranks to the root, in the user's datatypes, blocks of any length. Binomial: a rank collects
 * the packed blocks of those below it in a tree and passes them on in one message; for short blocks and many ranks.
 */
#include "core/coll/algorithm.h"

static void gather_append_linear(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    if (coll->comm->rank != coll->root) {
        pl_schedule_send(schedule, pl_coll_sent(coll), coll->root);
        return;
    }
    for (int rank = 0; rank < coll->comm->size; rank++)
        if (rank != coll->root)
            pl_schedule_recv(schedule, pl_recv_block(coll, rank), rank);
    if (!pl_coll_in_place(coll))
        pl_schedule_copy(schedule, pl_coll_sent(coll), pl_recv_block(coll, coll->root));
}

/* Numbered from the root, a rank's collection is its own block and those of the ranks that follow. */
static void gather_append_binomial(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int size = coll->comm->size, me = pl_rank_from(coll->root, coll->comm->rank, size), bit;
    schedule->exact = true; /* a block of another length moves those that follow it */
    struct pl_block own = me == 0 && pl_coll_in_place(coll) ? pl_recv_block(coll, coll->root) : pl_coll_sent(coll);
    size_t each = pl_block_size(own);
    int below = me == 0 ? size : me & -me;
    if (me + below > size)
        below = size - me;

    if (below == 1 && me != 0) {
        pl_schedule_send(schedule, own, pl_rank_back(coll->root, me & (me - 1), size));
        return;
    }
    unsigned char *blocks = pl_schedule_temp(schedule, (size_t)below * each);
    pl_schedule_copy(schedule, own, pl_packed(blocks, each, 0, 1));
    for (bit = 1; bit < below; bit *= 2) {
        int theirs = bit < below - bit ? bit : below - bit;
        pl_schedule_recv(schedule, pl_packed(blocks, each, bit, theirs), pl_rank_back(coll->root, me + bit, size));
    }
    pl_schedule_wait(schedule);
    if (me != 0) {
        pl_schedule_send(schedule, pl_packed(blocks, each, 0, below), pl_rank_back(coll->root, me & (me - 1), size));
        return;
    }
    for (int i = pl_coll_in_place(coll) ? 1 : 0; i < size; i++)
        pl_schedule_copy(schedule, pl_packed(blocks, each, i, 1),
                         pl_recv_block(coll, pl_rank_back(coll->root, i, size)));
}

const struct pl_algorithm pl_gather_linear = { PL_COLL_GATHER, "linear", gather_append_linear, NULL };
const struct pl_algorithm pl_gather_binomial = { PL_COLL_GATHER, "binomial", gather_append_binomial, NULL };
const struct pl_algorithm pl_gatherv_linear = { PL_COLL_GATHERV, "linear", gather_append_linear, NULL };
