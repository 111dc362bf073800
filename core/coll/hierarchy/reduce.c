/* SPDX-License-Identifier: BSD-3-Clause */
/* See reduce.h. All vectors are without gaps. */
#include "core/coll/hierarchy/reduce.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/area/call.h"
#include "core/coll/schedule.h"

/* Memory for operands under way. */
struct buffer {
    alignas(16) unsigned char few[2 * PL_AREA_SHORT];
    void *memory;
};

static void *hierarchy_reduce_borrow(struct pl_hierarchy_call *call, struct buffer *buffer, size_t bytes)
{
    buffer->memory = bytes <= sizeof buffer->few ? buffer->few : pl_malloc(bytes);
    if (!buffer->memory)
        call->rc = pl_fail_memory("a reduction's operands of a node");
    return buffer->memory;
}

static void hierarchy_reduce_return(struct buffer *buffer)
{
    if (buffer->memory != buffer->few)
        free(buffer->memory);
}

/* Reduces vectors of `count` elements within the node, to the leader. */
static void hierarchy_reduce_here(struct pl_hierarchy_call *call, MPI_Count count, const void *input, void *result)
{
    struct pl_coll in = *call->coll;
    in.kind = PL_COLL_REDUCE;
    in.root = 0;
    in.recvcount = count;
    in.sendbuf = input;
    in.recvbuf = result;
    pl_hierarchy_step(call, call->hierarchy->here, in);
}

/* --- reduce and allreduce ----------------------------------------------------------------------------------------- */

/* The leader sends the result to the root, another rank of this node. */
static void hierarchy_send_to_root(struct pl_hierarchy_call *call, struct pl_block result, int root)
{
    struct pl_comm *here = call->hierarchy->here;
    struct pl_schedule schedule;
    int tag = pl_comm_next_tag(here);
    if (!pl_hierarchy_may_continue(call) || (here->rank != 0 && here->rank != root))
        return;
    pl_schedule_init(&schedule, here, tag);
    if (here->rank == 0)
        pl_schedule_send(&schedule, result, root);
    else
        pl_schedule_recv(&schedule, result, 0);
    int rc = pl_schedule_run(&schedule);
    call->rc = call->rc ? call->rc : rc;
    pl_schedule_fini(&schedule);
}

/* `result`: memory for the result, on the root and on leaders. */
static void reduce_into(struct pl_hierarchy_call *call, void *result)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    const struct pl_coll *coll = call->coll;
    struct pl_coll among = *coll;
    int root = pl_hierarchy_rank_here(call, coll->root);
    bool leads_root = hierarchy->leaders && root >= 0, root_leads = coll->comm->rank == coll->root && root == 0;
    hierarchy_reduce_here(call, coll->recvcount, root_leads ? coll->sendbuf : pl_coll_input(coll, 0).buf, result);
    if (hierarchy->leaders)
        among.root = pl_hierarchy_node_of(hierarchy, coll->root);
    if (hierarchy->here)
        among.sendbuf = leads_root ? MPI_IN_PLACE : result;
    among.recvbuf = result;
    pl_hierarchy_step(call, hierarchy->leaders, among);
    if (root > 0)
        hierarchy_send_to_root(call, pl_block(result, coll->recvcount, coll->recvtype), root);
}

void pl_hierarchy_reduce(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    bool is_root = coll->comm->rank == coll->root;
    struct buffer buffer;
    void *own =
        hierarchy_reduce_borrow(call, &buffer,
                                !is_root && call->hierarchy->leaders ? pl_block_size(pl_coll_received(coll)) : 0);
    if (own)
        reduce_into(call, is_root ? coll->recvbuf : own);
    hierarchy_reduce_return(&buffer);
}

void pl_hierarchy_allreduce(struct pl_hierarchy_call *call)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    const struct pl_coll *coll = call->coll;
    struct pl_coll among = *coll;
    hierarchy_reduce_here(call, coll->recvcount, hierarchy->leaders ? coll->sendbuf : pl_coll_input(coll, 0).buf,
                          coll->recvbuf);
    if (hierarchy->here)
        among.sendbuf = MPI_IN_PLACE;
    pl_hierarchy_step(call, hierarchy->leaders, among);
    pl_hierarchy_distribute(call, pl_coll_received(coll), 0);
}

/* --- reduce_scatter ----------------------------------------------------------------------------------------------- */

/* The elements that the ranks from `from` to before `to` receive. */
static MPI_Count count_between(const struct pl_coll *coll, int from, int to)
{
    MPI_Count count = 0;
    if (coll->kind == PL_COLL_REDUCE_SCATTER_BLOCK)
        return (to - from) * coll->recvcount;
    for (; from < to; from++)
        count += pl_count_at(coll->recvcounts, from);
    return count;
}

