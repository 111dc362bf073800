/* SPDX-License-Identifier: BSD-3-Clause */
/* What the algorithms of collectives share: blocks of the argument lists, folding, reductions in parts. */
#include "core/coll/algorithm.h"

/* --- data ------------------------------------------------------------------------------------------------------ */

/* The datatype of an empty block of alltoallw need not be valid. */
static struct pl_block block_of(const void *buf, MPI_Count count, MPI_Datatype handle)
{
    return count > 0 ? pl_block(buf, count, pl_type_from(handle)) : pl_block_bytes(buf, 0);
}

struct pl_block pl_send_block(const struct pl_coll *coll, int rank)
{
    const struct pl_type *type = coll->sendtype;
    if (coll->sendblocks)
        return coll->sendblocks[rank];
    if (coll->sendtypes)
        return block_of(pl_address(coll->sendbuf, pl_displ_at(coll->senddispls, rank)),
                        pl_count_at(coll->sendcounts, rank), coll->sendtypes[rank]);
    if (pl_has_counts(coll->sendcounts))
        return pl_block(pl_address(coll->sendbuf, pl_displ_at(coll->senddispls, rank) * type->extent),
                        pl_count_at(coll->sendcounts, rank), type);
    return pl_block(pl_address(coll->sendbuf, rank * coll->sendcount * type->extent), coll->sendcount, type);
}

struct pl_block pl_recv_block(const struct pl_coll *coll, int rank)
{
    const struct pl_type *type = coll->recvtype;
    if (coll->recvblocks)
        return coll->recvblocks[rank];
    if (coll->recvtypes)
        return block_of(pl_address(coll->recvbuf, pl_displ_at(coll->recvdispls, rank)),
                        pl_count_at(coll->recvcounts, rank), coll->recvtypes[rank]);
    if (pl_has_counts(coll->recvcounts))
        return pl_block(pl_address(coll->recvbuf, pl_displ_at(coll->recvdispls, rank) * type->extent),
                        pl_count_at(coll->recvcounts, rank), type);
    return pl_block(pl_address(coll->recvbuf, rank * coll->recvcount * type->extent), coll->recvcount, type);
}

bool pl_coll_commutes(const struct pl_coll *coll)
{
    return coll->op->commute;
}

bool pl_coll_depends_on_order(const struct pl_coll *coll)
{
    return coll->op && !pl_op_is_exact(coll->op, coll->recvtype);
}

bool pl_coll_is_power(const struct pl_coll *coll)
{
    return (coll->comm->size & (coll->comm->size - 1)) == 0;
}

/* --- folding --------------------------------------------------------------------------------------------------- */

int pl_fold_real(const struct pl_fold *fold, int number)
{
    if (number >= fold->extra)
        return number + fold->extra;
    return fold->root / 2 == number && fold->root >= 0 ? fold->root : 2 * number;
}

struct pl_fold pl_fold_make(int rank, int size, int root)
{
    struct pl_fold fold = { .size = pl_power_below(size), .root = root, .partner = -1 };
    fold.extra = size - fold.size;
    if (rank >= 2 * fold.extra) {
        fold.rank = rank - fold.extra;
        return fold;
    }
    fold.partner = rank ^ 1;
    fold.rank = pl_fold_real(&fold, rank / 2) == rank ? rank / 2 : -1;
    return fold;
}

void pl_fold_in(struct pl_schedule *schedule, const struct pl_fold *fold, const struct pl_op *op,
                struct pl_partial *partial)
{
    if (fold->partner < 0)
        return;
    if (fold->rank < 0) {
        pl_schedule_send(schedule, partial->value, fold->partner);
        pl_schedule_wait(schedule);
        return;
    }
    pl_schedule_recv(schedule, partial->operand, fold->partner);
    pl_schedule_wait(schedule);
    if (fold->partner & 1)
        pl_partial_merge_right(schedule, op, partial);
    else
        pl_partial_merge_left(schedule, op, partial);
}

void pl_fold_out(struct pl_schedule *schedule, const struct pl_fold *fold, struct pl_block result)
{
    if (fold->partner < 0)
        return;
    if (fold->rank < 0)
        pl_schedule_recv(schedule, result, fold->partner);
    else
        pl_schedule_send(schedule, result, fold->partner);
    pl_schedule_wait(schedule);
}

/* --- partial results ------------------------------------------------------------------------------------------- */

struct pl_block pl_partial_operand(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    return pl_schedule_temp_block(schedule, coll->comm->size > 1 ? coll->recvcount : 0, coll->recvtype);
}

struct pl_partial pl_partial_make(struct pl_schedule *schedule, const struct pl_coll *coll, void *result)
{
    struct pl_partial partial = {
        .value = pl_block(result, coll->recvcount, coll->recvtype),
        .operand = pl_partial_operand(schedule, coll),
    };
    struct pl_block input = pl_coll_input(coll, coll->recvcount);
    if (input.buf != result)
        pl_schedule_copy(schedule, input, partial.value);
    return partial;
}

void pl_partial_merge_left(struct pl_schedule *schedule, const struct pl_op *op, struct pl_partial *partial)
{
    pl_schedule_reduce(schedule, op, partial->operand.buf, partial->value);
}

void pl_partial_merge_right(struct pl_schedule *schedule, const struct pl_op *op, struct pl_partial *partial)
{
    pl_schedule_reduce(schedule, op, partial->value.buf, partial->operand);
    struct pl_block value = partial->operand;
    partial->operand = partial->value;
    partial->value = value;
}

