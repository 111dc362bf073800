/* SPDX-License-Identifier: BSD-3-Clause */
/* See reduce.h. All vectors are without gaps. */
#include "core/coll/hierarchy/reduce.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/area/call.h"
#include "core/coll/schedule.h"

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

/* The first rank of this node. */
static int leader_here(const struct pl_hierarchy_call *call)
{
    const struct pl_comm *comm = call->coll->comm, *here = call->hierarchy->here;
    return here ? pl_group_find(comm->group, pl_group_proc(here->group, 0)) : comm->rank;
}

/* The leader sends the result to the root, another rank of this node. */
static void hierarchy_send_to_root(struct pl_hierarchy_call *call, int tag, struct pl_block result)
{
    const struct pl_coll *coll = call->coll;
    if (!call->hierarchy->leaders && coll->comm->rank != coll->root)
        return;
    struct pl_schedule own, *schedule = pl_hierarchy_begin(call, &own, tag);
    if (call->hierarchy->leaders)
        pl_schedule_send(schedule, result, coll->root);
    else
        pl_schedule_recv(schedule, result, leader_here(call));
    pl_hierarchy_run(call, schedule);
}

/* `result`: memory for the result, on the root and on leaders. */
static void reduce_into(struct pl_hierarchy_call *call, void *result)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    const struct pl_coll *coll = call->coll;
    struct pl_coll among = *coll;
    int root = pl_hierarchy_rank_here(call, coll->root), tag = pl_hierarchy_tag(call);
    bool leads_root = hierarchy->leaders && root >= 0, root_leads = coll->comm->rank == coll->root && root == 0;
    hierarchy_reduce_here(call, coll->recvcount, root_leads ? coll->sendbuf : pl_coll_input(coll, 0).buf, result);
    if (hierarchy->leaders)
        among.root = pl_hierarchy_node_of(hierarchy, coll->root);
    if (hierarchy->here)
        among.sendbuf = leads_root ? MPI_IN_PLACE : result;
    among.recvbuf = result;
    pl_hierarchy_step(call, hierarchy->leaders, among);
    if (root > 0)
        hierarchy_send_to_root(call, tag, pl_block(result, coll->recvcount, coll->recvtype));
}

void pl_hierarchy_reduce(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    bool is_root = coll->comm->rank == coll->root;
    struct pl_hierarchy_buffer buffer;
    void *own = pl_hierarchy_borrow(call, &buffer,
                                    !is_root && call->hierarchy->leaders ? pl_block_size(pl_coll_received(coll)) : 0);
    if (own)
        reduce_into(call, is_root ? coll->recvbuf : own);
    pl_hierarchy_return(&buffer);
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
        out.sendcounts = pl_counts_from(coll->recvcounts, first);
        out.senddispls = (struct pl_displs){ .wide = displs };
    }
    pl_hierarchy_step(call, here, out);
    free(displs);
}

void pl_hierarchy_reduce_scatter(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    struct pl_comm *here = call->hierarchy->here;
    int first = leader_here(call);
    size_t each = (size_t)coll->recvtype->size;
    MPI_Count all = count_between(coll, 0, coll->comm->size),
              part = here ? count_between(coll, first, first + here->size) : 0;
    struct pl_hierarchy_buffer buffer;
    char *vector =
        pl_hierarchy_borrow(call, &buffer, here && call->hierarchy->leaders ? (size_t)(all + part) * each : 0);
    if (!vector)
        return;
    char *own = vector + (size_t)all * each;
    hierarchy_reduce_here(call, all, pl_coll_input(coll, 0).buf, vector);
    if (call->hierarchy->leaders)
        scatter_among(call, vector, own);
    if (here)
        scatter_here(call, own, first);
    pl_hierarchy_return(&buffer);
}
