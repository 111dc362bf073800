/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduce. All ranks receive the same bits. Partners combine the same operands in the same order (recursive
 * doubling), all ranks combine those of all (linear), or one rank computes each part of the vector for all (the
 * others).
 *
 * Recursive doubling keeps the order of the ranks and serves every operation. Ring and Rabenseifner's algorithm, for
 * long vectors, move each byte about twice but need an operation that commutes. Reduce and broadcast is for long
 * vectors and operations that do not.
 */
#include "core/coll/algorithm.h"

static void allreduce_append_recursive_doubling(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_fold fold = pl_fold_make(coll->comm->rank, coll->comm->size, -1);
    struct pl_partial partial = pl_partial_make(schedule, coll, coll->recvbuf);
    struct pl_block result = partial.value;

    pl_fold_in(schedule, &fold, coll->op, &partial);
    for (int bit = 1; fold.rank >= 0 && bit < fold.size; bit *= 2) {
        int peer = pl_fold_real(&fold, fold.rank ^ bit);
        pl_schedule_recv(schedule, partial.operand, peer);
        pl_schedule_send(schedule, partial.value, peer);
        pl_schedule_wait(schedule);
        if (fold.rank & bit)
            pl_partial_merge_left(schedule, coll->op, &partial);
        else
            pl_partial_merge_right(schedule, coll->op, &partial);
    }
    pl_fold_out(schedule, &fold, partial.value);
    if (partial.value.buf != result.buf)
        pl_schedule_copy(schedule, partial.value, result);
}

static void allreduce_append_linear(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, last = coll->comm->size - 1;
    struct pl_block *from = pl_schedule_temp(schedule, (size_t)(last + 1) * sizeof *from);
    if (!from)
        return;
    for (int i = 0; i <= last; i++)
        from[i] = pl_schedule_temp_block(schedule, coll->recvcount, coll->recvtype);
    pl_schedule_copy(schedule, pl_coll_input(coll, coll->recvcount), from[rank]);
    for (int i = 0; i <= last; i++)
        if (i != rank)
            pl_schedule_recv(schedule, from[i], i);
    pl_append_to_all(schedule, coll->comm, from[rank]);
    pl_schedule_wait(schedule);
    for (int apart = 1; apart <= last; apart *= 2) /* as in a binomial tree, so that a reduce has the same bits */
        for (int i = 0; i + apart <= last; i += 2 * apart) {
            pl_schedule_reduce(schedule, coll->op, from[i].buf, from[i + apart]);
            from[i] = from[i + apart];
        }
    pl_schedule_copy(schedule, from[0], pl_coll_received(coll));
}

/* Part i goes around the ring to rank i - 1, which completes it, and once more around it, complete. */
static void allreduce_append_ring(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size, next = (rank + 1) % size, previous = (rank - 1 + size) % size;
    struct pl_block whole = pl_coll_received(coll);
    struct pl_partial partial = { whole, pl_coll_in_place(coll) ? pl_partial_operand(schedule, coll) : whole };
    struct pl_block mine = pl_block(pl_partial_mine(schedule, coll, &partial), whole.count, whole.type);
    MPI_Count *parts = pl_parts_make(schedule, coll->recvcount, size);
    if (!parts)
        return;

    for (int i = 0; i < size - 1; i++) {
        int out = (rank - i + size) % size, in = (rank - i - 1 + size) % size;
        pl_exchange_reduce(schedule, coll->op,
                           &(struct pl_reduce_exchange){ .out = pl_part(i == 0 ? mine : whole, parts, out, out + 1),
                                                         .dest = next,
                                                         .source = previous,
                                                         .inout = pl_part(whole, parts, in, in + 1),
                                                         .mine = pl_part(mine, parts, in, in + 1).buf,
                                                         .operand = pl_part(partial.operand, parts, in, in + 1).buf });
    }
    for (int i = 0; i < size - 1; i++) {
        int out = (rank + 1 - i + size) % size, in = (rank - i + size) % size;
        pl_schedule_recv(schedule, pl_part(whole, parts, in, in + 1), previous);
        int received = pl_schedule_mark(schedule);
        pl_schedule_send(schedule, pl_part(whole, parts, out, out + 1), next);
        pl_schedule_wait_until(schedule, received);
    }
}

static void allreduce_append_rabenseifner(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_fold fold = pl_fold_make(coll->comm->rank, coll->comm->size, -1);
    struct pl_partial partial = { pl_coll_received(coll), pl_partial_operand(schedule, coll) };
    const void *mine = pl_partial_mine(schedule, coll, &partial);

    mine = pl_fold_in_segments(schedule, &fold, coll->op, &partial, mine);
    if (fold.rank >= 0) {
        MPI_Count *parts = pl_parts_make(schedule, coll->recvcount, fold.size);
        pl_append_halving(schedule, &fold, coll->op, &partial, mine, parts);
        pl_append_doubling(schedule, &fold, partial.value, parts);
    }
    pl_fold_out(schedule, &fold, partial.value);
}

static void append_reduce_bcast(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_coll reduce = *coll, bcast = *coll;
    reduce.root = bcast.root = 0;
    if (coll->comm->rank != 0)
        reduce.sendbuf = pl_coll_input(coll, coll->recvcount).buf;
    pl_reduce_in_order.append(schedule, &reduce);
    pl_schedule_wait(schedule);
    pl_bcast_scatter_allgather.append(schedule, &bcast);
}

const struct pl_algorithm pl_allreduce_linear = { PL_COLL_ALLREDUCE, "linear", allreduce_append_linear, NULL };
const struct pl_algorithm pl_allreduce_recursive_doubling = { PL_COLL_ALLREDUCE, "recursive_doubling",
                                                              allreduce_append_recursive_doubling, NULL };
const struct pl_algorithm pl_allreduce_ring = { PL_COLL_ALLREDUCE, "ring", allreduce_append_ring, pl_coll_commutes };
const struct pl_algorithm pl_allreduce_rabenseifner = { PL_COLL_ALLREDUCE, "rabenseifner",
                                                        allreduce_append_rabenseifner, pl_coll_commutes };
const struct pl_algorithm pl_allreduce_reduce_bcast = { PL_COLL_ALLREDUCE, "reduce_bcast", append_reduce_bcast, NULL };
