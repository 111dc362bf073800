/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall in its three kinds. Linear starts all messages at once; pairwise has one partner in each direction at a
 * time; exchange, for MPI_IN_PLACE, swaps with one partner at a time through a copy of one block. Bruck's algorithm,
 * for short blocks of one length, takes log(size) messages of packed blocks; a block moves once for each bit of its
 * distance.
 *
 * Empty blocks send no message: both sides know that they are empty.
 */
#include "core/coll/algorithm.h"

static void send_to(struct pl_schedule *schedule, const struct pl_coll *coll, int rank)
{
    struct pl_block block = pl_send_block(coll, rank);
    if (pl_block_size(block) > 0)
        pl_schedule_send(schedule, block, rank);
}

static void receive_from(struct pl_schedule *schedule, const struct pl_coll *coll, int rank)
{
    struct pl_block block = pl_recv_block(coll, rank);
    if (pl_block_size(block) > 0)
        pl_schedule_recv(schedule, block, rank);
}

static void alltoall_append_own(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    pl_schedule_copy(schedule, pl_send_block(coll, coll->comm->rank), pl_recv_block(coll, coll->comm->rank));
}

static void alltoall_append_linear(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    for (int i = 1; i < size; i++)
        receive_from(schedule, coll, (rank - i + size) % size);
    for (int i = 1; i < size; i++)
        send_to(schedule, coll, (rank + i) % size);
    alltoall_append_own(schedule, coll);
}

static void alltoall_append_pairwise(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    alltoall_append_own(schedule, coll);
    for (int i = 1; i < size; i++) {
        receive_from(schedule, coll, (rank - i + size) % size);
        send_to(schedule, coll, (rank + i) % size);
        pl_schedule_wait(schedule);
    }
}

/* In step i the partner of `rank` is i - rank, whose partner is `rank`. */
static void alltoall_append_exchange(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    size_t longest = 0;
    for (int i = 0; i < size; i++) {
        size_t bytes = pl_block_size(pl_recv_block(coll, i));
        if (i != rank && bytes > longest)
            longest = bytes;
    }
    unsigned char *copy = pl_schedule_temp(schedule, longest);
    for (int i = 0; i < size; i++) {
        int partner = (i - rank + size) % size;
        struct pl_block block = pl_recv_block(coll, partner), out = pl_block_bytes(copy, pl_block_size(block));
        if (partner == rank || pl_block_size(block) == 0)
            continue;
        pl_schedule_copy(schedule, block, out);
        pl_schedule_recv(schedule, block, partner);
        pl_schedule_send(schedule, out, partner);
        pl_schedule_wait(schedule);
    }
}

/* Copies the blocks whose distance has this bit from the table to a message, or back. Returns their number. */
static int append_selected(struct pl_schedule *schedule, unsigned char *table, unsigned char *message, size_t each,
                           int size, int bit, bool out)
{
    int n = 0;
    for (int i = bit; i < size; i++)
        if (i & bit) {
            struct pl_block in_table = pl_packed(table, each, i, 1);
            struct pl_block in_message = pl_packed(message, each, n++, 1);
            pl_schedule_copy(schedule, out ? in_table : in_message, out ? in_message : in_table);
        }
    return n;
}

static void alltoall_append_bruck(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int rank = coll->comm->rank, size = coll->comm->size;
    size_t each = pl_block_size(pl_send_block(coll, 0)), half = (size_t)((size + 1) / 2) * each;
    unsigned char *table = pl_schedule_temp(schedule, (size_t)size * each); /* by distance still to go */
    unsigned char *out = pl_schedule_temp(schedule, half), *in = pl_schedule_temp(schedule, half);

    for (int i = 0; i < size; i++)
        pl_schedule_copy(schedule, pl_send_block(coll, (rank + i) % size), pl_packed(table, each, i, 1));
    for (int bit = 1; bit < size; bit *= 2) {
        size_t bytes = (size_t)append_selected(schedule, table, out, each, size, bit, true) * each;
        pl_schedule_recv(schedule, pl_block_bytes(in, bytes), (rank - bit + size) % size);
        pl_schedule_send(schedule, pl_block_bytes(out, bytes), (rank + bit) % size);
        pl_schedule_wait(schedule);
        append_selected(schedule, table, in, each, size, bit, false);
    }
    for (int i = 0; i < size; i++)
        pl_schedule_copy(schedule, pl_packed(table, each, i, 1), pl_recv_block(coll, (rank - i + size) % size));
}

static bool not_in_place(const struct pl_coll *coll)
{
    return !pl_coll_in_place(coll);
}

const struct pl_algorithm pl_alltoall_bruck = { PL_COLL_ALLTOALL, "bruck", alltoall_append_bruck, not_in_place };
const struct pl_algorithm pl_alltoall_pairwise = { PL_COLL_ALLTOALL, "pairwise", alltoall_append_pairwise,
                                                   not_in_place };
const struct pl_algorithm pl_alltoall_linear = { PL_COLL_ALLTOALL, "linear", alltoall_append_linear, not_in_place };
const struct pl_algorithm pl_alltoall_exchange = { PL_COLL_ALLTOALL, "exchange", alltoall_append_exchange,
                                                   pl_coll_in_place };
const struct pl_algorithm pl_alltoallv_pairwise = { PL_COLL_ALLTOALLV, "pairwise", alltoall_append_pairwise,
                                                    not_in_place };
const struct pl_algorithm pl_alltoallv_linear = { PL_COLL_ALLTOALLV, "linear", alltoall_append_linear, not_in_place };
const struct pl_algorithm pl_alltoallv_exchange = { PL_COLL_ALLTOALLV, "exchange", alltoall_append_exchange,
                                                    pl_coll_in_place };
const struct pl_algorithm pl_alltoallw_pairwise = { PL_COLL_ALLTOALLW, "pairwise", alltoall_append_pairwise,
                                                    not_in_place };
const struct pl_algorithm pl_alltoallw_linear = { PL_COLL_ALLTOALLW, "linear", alltoall_append_linear, not_in_place };
const struct pl_algorithm pl_alltoallw_exchange = { PL_COLL_ALLTOALLW, "exchange", alltoall_append_exchange,
                                                    pl_coll_in_place };
