/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatters by a node hierarchy: gathers (gather.c) the other way round. The root sends each node's blocks to its leader
 * in one message. That of a scatterv begins with the amounts; longer blocks go to their ranks without the leader.
 */
#include "core/coll/hierarchy/scatter.h"

#include <stdlib.h>

#include "core/coll/area/call.h"
#include "core/coll/schedule.h"

static void scatter_at_root(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    int first = pl_hierarchy_first(hierarchy, hierarchy->node);
    struct pl_coll out = *coll;
    out.root = coll->root - first;
    if (coll->comm->rank == coll->root) {
        out.sendbuf = pl_send_block(coll, first).buf;
        if (pl_has_counts(coll->sendcounts)) {
            out.sendbuf = coll->sendbuf;
            out.sendcounts = pl_counts_from(coll->sendcounts, first);
            out.senddispls = pl_displs_from(coll->senddispls, first);
        }
    }
    if (!hierarchy->here && coll->recvbuf != MPI_IN_PLACE) {
        struct pl_block own = pl_send_block(coll, first);
        pl_hierarchy_copy(call, own, pl_coll_received(coll));
    }
    pl_hierarchy_step(call, hierarchy->here, out);
}

/* --- scatter ------------------------------------------------------------------------------------------------------ */

static void scatter_send(struct pl_hierarchy_call *call, int tag)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct pl_schedule own, *schedule = pl_hierarchy_begin(call, &own, tag);
    for (int node = 0; node < hierarchy->run_count; node++) {
        int first = pl_hierarchy_first(hierarchy, node);
        struct pl_block blocks = pl_send_block(coll, first);
        blocks.count *= pl_hierarchy_ranks(hierarchy, node);
        if (node != hierarchy->node)
            pl_schedule_send(schedule, blocks, first);
    }
    pl_hierarchy_run(call, schedule);
}

/* `part`: the root sends more. */
static void scatter_receive(struct pl_hierarchy_call *call, int tag, struct pl_block blocks, bool exact, bool part)
{
    struct pl_schedule own, *schedule = pl_hierarchy_begin(call, &own, tag);
    schedule->exact = exact;
    schedule->part = part;
    pl_schedule_recv(schedule, blocks, call->coll->root);
    pl_hierarchy_run(call, schedule);
}

static void scatter_at_leader(struct pl_hierarchy_call *call, int tag)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    size_t each = pl_block_size(pl_coll_received(coll)), ranks = (size_t)pl_hierarchy_ranks(hierarchy, hierarchy->node);
    struct pl_hierarchy_buffer buffer;
    struct pl_coll out = *coll;
    void *blocks = pl_hierarchy_borrow(call, &buffer, hierarchy->here && hierarchy->leaders ? ranks * each : 0);
    if (!blocks)
        return;
    if (hierarchy->leaders)
        scatter_receive(call, tag, hierarchy->here ? pl_block_bytes(blocks, ranks * each) : pl_coll_received(coll),
                        true, false);
    out.root = 0;
    out.sendbuf = blocks;
    out.sendcount = (MPI_Count)each;
    out.sendtype = PL_TYPE_BYTE;
    pl_hierarchy_step(call, hierarchy->here, out);
    pl_hierarchy_return(&buffer);
}

void pl_hierarchy_scatter(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    int tag = pl_hierarchy_tag(call);
    if (call->hierarchy->node != pl_hierarchy_node_of(call->hierarchy, coll->root)) {
        scatter_at_leader(call, tag);
        return;
    }
    if (coll->comm->rank == coll->root)
        scatter_send(call, tag);
    scatter_at_root(call);
}

/* --- scatterv ----------------------------------------------------------------------------------------------------- */

/* Appends the message of a node, and those of its ranks that get theirs without the leader. */
static void scatterv_append(struct pl_schedule *schedule, const struct pl_coll *coll, int first, int ranks)
{
    size_t head = (size_t)ranks * sizeof(uint32_t), all = head, bytes;
    for (int i = first; i < first + ranks; i++)
        if ((bytes = pl_block_size(pl_send_block(coll, i))) <= PL_HIERARCHY_BLOCK)
            all += bytes;
    char *message = pl_schedule_temp(schedule, all), *data = message + head;
    if (!message)
        return;
    for (int i = 0; i < ranks; i++) {
        struct pl_block block = pl_send_block(coll, first + i);
        bytes = pl_block_size(block);
        uint32_t amount = bytes <= PL_HIERARCHY_BLOCK ? (uint32_t)bytes : PL_HIERARCHY_DIRECT;
        memcpy(message + (size_t)i * sizeof amount, &amount, sizeof amount);
        if (amount == PL_HIERARCHY_DIRECT)
            continue;
        pl_type_copy(block.buf, block.count, block.type, data, amount, PL_TYPE_BYTE);
        data += amount;
    }
    pl_schedule_send(schedule, pl_block_bytes(message, all), first);
    for (int i = first; i < first + ranks; i++)
        if (pl_block_size(pl_send_block(coll, i)) > PL_HIERARCHY_BLOCK)
            pl_schedule_send(schedule, pl_send_block(coll, i), i);
}

