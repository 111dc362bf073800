/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of communicators that span several nodes (hierarchy.h). The ranks of each node collect their data at the
 * leader, the leaders exchange it, and each distributes the result on its node. Every step is a collective of a part of
 * the communicator: that of a node uses its collective area, that of the leaders the algorithm for their number.
 */
#include "core/coll/hierarchy/collectives.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/area/collectives.h"
#include "core/coll/hierarchy/alltoall.h"
#include "core/coll/hierarchy/reduce.h"
#include "core/coll/hierarchy/step.h"
#include "core/coll/rules_file.h"
#include "core/coll/select.h"

static void hierarchy_coll_barrier(struct pl_hierarchy_call *call)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct pl_block nothing = pl_block_bytes(NULL, 0);
    pl_hierarchy_step(call, hierarchy->here,
                      (struct pl_coll){ .kind = PL_COLL_GATHER, .sendtype = nothing.type, .recvtype = nothing.type });
    pl_hierarchy_step(call, hierarchy->leaders, (struct pl_coll){ .kind = PL_COLL_BARRIER });
    pl_hierarchy_distribute(call, nothing, 0);
}

static void hierarchy_coll_bcast(struct pl_hierarchy_call *call)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct pl_coll among = *call->coll;
    int root = pl_hierarchy_rank_here(call, call->coll->root);
    if (root >= 0)
        pl_hierarchy_distribute(call, pl_coll_received(call->coll), root);
    if (hierarchy->leaders)
        among.root = pl_hierarchy_node_of(hierarchy, among.root);
    pl_hierarchy_step(call, hierarchy->leaders, among);
    if (root < 0)
        pl_hierarchy_distribute(call, pl_coll_received(call->coll), 0);
}

/* --- allgather ---------------------------------------------------------------------------------------------------- */

/* Each leader has the blocks of its node in place. */
static void hierarchy_allgather_leaders(struct pl_hierarchy_call *call)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct pl_coll among = *call->coll;
    size_t count = (size_t)hierarchy->run_count;
    MPI_Count *counts = pl_malloc(count * (sizeof(MPI_Count) + sizeof(MPI_Aint)));
    if (!counts) {
        call->rc = pl_fail_memory("the counts of a node hierarchy's allgather");
        return;
    }
    MPI_Aint *displs = (MPI_Aint *)(counts + count);
    for (size_t i = 0; i < count; i++) {
        displs[i] = hierarchy->runs[i].rank * among.recvcount;
        counts[i] = hierarchy->runs[i + 1].rank * among.recvcount - displs[i];
    }
    among.kind = PL_COLL_ALLGATHERV;
    among.sendbuf = MPI_IN_PLACE;
    among.recvcounts = (struct pl_counts){ .wide = counts };
    among.recvdispls = (struct pl_displs){ .wide = displs };
    pl_hierarchy_step(call, hierarchy->leaders, among);
    free(counts);
}

static void hierarchy_coll_allgather(struct pl_hierarchy_call *call)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    const struct pl_coll *coll = call->coll;
    struct pl_coll in = *coll;
    struct pl_block own = pl_block_slice(pl_coll_received(coll), coll->comm->rank * coll->recvcount, coll->recvcount);
    in.kind = PL_COLL_GATHER;
    in.root = 0;
    in.recvbuf = own.buf; /* the leader's block is the first of its node */
    if (pl_coll_in_place(coll) && !hierarchy->leaders) {
        in.sendbuf = own.buf;
        in.sendcount = own.count;
        in.sendtype = own.type;
    }
    if (!hierarchy->here && !pl_coll_in_place(coll))
        pl_type_copy(in.sendbuf, in.sendcount, in.sendtype, own.buf, own.count, own.type);
    pl_hierarchy_step(call, hierarchy->here, in);
    if (hierarchy->leaders)
        hierarchy_allgather_leaders(call);
    pl_hierarchy_distribute(call, pl_block(coll->recvbuf, coll->recvcount * coll->comm->size, coll->recvtype), 0);
}

/* --- the choice -------------------------------------------------------------------------------------------------- */

#define M ((size_t)1 << 20)

enum { SCAN_RANKS = 4 }; /* up to this many run ahead of each other in a short scan by messages, which is faster */

static const struct hierarchy_rule {
    pl_hierarchy_algorithm *run;
    size_t bytes; /* up to which it is faster, as measured: of the vector or all blocks, as in the rules of select.c */
    bool contiguous; /* only where the ranks of each node follow each other */
} hierarchy_rules[PL_COLL_KINDS] = {
    [PL_COLL_BARRIER] = { hierarchy_coll_barrier, 0, false },
    [PL_COLL_BCAST] = { hierarchy_coll_bcast, 2 * M, false },
    [PL_COLL_ALLGATHER] = { hierarchy_coll_allgather, 16 * M, true },
    [PL_COLL_ALLTOALL] = { pl_hierarchy_alltoall, M / 8, true },
    [PL_COLL_REDUCE] = { pl_hierarchy_reduce, 4 * M, false },
    [PL_COLL_ALLREDUCE] = { pl_hierarchy_allreduce, 4 * M, false },
    [PL_COLL_REDUCE_SCATTER_BLOCK] = { pl_hierarchy_reduce_scatter, 4 * M, true },
    [PL_COLL_REDUCE_SCATTER] = { pl_hierarchy_reduce_scatter, 4 * M, true },
    [PL_COLL_SCAN] = { pl_hierarchy_scan, 4 * M, true },
    [PL_COLL_EXSCAN] = { pl_hierarchy_scan, 4 * M, true },
};

/* Alike on all ranks. */
static bool is_worth_it(const struct pl_coll *coll)
{
    if (coll->kind >= PL_COLL_KINDS || !hierarchy_rules[coll->kind].run || pl_coll_forced(coll->kind))
        return false;
    bool has_blocks = coll->kind == PL_COLL_ALLGATHER || coll->kind == PL_COLL_ALLTOALL ||
                      coll->kind == PL_COLL_REDUCE_SCATTER || coll->kind == PL_COLL_REDUCE_SCATTER_BLOCK;
    size_t bytes = pl_area_bytes(coll),
           most = hierarchy_rules[coll->kind].bytes / (has_blocks ? (size_t)coll->comm->size : 1);
    bool scans = coll->kind == PL_COLL_SCAN || coll->kind == PL_COLL_EXSCAN;
    if (scans && bytes <= PL_AREA_SHORT && coll->comm->size <= SCAN_RANKS)
        return false;
    return bytes <= most && (bytes <= PL_AREA_SHORT || !pl_coll_has_rules(coll->kind));
}

bool pl_coll_try_hierarchy(const struct pl_coll *coll, int *rc)
{
    struct pl_hierarchy *hierarchy;
    const struct pl_comm *comm = coll->comm;
    if ((comm->coll.no_hierarchy && !comm->coll.hierarchy) || pl_comm_is_inter(comm) || !is_worth_it(coll))
        return false;
    const void **named = &coll->comm->coll.named, *before = *named;
    *named = before ? before : coll; /* not the collectives that make the hierarchy */
    *rc = pl_hierarchy_get(coll->comm, coll->kind >= PL_COLL_REDUCE, &hierarchy);
    *named = before;
    if (!hierarchy || (hierarchy_rules[coll->kind].contiguous && !hierarchy->contiguous))
        return *rc != MPI_SUCCESS;
    struct pl_hierarchy_call call = { coll, hierarchy, MPI_SUCCESS };
    hierarchy_rules[coll->kind].run(&call);
    coll->comm->coll.area_count++;
    *rc = call.rc;
    return true;
}
