/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather, with blocks of one length or of different lengths.
 *
 * Recursive doubling and ring receive the blocks in the user's datatype, in place. Bruck's algorithm has as few
 * messages for any number of ranks as recursive doubling for a power of two. It collects the packed blocks in the order
 * in which they arrive, upwards from the rank's own, and copies them into place at the end. Linear: each rank sends its
 * block to all others, in one round.
 */
#include "core/coll/algorithm.h"

static void allgather_append_own(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    if (!pl_coll_in_place(coll))
        pl_schedule_copy(schedule, pl_coll_sent(coll), pl_recv_block(coll, coll->comm->rank));
}

static void allgather_append_recursive_doubling(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    allgather_append_own(schedule, coll);
    for (int bit = 1; bit < size; bit *= 2) {
        int mine = rank & ~(bit - 1);
        struct pl_block out = pl_recv_block(coll, mine), in = pl_recv_block(coll, mine ^ bit);
        out.count *= bit;
        in.count *= bit;
        pl_schedule_recv(schedule, in, rank ^ bit);
        pl_schedule_send(schedule, out, rank ^ bit);
        pl_schedule_wait(schedule);
    }
}

static void allgather_append_ring(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    allgather_append_own(schedule, coll);
    for (int i = 0; i < size - 1; i++) {
        pl_schedule_recv(schedule, pl_recv_block(coll, (rank - i - 1 + size) % size), (rank - 1 + size) % size);
        int received = pl_schedule_mark(schedule);
        pl_schedule_send(schedule, pl_recv_block(coll, (rank - i + size) % size), (rank + 1) % size);
        pl_schedule_wait_until(schedule, received);
    }
}

static void allgather_append_bruck(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    /* Where each block begins, from this rank's on. */
    size_t *begin = pl_schedule_temp(schedule, (size_t)(size + 1) * sizeof *begin);
    if (!begin)
        return;
    begin[0] = 0;
    for (int i = 0; i < size; i++)
        begin[i + 1] = begin[i] + pl_block_size(pl_recv_block(coll, (rank + i) % size));
    unsigned char *blocks = pl_schedule_temp(schedule, begin[size]);

    pl_schedule_copy(schedule, pl_coll_in_place(coll) ? pl_recv_block(coll, rank) : pl_coll_sent(coll),
                     pl_block_bytes(blocks, begin[1]));
    for (int have = 1; have < size; have *= 2) {
        int more = have < size - have ? have : size - have;
        pl_schedule_recv(schedule,
                         pl_block_bytes(pl_address(blocks, (MPI_Aint)begin[have]), begin[have + more] - begin[have]),
                         (rank + have) % size);
        pl_schedule_send(schedule, pl_block_bytes(blocks, begin[more]), (rank - have + size) % size);
        pl_schedule_wait(schedule);
    }
    for (int i = pl_coll_in_place(coll) ? 1 : 0; i < size; i++)
        pl_schedule_copy(schedule, pl_block_bytes(pl_address(blocks, (MPI_Aint)begin[i]), begin[i + 1] - begin[i]),
                         pl_recv_block(coll, (rank + i) % size));
}

static void allgather_append_linear(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_block own = pl_coll_in_place(coll) ? pl_recv_block(coll, coll->comm->rank) : pl_coll_sent(coll);
    for (int i = 1; i < coll->comm->size; i++) {
        int rank = (coll->comm->rank + i) % coll->comm->size;
        pl_schedule_recv(schedule, pl_recv_block(coll, rank), rank);
    }
    pl_append_to_all(schedule, coll->comm, own);
    allgather_append_own(schedule, coll);
}

const struct pl_algorithm pl_allgather_recursive_doubling = { PL_COLL_ALLGATHER, "recursive_doubling",
                                                              allgather_append_recursive_doubling, pl_coll_is_power };
const struct pl_algorithm pl_allgather_bruck = { PL_COLL_ALLGATHER, "bruck", allgather_append_bruck, NULL };
const struct pl_algorithm pl_allgather_ring = { PL_COLL_ALLGATHER, "ring", allgather_append_ring, NULL };
const struct pl_algorithm pl_allgatherv_bruck = { PL_COLL_ALLGATHERV, "bruck", allgather_append_bruck, NULL };
const struct pl_algorithm pl_allgatherv_ring = { PL_COLL_ALLGATHERV, "ring", allgather_append_ring, NULL };
const struct pl_algorithm pl_allgather_linear = { PL_COLL_ALLGATHER, "linear", allgather_append_linear, NULL };
const struct pl_algorithm pl_allgatherv_linear = { PL_COLL_ALLGATHERV, "linear", allgather_append_linear, NULL };