static void scatterv_send(struct pl_hierarchy_call *call, int tag)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct pl_schedule schedule;
    pl_schedule_init(&schedule, call->coll->comm, tag);
    for (int node = 0; node < hierarchy->run_count; node++)
        if (node != hierarchy->node)
            scatterv_append(&schedule, call->coll, pl_hierarchy_first(hierarchy, node),
                            pl_hierarchy_ranks(hierarchy, node));
    pl_hierarchy_run(call, &schedule);
}

/* Scatters the amounts, and then the data. This rank's amount. */
static uint32_t scatterv_spread(struct pl_hierarchy_call *call, struct pl_hierarchy_blocks *blocks)
{
    const struct pl_coll *coll = call->coll;
    struct pl_comm *here = call->hierarchy->here;
    uint32_t amount = 0;
    pl_hierarchy_step(call, here,
                      (struct pl_coll){ .kind = PL_COLL_SCATTER,
                                        .sendbuf = blocks->amounts,
                                        .sendcount = sizeof amount,
                                        .sendtype = PL_TYPE_BYTE,
                                        .recvbuf = &amount,
                                        .recvcount = sizeof amount,
                                        .recvtype = PL_TYPE_BYTE });
    pl_hierarchy_blocks_place(call, blocks);
    pl_hierarchy_step(call, here,
                      (struct pl_coll){ .kind = PL_COLL_SCATTERV,
                                        .sendbuf = blocks->data,
                                        .sendtype = PL_TYPE_BYTE,
                                        .sendcounts.wide = blocks->counts,
                                        .senddispls.wide = blocks->displs,
                                        .recvbuf = coll->recvbuf,
                                        .recvcount = amount == PL_HIERARCHY_DIRECT ? 0 : coll->recvcount,
                                        .recvtype = coll->recvtype });
    return amount;
}

/* The root gives this rank more than it expects, which a leader does not see when it copies its own block. */
static void scatterv_check(struct pl_hierarchy_call *call, uint32_t amount)
{
    size_t expected = pl_block_size(pl_coll_received(call->coll));
    if (pl_hierarchy_may_continue(call) && amount != PL_HIERARCHY_DIRECT && amount > expected)
        call->rc = pl_coll_fail_amount(call->coll->root, amount, expected);
}

/* The message of a node of one rank is for that rank. */
static void scatterv_unpack(const struct pl_hierarchy_call *call, uint32_t amount, const char *data)
{
    struct pl_block block = pl_coll_received(call->coll);
    if (amount <= PL_HIERARCHY_BLOCK)
        pl_type_copy(data, amount, PL_TYPE_BYTE, block.buf, block.count, block.type);
}

static void scatterv_at_leader(struct pl_hierarchy_call *call, int tag)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    uint32_t amount = 0;
    struct pl_hierarchy_blocks blocks;
    if (!pl_hierarchy_blocks_make(call, &blocks))
        return;
    if (hierarchy->leaders)
        scatter_receive(call, tag, pl_block_bytes(blocks.amounts, blocks.most), false, true);
    if (hierarchy->here) {
        amount = scatterv_spread(call, &blocks);
    } else if (call->rc == MPI_SUCCESS) {
        amount = *blocks.amounts;
        scatterv_unpack(call, amount, blocks.data);
    }
    scatterv_check(call, amount);
    if (amount == PL_HIERARCHY_DIRECT)
        scatter_receive(call, tag, pl_coll_received(call->coll), false, false);
    free(blocks.memory);
}

void pl_hierarchy_scatterv(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    int tag = pl_hierarchy_tag(call);
    if (call->hierarchy->node != pl_hierarchy_node_of(call->hierarchy, coll->root)) {
        scatterv_at_leader(call, tag);
        return;
    }
    if (coll->comm->rank == coll->root)
        scatterv_send(call, tag);
    scatter_at_root(call);
}
