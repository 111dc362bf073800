/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce. Binomial numbers the ranks from the root, and so needs an operation that commutes. In_order is a tree over
 * the ranks as they are, whose root, rank 0, passes the result on. Rabenseifner's algorithm is for long vectors: the
 * reduction is scattered by recursive halving, then gathered at the root. A chain is for long vectors on few ranks:
 * each rank receives and sends the vector once, in segments.
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

/* --- chain: each rank adds its operand to what the rank before it has; the root is the last ----------------------- */

enum { AHEAD = 2, BUFFERS = 2 * AHEAD }; /* segments that are received before one is combined, and those in memory */

struct chain {
    struct pl_block input, result; /* result: at the root */
    struct pl_block buffer[BUFFERS];
    int segments;
    bool is_root, direct; /* direct: segments are received into the result */
};

static struct pl_block chain_received(const struct chain *chain, int i)
{
    struct pl_block own = pl_segment(chain->direct ? chain->result : chain->input, i, chain->segments);
    return chain->direct ? own : pl_block(chain->buffer[i % BUFFERS].buf, own.count, own.type);
}

/* The result is where a segment was received, or in the result of the root's MPI_IN_PLACE. */
static void chain_combine(struct pl_schedule *schedule, const struct pl_coll *coll, const struct chain *chain, int i)
{
    struct pl_block own = pl_segment(chain->input, i, chain->segments), received = chain_received(chain, i);
    if (chain->is_root && !chain->direct)
        pl_schedule_reduce(schedule, coll->op, received.buf, own);
    else
        pl_schedule_reduce(schedule, coll->op, own.buf, received);
}

static void chain_append_middle(struct pl_schedule *schedule, const struct pl_coll *coll, const struct chain *chain,
                                int previous, int next)
{
    int received[BUFFERS], sent[BUFFERS], n = chain->segments; /* marks */
    for (int i = 0; i < n + AHEAD; i++) {
        int done = i - AHEAD;
        if (done >= 0) {
            pl_schedule_wait_until(schedule, received[done % BUFFERS]);
            chain_combine(schedule, coll, chain, done);
            if (!chain->is_root)
                pl_schedule_send(schedule, chain_received(chain, done), next);
            sent[done % BUFFERS] = pl_schedule_mark(schedule);
        }
        if (i >= n)
            continue;
        if (i >= BUFFERS)
            pl_schedule_wait_until(schedule, sent[i % BUFFERS]);
        pl_schedule_recv(schedule, chain_received(chain, i), previous);
        received[i % BUFFERS] = pl_schedule_mark(schedule);
    }
}

static void reduce_append_chain(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int size = coll->comm->size, me = pl_rank_from(coll->root, coll->comm->rank, size);
    int next = pl_rank_back(coll->root, me + 1, size), previous = pl_rank_back(coll->root, me - 1 + size, size);
    struct chain chain = { .input = pl_coll_input(coll, coll->recvcount),
                           .result = pl_coll_received(coll),
                           .is_root = me == 0,
                           .direct = me == 0 && !pl_coll_in_place(coll) };
    chain.segments = coll->recvcount ? pl_segments(chain.input) : 1;
    if (size == 1) {
        append_input(schedule, coll, chain.result);
    } else if (me == 1) {
        for (int i = 0; i < chain.segments; i++)
            pl_schedule_send(schedule, pl_segment(chain.input, i, chain.segments), next);
    } else {
        MPI_Count longest = pl_segment(chain.input, chain.segments - 1, chain.segments).count;
        for (int i = 0; i < BUFFERS && i < chain.segments && !chain.direct; i++)
            chain.buffer[i] = pl_schedule_temp_block(schedule, longest, coll->recvtype);
        chain_append_middle(schedule, coll, &chain, previous, next);
    }
}

const struct pl_algorithm pl_reduce_binomial = { PL_COLL_REDUCE, "binomial", reduce_append_binomial, pl_coll_commutes };
const struct pl_algorithm pl_reduce_in_order = { PL_COLL_REDUCE, "in_order", reduce_append_in_order, NULL };
const struct pl_algorithm pl_reduce_rabenseifner = { PL_COLL_REDUCE, "rabenseifner", reduce_append_rabenseifner,
                                                     pl_coll_commutes };
const struct pl_algorithm pl_reduce_chain = { PL_COLL_REDUCE, "chain", reduce_append_chain, pl_coll_commutes };
