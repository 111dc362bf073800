/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce. Binomial numbers the ranks from the root, and so needs an operation that commutes. In_order is a tree over
 * the ranks as they are, whose root, rank 0, passes the result on. Rabenseifner's algorithm is for long vectors: the
 * reduction is scattered by recursive halving, then gathered at the root.
 */
#include "core/coll/algorithm.h"

/* Where a rank's partial result grows: the user's buffer at the root, else a temporary one. */
static struct pl_block reduce_accumulator(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    if (coll->comm->rank == coll->root)
        return pl_coll_received(coll);
    return pl_schedule_temp_block(schedule, coll->recvcount, coll->recvtype);
}

/* The input, moved into the accumulator unless it is there (MPI_IN_PLACE at the root). */
static void append_input(struct pl_schedule *schedule, const struct pl_coll *coll, struct pl_block value)
{
    if (!pl_coll_in_place(coll))
        pl_schedule_copy(schedule, pl_coll_input(coll, coll->recvcount), value);
}

/* Two buffers for operands of the children: one is received while the other is combined. */
static void reduce_append_binomial(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int size = coll->comm->size, me = pl_rank_from(coll->root, coll->comm->rank, size);
    int children[32], n = 0, bit;
    for (bit = 1; bit < size && !(me & bit); bit *= 2)
        if (me + bit < size)
            children[n++] = pl_rank_back(coll->root, me + bit, size);
    int parent = pl_rank_back(coll->root, me & ~bit, size);

    if (n == 0 && me != 0) {
        pl_schedule_send(schedule, pl_coll_input(coll, coll->recvcount), parent);
        return;
    }
    struct pl_block value = reduce_accumulator(schedule, coll), operands[2];
    append_input(schedule, coll, value);
    for (int i = 0; i < 2 && i < n; i++)
        operands[i] = pl_schedule_temp_block(schedule, coll->recvcount, coll->recvtype);
    int received = 0; /* mark behind the receive of child i - 1 */
    for (int i = 0; i <= n; i++) {
        int before = received;
        if (i < n) {
            pl_schedule_recv(schedule, operands[i % 2], children[i]);
            received = pl_schedule_mark(schedule);
        }
        if (i > 0) {
            pl_schedule_wait_until(schedule, before);
            pl_schedule_reduce(schedule, coll->op, operands[(i - 1) % 2].buf, value);
        }
    }
    if (me != 0)
        pl_schedule_send(schedule, value, parent);
}

static void reduce_append_in_order(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size, bit;
    struct pl_partial partial = { reduce_accumulator(schedule, coll), pl_partial_operand(schedule, coll) };
    struct pl_block result = partial.value;

    append_input(schedule, coll, partial.value);
    for (bit = 1; bit < size && !(rank & bit); bit *= 2)
        if (rank + bit < size) {
            pl_schedule_recv(schedule, partial.operand, rank + bit);
            pl_schedule_wait(schedule);
            pl_partial_merge_right(schedule, coll->op, &partial);
        }
    if (rank != 0) {
        pl_schedule_send(schedule, partial.value, rank - bit);
        pl_schedule_wait(schedule);
    }
    if (coll->root != 0) {
        if (rank == 0)
            pl_schedule_send(schedule, partial.value, coll->root);
        else if (rank == coll->root)
            pl_schedule_recv(schedule, result, 0);
    } else if (rank == 0 && partial.value.buf != result.buf) {
        pl_schedule_copy(schedule, partial.value, result);
    }
}

/* Recursive halving has left part i at number i. From the lowest bit up, a rank whose number differs from the root's in
 * the bit sends what it has. */
static void append_gather_parts(struct pl_schedule *schedule, const struct pl_fold *fold, struct pl_block whole,
                                const MPI_Count *parts)
{
    int root = fold->root < 2 * fold->extra ? fold->root / 2 : fold->root - fold->extra;
    for (int bit = 1; parts && bit < fold->size; bit *= 2) {
        int mine = fold->rank & ~(bit - 1), other = mine ^ bit, peer = pl_fold_real(fold, fold->rank ^ bit);
        if ((fold->rank ^ root) & bit) {
            pl_schedule_send(schedule, pl_part(whole, parts, mine, mine + bit), peer);
            return;
        }
        pl_schedule_recv(schedule, pl_part(whole, parts, other, other + bit), peer);
        pl_schedule_wait(schedule);
    }
}

static void reduce_append_rabenseifner(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_fold fold = pl_fold_make(coll->comm->rank, coll->comm->size, coll->root);
    struct pl_partial partial = { reduce_accumulator(schedule, coll), pl_partial_operand(schedule, coll) };
    const void *mine = pl_partial_mine(schedule, coll, &partial);

    mine = pl_fold_in_segments(schedule, &fold, coll->op, &partial, mine);
    if (fold.rank < 0)
        return;
    MPI_Count *parts = pl_parts_make(schedule, coll->recvcount, fold.size);
    pl_append_halving(schedule, &fold, coll->op, &partial, mine, parts);
    append_gather_parts(schedule, &fold, partial.value, parts);
}

const struct pl_algorithm pl_reduce_binomial = { PL_COLL_REDUCE, "binomial", reduce_append_binomial, pl_coll_commutes };
const struct pl_algorithm pl_reduce_in_order = { PL_COLL_REDUCE, "in_order", reduce_append_in_order, NULL };
const struct pl_algorithm pl_reduce_rabenseifner = { PL_COLL_REDUCE, "rabenseifner", reduce_append_rabenseifner,
                                                     pl_coll_commutes };
