/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans by a node hierarchy whose nodes' ranks follow each other. A scan within the node gives its last rank the
 * node's total. The first rank of the next node gets the reduction of all nodes before it, and tells it to its node,
 * whose ranks combine it with theirs.
 *
 * A rank waits for lower ranks only. So in many scans in a row each rank runs ahead of the next, and they take as long
 * as the rank with the most work takes for its own. That needs totals to go from last ranks to first ranks: a leader
 * that collected the total of its node would wait for the ranks that wait for it.
 *
 * Few nodes are a chain: the last rank adds what came from the nodes before to its node's total and sends that on. It
 * is one message a node. Of many nodes the totals go to the next first ranks at once, and these scan them by doubling.
 */
#include "core/coll/hierarchy/scan.h"

#include "core/coll/area/call.h"
#include "core/coll/schedule.h"

enum { CHAIN = 8 /* nodes, up to which they are a chain */ };

/* The first rank of each node except the first scans the totals of the nodes before: in step k it sends its partial
 * result 2^k nodes up. */
static void append_doubling(struct pl_schedule *schedule, const struct pl_hierarchy_call *call,
                            struct pl_partial *partial)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    int node = hierarchy->node, count = hierarchy->run_count;
    for (int distance = 1; distance < count - 1; distance *= 2) {
        bool below = node - distance >= 1;
        if (below)
            pl_schedule_recv(schedule, partial->operand, pl_hierarchy_first(hierarchy, node - distance));
        if (node + distance < count)
            pl_schedule_send(schedule, partial->value, pl_hierarchy_first(hierarchy, node + distance));
        pl_schedule_wait(schedule);
        if (below)
            pl_partial_merge_left(schedule, call->coll->op, partial);
    }
}

/* The first rank of a node: what the nodes before it have. */
static void receive_before(struct pl_hierarchy_call *call, int tag, struct pl_block before)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct pl_schedule own, *schedule = pl_hierarchy_begin(call, &own, tag);
    schedule->part = true; /* this rank may be the last one of its node, too */
    schedule->exact = true;
    pl_schedule_recv(schedule, before, pl_hierarchy_last(hierarchy, hierarchy->node - 1));
    if (hierarchy->run_count > CHAIN) {
        struct pl_partial partial = { before, pl_partial_operand(schedule, call->coll) };
        pl_schedule_wait(schedule);
        append_doubling(schedule, call, &partial);
    }
    pl_hierarchy_run(call, schedule);
}

/* The last rank of a node: its total, or that of all up to this node. */
static void send_total(struct pl_hierarchy_call *call, int tag, struct pl_block total)
{
    struct pl_schedule own, *schedule = pl_hierarchy_begin(call, &own, tag);
    schedule->part = true;
    pl_schedule_send(schedule, total, pl_hierarchy_first(call->hierarchy, call->hierarchy->node + 1));
    pl_hierarchy_run(call, schedule);
}

/* A scan of the ranks of this node. On its last rank, which `sends`, `total` becomes the reduction of all of them. */
static void scan_here(struct pl_hierarchy_call *call, bool sends, struct pl_block total)
{
    const struct pl_coll *coll = call->coll;
    struct pl_comm *here = call->hierarchy->here;
    struct pl_block input = pl_coll_input(coll, coll->recvcount), result = pl_coll_received(coll);
    bool includes = coll->kind == PL_COLL_SCAN;
    if (sends)
        pl_hierarchy_copy(call, input, total);
    if (!here && includes && !pl_coll_in_place(coll))
        pl_hierarchy_copy(call, input, result);
    pl_hierarchy_step(call, here, *coll);
    if (sends && here && includes)
        pl_hierarchy_copy(call, result, total);
    else if (sends && here)
        pl_hierarchy_apply(call, result.buf, total);
}

/* The result of a rank, from that of its node's ranks and `before`. */
static void scan_combine(struct pl_hierarchy_call *call, struct pl_block before)
{
    const struct pl_coll *coll = call->coll;
    bool first = coll->comm->rank == pl_hierarchy_first(call->hierarchy, call->hierarchy->node);
    if (first && coll->kind == PL_COLL_EXSCAN)
        pl_hierarchy_copy(call, before, pl_coll_received(coll));
    else
        pl_hierarchy_apply(call, before.buf, pl_coll_received(coll));
}

void pl_hierarchy_scan(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    int node = hierarchy->node, rank = coll->comm->rank, tag = pl_hierarchy_tag(call);
    bool chain = hierarchy->run_count <= CHAIN,
         sends = node + 1 < hierarchy->run_count && rank == pl_hierarchy_last(hierarchy, node);
    struct pl_block before = pl_coll_received(coll), total = before;
    struct pl_hierarchy_buffer buffer;
    before.buf = pl_hierarchy_borrow(call, &buffer, 2 * pl_block_size(before));
    if (!before.buf)
        return;
    total.buf = pl_address(before.buf, (MPI_Aint)pl_block_size(before));
    scan_here(call, sends, total);
    if (sends && (node == 0 || !chain))
        send_total(call, tag, total);
    if (node > 0) {
        if (rank == pl_hierarchy_first(hierarchy, node))
            receive_before(call, tag, before);
        pl_hierarchy_distribute(call, before, 0);
        if (sends && chain) {
            pl_hierarchy_apply(call, before.buf, total);
            send_total(call, tag, total);
        }
        scan_combine(call, before);
    }
    pl_hierarchy_return(&buffer);
}