/* Each leader receives the part of its node. */
static void scatter_among(struct pl_hierarchy_call *call, void *vector, void *part)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct pl_coll among = *call->coll;
    MPI_Count *counts = pl_malloc((size_t)hierarchy->run_count * sizeof *counts);
    if (!counts) {
        call->rc = pl_fail_memory("the parts of nodes");
        return;
    }
    for (int i = 0; i < hierarchy->run_count; i++)
        counts[i] = count_between(call->coll, hierarchy->runs[i].rank, hierarchy->runs[i + 1].rank);
    among.kind = PL_COLL_REDUCE_SCATTER;
    among.recvcounts = (struct pl_counts){ .wide = counts };
    among.sendbuf = hierarchy->here ? vector : among.sendbuf;
    among.recvbuf = hierarchy->here ? part : among.recvbuf;
    pl_hierarchy_step(call, hierarchy->leaders, among);
    free(counts);
}

/* Scatters the node's part to its ranks, from rank `first` of the communicator on. */
static void scatter_here(struct pl_hierarchy_call *call, const void *part, int first)
{
    const struct pl_coll *coll = call->coll;
    struct pl_comm *here = call->hierarchy->here;
    struct pl_coll out = { .kind = PL_COLL_SCATTER,
                           .sendbuf = part,
                           .recvbuf = coll->recvbuf,
                           .sendtype = coll->recvtype,
                           .recvtype = coll->recvtype };
    MPI_Aint *displs = pl_malloc((size_t)here->size * sizeof *displs);
    if (!displs) {
        call->rc = pl_fail_memory("the parts of ranks");
        return;
    }
    out.sendcount = out.recvcount = count_between(coll, coll->comm->rank, coll->comm->rank + 1);
    for (int i = 0; i < here->size; i++) {
        displs[i] = count_between(coll, first, first + i);
        if (count_between(coll, first + i, first + i + 1) != out.recvcount)
            out.kind = PL_COLL_SCATTERV;
    }
    if (out.kind == PL_COLL_SCATTERV) {
        struct pl_counts all = coll->recvcounts;
        out.sendcounts =
            (struct pl_counts){ all.narrow ? all.narrow + first : NULL, all.wide ? all.wide + first : NULL };
        out.senddispls = (struct pl_displs){ .wide = displs };
    }
    pl_hierarchy_step(call, here, out);
    free(displs);
}

void pl_hierarchy_reduce_scatter(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    struct pl_comm *here = call->hierarchy->here;
    int first = here ? pl_group_find(coll->comm->group, pl_group_proc(here->group, 0)) : coll->comm->rank;
    size_t each = (size_t)coll->recvtype->size;
    MPI_Count all = count_between(coll, 0, coll->comm->size),
              part = here ? count_between(coll, first, first + here->size) : 0;
    struct buffer buffer;
    char *vector =
        hierarchy_reduce_borrow(call, &buffer, here && call->hierarchy->leaders ? (size_t)(all + part) * each : 0);
    if (!vector)
        return;
    char *own = vector + (size_t)all * each;
    hierarchy_reduce_here(call, all, pl_coll_input(coll, 0).buf, vector);
    if (call->hierarchy->leaders)
        scatter_among(call, vector, own);
    if (here)
        scatter_here(call, own, first);
    hierarchy_reduce_return(&buffer);
}

/* --- scans -------------------------------------------------------------------------------------------------------- */

/* The first rank of the communicator waits for no other, and its node for no other node. */
void pl_hierarchy_scan(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    const void *input = pl_coll_input(coll, 0).buf;
    size_t bytes = pl_block_size(pl_coll_received(coll));
    bool is_first = pl_hierarchy_rank_here(call, 0) >= 0,
         is_last = pl_hierarchy_rank_here(call, coll->comm->size - 1) >= 0, includes = coll->kind == PL_COLL_SCAN;
    struct buffer buffer;
    char *total = hierarchy_reduce_borrow(call, &buffer, 2 * bytes), *before = total + bytes;
    struct pl_coll among = *coll;
    if (!total)
        return;
    if (!is_last)
        hierarchy_reduce_here(call, coll->recvcount, input, total);
    pl_hierarchy_step(call, hierarchy->here, *coll);
    among.kind = PL_COLL_EXSCAN;
    among.sendbuf = hierarchy->here && !is_last ? total : input; /* that of the last node is not used */
    among.recvbuf = before;
    pl_hierarchy_step(call, hierarchy->leaders, among);
    if (!is_first)
        pl_hierarchy_distribute(call, pl_block(before, coll->recvcount, coll->recvtype), 0);
    if (!hierarchy->here && includes && !pl_coll_in_place(coll))
        pl_copy_bytes(coll->recvbuf, input, bytes);
    if (!is_first && hierarchy->leaders && !includes)
        pl_copy_bytes(coll->recvbuf, before, bytes);
    else if (!is_first)
        pl_op_apply(coll->op, before, coll->recvbuf, coll->recvcount, coll->recvtype);
    hierarchy_reduce_return(&buffer);
}