/* --- reductions in parts --------------------------------------------------------------------------------------- */

MPI_Count *pl_parts_make(struct pl_schedule *schedule, MPI_Count count, int n)
{
    MPI_Count *parts = pl_schedule_temp(schedule, (size_t)(n + 1) * sizeof *parts);
    if (!parts)
        return NULL;
    MPI_Count each = count / n, longer = count % n;
    for (int i = 0; i <= n; i++)
        parts[i] = i * each + (i < longer ? i : longer);
    return parts;
}

/* docs/notes/collectives-by-messages.md has a measurement for two ranks. */
enum { SEGMENT = 128 * 1024, SEGMENTS_MAX = 16 };

int pl_segments(struct pl_block block)
{
    size_t n = pl_block_size(block) / SEGMENT + 1;
    if (n > SEGMENTS_MAX)
        n = SEGMENTS_MAX;
    return (MPI_Count)n > block.count ? (int)block.count : (int)n;
}

struct pl_block pl_segment(struct pl_block block, int i, int n)
{
    MPI_Count from = block.count / n * i, to = i == n - 1 ? block.count : block.count / n * (i + 1);
    return pl_block_slice(block, from, to - from);
}

void pl_exchange_reduce(struct pl_schedule *schedule, const struct pl_op *op, const struct pl_reduce_exchange *exchange)
{
    struct pl_block out = exchange->out, inout = exchange->inout;
    int incoming = pl_segments(inout), outgoing = pl_segments(out), begin = pl_schedule_mark(schedule);
    bool is_there = exchange->mine == inout.buf;
    struct pl_block received = pl_block(is_there ? exchange->operand : inout.buf, inout.count, inout.type);
    struct pl_block in = pl_block(is_there ? exchange->operand : exchange->mine, inout.count, inout.type);

    for (int i = 0; i < incoming; i++)
        pl_schedule_recv(schedule, pl_segment(received, i, incoming), exchange->source);
    for (int i = 0; i < outgoing; i++)
        pl_schedule_send(schedule, pl_segment(out, i, outgoing), exchange->dest);
    for (int i = 0; i < incoming; i++) {
        pl_schedule_wait_until(schedule, begin + i + 1);
        pl_schedule_reduce(schedule, op, pl_segment(in, i, incoming).buf, pl_segment(inout, i, incoming));
    }
    pl_schedule_wait(schedule);
}

const void *pl_partial_mine(struct pl_schedule *schedule, const struct pl_coll *coll, const struct pl_partial *partial)
{
    struct pl_block input = pl_coll_input(coll, partial->value.count);
    if (coll->comm->size > 1)
        return input.buf;
    if (input.buf != partial->value.buf)
        pl_schedule_copy(schedule, input, partial->value);
    return partial->value.buf;
}

const void *pl_fold_in_segments(struct pl_schedule *schedule, const struct pl_fold *fold, const struct pl_op *op,
                                const struct pl_partial *partial, const void *mine)
{
    struct pl_block whole = partial->value, nothing = pl_block_slice(whole, 0, 0);
    if (fold->partner < 0)
        return mine;
    struct pl_reduce_exchange exchange = {
        .out = nothing, .dest = fold->partner, .source = fold->partner, .inout = nothing
    };
    if (fold->rank < 0) {
        exchange.out = pl_block(mine, whole.count, whole.type);
    } else {
        exchange.inout = whole;
        exchange.mine = mine;
        exchange.operand = partial->operand.buf;
    }
    pl_exchange_reduce(schedule, op, &exchange);
    return whole.buf;
}

void pl_append_halving(struct pl_schedule *schedule, const struct pl_fold *fold, const struct pl_op *op,
                       const struct pl_partial *partial, const void *mine, const MPI_Count *parts)
{
    int low = 0, high = fold->size;
    if (!parts)
        return;
    for (int bit = fold->size / 2; bit > 0; bit /= 2) {
        int middle = low + bit, peer = pl_fold_real(fold, fold->rank ^ bit);
        bool upper = fold->rank & bit;
        struct pl_block whole = pl_block(mine, partial->value.count, partial->value.type);
        struct pl_block give = upper ? pl_part(whole, parts, low, middle) : pl_part(whole, parts, middle, high);
        if (upper)
            low = middle;
        else
            high = middle;
        pl_exchange_reduce(schedule, op,
                           &(struct pl_reduce_exchange){ .out = give,
                                                         .dest = peer,
                                                         .source = peer,
                                                         .inout = pl_part(partial->value, parts, low, high),
                                                         .mine = pl_part(whole, parts, low, high).buf,
                                                         .operand = pl_part(partial->operand, parts, low, high).buf });
        mine = partial->value.buf;
    }
}

void pl_append_doubling(struct pl_schedule *schedule, const struct pl_fold *fold, struct pl_block whole,
                        const MPI_Count *parts)
{
    if (!parts)
        return;
    for (int bit = 1; bit < fold->size; bit *= 2) {
        int mine = fold->rank & ~(bit - 1), other = mine ^ bit, peer = pl_fold_real(fold, fold->rank ^ bit);
        pl_schedule_recv(schedule, pl_part(whole, parts, other, other + bit), peer);
        pl_schedule_send(schedule, pl_part(whole, parts, mine, mine + bit), peer);
        pl_schedule_wait(schedule);
    }
}
