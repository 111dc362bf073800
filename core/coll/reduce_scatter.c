/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce_scatter, with parts of one length or of different lengths. Recursive halving and pairwise exchange need an
 * operation that commutes. In_order sends all contributions to the part's owner, which combines them in the order of
 * the ranks.
 */
#include "core/coll/algorithm.h"

/* Where each rank's part begins in the vector: [size + 1]. NULL: the schedule is broken. */
static MPI_Count *parts_of(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int size = coll->comm->size;
    MPI_Count *parts = pl_schedule_temp(schedule, (size_t)(size + 1) * sizeof *parts);
    if (!parts)
        return NULL;
    parts[0] = 0;
    for (int i = 0; i < size; i++)
        parts[i + 1] =
            parts[i] + (pl_has_counts(coll->recvcounts) ? pl_count_at(coll->recvcounts, i) : coll->recvcount);
    return parts;
}

/* The parts of the ranks that go on after a fold: a pair's two parts are one. */
static MPI_Count *folded_parts(struct pl_schedule *schedule, const struct pl_fold *fold, const MPI_Count *parts,
                               int size)
{
    MPI_Count *folded = pl_schedule_temp(schedule, (size_t)(fold->size + 1) * sizeof *folded);
    for (int i = 0; folded && i <= fold->size; i++)
        folded[i] = parts[i == fold->size ? size : i < fold->extra ? 2 * i : i + fold->extra];
    return folded;
}

static void append_recursive_halving(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    struct pl_fold fold = pl_fold_make(rank, size, -1);
    MPI_Count *parts = parts_of(schedule, coll), *folded = parts ? folded_parts(schedule, &fold, parts, size) : NULL;
    if (!folded)
        return;
    struct pl_partial partial = {
        pl_schedule_temp_block(schedule, parts[size], coll->recvtype),
        pl_schedule_temp_block(schedule, parts[size], coll->recvtype),
    };
    struct pl_block own = pl_part(partial.value, parts, rank, rank + 1),
                    result = pl_block(coll->recvbuf, own.count, coll->recvtype);

    const void *mine = pl_partial_mine(schedule, coll, &partial);
    mine = pl_fold_in_segments(schedule, &fold, coll->op, &partial, mine);
    if (fold.rank < 0) {
        pl_schedule_recv(schedule, result, fold.partner);
        return;
    }
    pl_append_halving(schedule, &fold, coll->op, &partial, mine, folded);
    if (fold.partner >= 0)
        pl_schedule_send(schedule, pl_part(partial.value, parts, fold.partner, fold.partner + 1), fold.partner);
    pl_schedule_copy(schedule, own, result);
}

/* Two buffers for operands: one is received while the other is combined. They are one allocation, since malloc()
 * returns two, side by side at the end of its heap, to the kernel each time. Two ranks exchange in segments. */
static void reduce_scatter_append_pairwise(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    MPI_Count *parts = parts_of(schedule, coll);
    if (!parts)
        return;
    struct pl_block input = pl_coll_input(coll, parts[size]), own = pl_part(input, parts, rank, rank + 1), operands[2];
    struct pl_block result = pl_block(coll->recvbuf, own.count, coll->recvtype);
    struct pl_block value = pl_coll_in_place(coll) ? pl_schedule_temp_block(schedule, own.count, own.type) : result;

    if (size == 2) {
        pl_exchange_reduce(schedule, coll->op,
                           &(struct pl_reduce_exchange){ .out = pl_part(input, parts, 1 - rank, 2 - rank),
                                                         .dest = 1 - rank,
                                                         .source = 1 - rank,
                                                         .inout = value,
                                                         .mine = own.buf });
        if (value.buf != result.buf)
            pl_schedule_copy(schedule, value, result);
        return;
    }
    struct pl_block memory = pl_schedule_temp_block(schedule, size > 1 ? 2 * own.count : 0, own.type);
    for (int i = 0; i < 2 && size > 1; i++)
        operands[i] = pl_block_slice(memory, i * own.count, own.count);
    pl_schedule_copy(schedule, own, value);
    int received = 0; /* mark behind the receive of the step before */
    for (int i = 1; i <= size; i++) {
        int before = received;
        if (i < size) {
            int to = (rank + i) % size;
            pl_schedule_recv(schedule, operands[i % 2], (rank - i + size) % size);
            received = pl_schedule_mark(schedule);
            pl_schedule_send(schedule, pl_part(input, parts, to, to + 1), to);
        }
        if (i > 1) {
            pl_schedule_wait_until(schedule, before);
            pl_schedule_reduce(schedule, coll->op, operands[(i - 1) % 2].buf, value);
        }
    }
    if (value.buf != result.buf) {
        pl_schedule_wait(schedule);
        pl_schedule_copy(schedule, value, result);
    }
}

static void reduce_scatter_append_in_order(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    MPI_Count *parts = parts_of(schedule, coll);
    if (!parts)
        return;
    struct pl_block input = pl_coll_input(coll, parts[size]), own = pl_part(input, parts, rank, rank + 1);
    struct pl_block all = pl_schedule_temp_block(schedule, own.count * size, own.type);

    for (int i = 1; i < size; i++) {
        int from = (rank - i + size) % size;
        pl_schedule_recv(schedule, pl_block_slice(all, from * own.count, own.count), from);
    }
    for (int i = 1; i < size; i++) {
        int to = (rank + i) % size;
        pl_schedule_send(schedule, pl_part(input, parts, to, to + 1), to);
    }
    pl_schedule_copy(schedule, own, pl_block_slice(all, rank * own.count, own.count));
    pl_schedule_wait(schedule);
    struct pl_block value = pl_block_slice(all, (size - 1) * own.count, own.count);
    for (int i = size - 2; i >= 0; i--)
        pl_schedule_reduce(schedule, coll->op, pl_block_slice(all, i * own.count, own.count).buf, value);
    pl_schedule_copy(schedule, value, pl_block(coll->recvbuf, own.count, coll->recvtype));
}

#define BOTH(name, append, fits)                                                                                       \
    const struct pl_algorithm pl_reduce_scatter_##name = { PL_COLL_REDUCE_SCATTER, #name, append, fits };              \
    const struct pl_algorithm pl_reduce_scatter_block_##name = { PL_COLL_REDUCE_SCATTER_BLOCK, #name, append, fits };
BOTH(recursive_halving, append_recursive_halving, pl_coll_commutes)
BOTH(pairwise, reduce_scatter_append_pairwise, pl_coll_commutes)
BOTH(in_order, reduce_scatter_append_in_order, NULL)
