/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan and exscan, in the order of the ranks. Doubling: in step k each rank sends its partial result, over the 2^k
 * ranks up to itself, 2^k ranks up. Linear: from rank to rank, in segments.
 *
 * Exscan by doubling is a scan over ranks 1 and up, of the input of the rank below.
 */
#include "core/coll/algorithm.h"

/* A scan over the ranks from `first` on; `value` is this rank's input and becomes its result. */
static void append_upward(struct pl_schedule *schedule, const struct pl_coll *coll, int first,
                          struct pl_partial *partial)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    for (int distance = 1; distance < size - first; distance *= 2) {
        bool below = rank - distance >= first;
        if (below)
            pl_schedule_recv(schedule, partial->operand, rank - distance);
        if (rank + distance < size)
            pl_schedule_send(schedule, partial->value, rank + distance);
        pl_schedule_wait(schedule);
        if (below)
            pl_partial_merge_left(schedule, coll->op, partial);
    }
}

static void append_scan_doubling(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_partial partial = pl_partial_make(schedule, coll, coll->recvbuf);
    append_upward(schedule, coll, 0, &partial);
}

/* Half as many as in other reductions: data flows in one direction only, so that less overlaps. */
static int scan_segments(struct pl_block vector)
{
    int n = pl_segments(vector);
    return n > 1 ? n / 2 : 1;
}

/* From the rank before: each segment, combined with the sum, goes on to the next rank. */
static void append_along(struct pl_schedule *schedule, const struct pl_coll *coll, struct pl_block received,
                         struct pl_block sum)
{
    int rank = coll->comm->rank, n = scan_segments(sum), begin = pl_schedule_mark(schedule);
    bool last = rank == coll->comm->size - 1;
    for (int i = 0; i < n && rank > 0; i++)
        pl_schedule_recv(schedule, pl_segment(received, i, n), rank - 1);
    for (int i = 0; i < n; i++) {
        if (rank > 0) {
            pl_schedule_wait_until(schedule, begin + i + 1);
            if (!last || coll->kind == PL_COLL_SCAN)
                pl_schedule_reduce(schedule, coll->op, pl_segment(received, i, n).buf, pl_segment(sum, i, n));
        }
        if (!last)
            pl_schedule_send(schedule, pl_segment(sum, i, n), rank + 1);
    }
}

static void append_scan_linear(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_partial partial = pl_partial_make(schedule, coll, coll->recvbuf);
    append_along(schedule, coll, partial.operand, partial.value);
}

static void append_exscan_doubling(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    struct pl_partial partial = { pl_coll_received(coll), pl_partial_operand(schedule, coll) };
    struct pl_block input = pl_coll_input(coll, coll->recvcount);

    if (pl_coll_in_place(coll)) {
        pl_schedule_copy(schedule, input, partial.operand);
        input = partial.operand;
    }
    if (rank > 0)
        pl_schedule_recv(schedule, partial.value, rank - 1);
    if (rank < size - 1)
        pl_schedule_send(schedule, input, rank + 1);
    pl_schedule_wait(schedule);
    if (rank > 0)
        append_upward(schedule, coll, 1, &partial);
}

static void append_exscan_linear(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_block sum = pl_schedule_temp_block(schedule, coll->recvcount, coll->recvtype);
    pl_schedule_copy(schedule, pl_coll_input(coll, coll->recvcount), sum);
    append_along(schedule, coll, pl_coll_received(coll), sum);
}

const struct pl_algorithm pl_scan_doubling = { PL_COLL_SCAN, "doubling", append_scan_doubling, NULL };
const struct pl_algorithm pl_scan_linear = { PL_COLL_SCAN, "linear", append_scan_linear, NULL };
const struct pl_algorithm pl_exscan_doubling = { PL_COLL_EXSCAN, "doubling", append_exscan_doubling, NULL };
const struct pl_algorithm pl_exscan_linear = { PL_COLL_EXSCAN, "linear", append_exscan_linear, NULL };
