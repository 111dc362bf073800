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
#include "core/coll/hierarchy/alltoallv.h"
#include "core/coll/hierarchy/gather.h"
#include "core/coll/hierarchy/reduce.h"
#include "core/coll/hierarchy/scan.h"
#include "core/coll/hierarchy/scatter.h"
#include "core/coll/hierarchy/step.h"
#include "core/coll/rules_file.h"
#include "core/coll/select.h"
#include "core/coll/traits.h"

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

/* Do all nodes have as many ranks? */
static bool is_even(const struct pl_hierarchy *hierarchy)
{
    int node = 1;
    while (node < hierarchy->run_count && pl_hierarchy_ranks(hierarchy, node) == pl_hierarchy_ranks(hierarchy, 0))
        node++;
    return node == hierarchy->run_count;
}

/* Each leader has the blocks of its node in place. Blocks of one length need fewer rounds, and no copies. */
static void hierarchy_allgather_leaders(struct pl_hierarchy_call *call)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct pl_coll among = *call->coll;
    size_t count = (size_t)hierarchy->run_count;
    among.sendbuf = MPI_IN_PLACE;
    if (is_even(hierarchy)) {
        among.recvcount *= pl_hierarchy_ranks(hierarchy, 0);
        pl_hierarchy_step(call, hierarchy->leaders, among);
        return;
    }
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
        pl_hierarchy_copy(call, pl_coll_sent(coll), own);
    pl_hierarchy_step(call, hierarchy->here, in);
    if (hierarchy->leaders)
        hierarchy_allgather_leaders(call);
    pl_hierarchy_distribute(call, pl_block(coll->recvbuf, coll->recvcount * coll->comm->size, coll->recvtype), 0);
}

/* --- segments ----------------------------------------------------------------------------------------------------- */

enum { SEGMENT = 256 << 10 };

/* One segment after the other: a leader sends one while other nodes distribute the one before. All ranks cut alike, as
 * the elements of a reduction are the same everywhere. */
static void hierarchy_run_in_segments(struct pl_hierarchy_call *call, pl_hierarchy_algorithm *run)
{
    const struct pl_coll *coll = call->coll;
    const void **named = &coll->comm->coll.named, *before = *named;
    MPI_Count each = SEGMENT / (MPI_Count)coll->recvtype->size;
    *named = before ? before : coll;
    for (MPI_Count first = 0; first < coll->recvcount; first += each) {
        MPI_Aint offset = first * coll->recvtype->extent;
        struct pl_coll part = *coll;
        part.recvcount = coll->recvcount - first < each ? coll->recvcount - first : each;
        if (coll->recvbuf)
            part.recvbuf = pl_address(coll->recvbuf, offset);
        if (coll->sendbuf && !pl_coll_in_place(coll))
            part.sendbuf = pl_address(coll->sendbuf, offset);
        struct pl_hierarchy_call its = { &part, call->hierarchy, NULL, call->rc };
        run(&its);
        call->rc = its.rc;
    }
    *named = before;
}

/* The ranks may have different datatypes: what is cut are the packed bytes. */
static void hierarchy_bcast_in_segments(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    struct pl_block data = pl_coll_received(coll);
    size_t size = pl_block_size(data);
    bool copied = !data.type->dense, is_root = coll->comm->rank == coll->root;
    struct pl_hierarchy_buffer buffer;
    void *bytes = pl_hierarchy_borrow(call, &buffer, copied ? size : 0);
    if (!bytes)
        return;
    if (!copied)
        bytes = pl_address(data.buf, data.type->true_lb);
    else if (is_root)
        pl_hierarchy_copy(call, data, pl_block_bytes(bytes, size));
    struct pl_coll packed = *coll;
    packed.recvbuf = bytes;
    packed.recvcount = (MPI_Count)size;
    packed.recvtype = PL_TYPE_BYTE;
    struct pl_hierarchy_call its = { &packed, call->hierarchy, NULL, call->rc };
    hierarchy_run_in_segments(&its, hierarchy_coll_bcast);
    call->rc = its.rc;
    if (copied && !is_root)
        pl_hierarchy_copy(call, pl_block_bytes(bytes, size), data);
    pl_hierarchy_return(&buffer);
}

/* --- the choice -------------------------------------------------------------------------------------------------- */

#define M ((size_t)1 << 20)

static const struct hierarchy_rule {
    pl_hierarchy_algorithm *run;
    size_t bytes; /* up to which it is faster, as measured: of the vector or all blocks, as in the rules of select.c */
    size_t started;  /* the same of a nonblocking one, whose ranks of a node send messages */
    bool contiguous; /* only where the ranks of each node follow each other */
    int ranks_each;  /* ranks that nodes must have on average */
} hierarchy_rules[PL_COLL_KINDS] = {
    [PL_COLL_BARRIER] = { hierarchy_coll_barrier, 0, 0, false, 1 },
    [PL_COLL_BCAST] = { hierarchy_coll_bcast, 2 * M, M / 2, false, 1 },
    [PL_COLL_GATHER] = { pl_hierarchy_gather, 16 << 10, 16 << 10, true, 1 },
    [PL_COLL_GATHERV] = { pl_hierarchy_gatherv, 0, 0, true, 1 },
    [PL_COLL_SCATTER] = { pl_hierarchy_scatter, 16 << 10, 16 << 10, true, 2 },
    [PL_COLL_SCATTERV] = { pl_hierarchy_scatterv, 0, 0, true, 2 },
    [PL_COLL_ALLGATHER] = { hierarchy_coll_allgather, 16 * M, M, true, 1 },
    [PL_COLL_ALLGATHERV] = { pl_hierarchy_allgatherv, M / 4, M / 4, true, 1 },
    [PL_COLL_ALLTOALL] = { pl_hierarchy_alltoall, M / 8, M / 32, true, 1 },
    [PL_COLL_ALLTOALLV] = { pl_hierarchy_alltoallv, 0, 0, true, 2 },
    [PL_COLL_ALLTOALLW] = { pl_hierarchy_alltoallv, 0, 0, true, 2 },
    [PL_COLL_REDUCE] = { pl_hierarchy_reduce, 4 * M, M, false, 1 },
    [PL_COLL_ALLREDUCE] = { pl_hierarchy_allreduce, 4 * M, M, false, 1 },
    [PL_COLL_REDUCE_SCATTER_BLOCK] = { pl_hierarchy_reduce_scatter, 4 * M, M / 2, true, 1 },
    [PL_COLL_REDUCE_SCATTER] = { pl_hierarchy_reduce_scatter, 4 * M, M / 2, true, 1 },
    [PL_COLL_SCAN] = { pl_hierarchy_scan, 4 * M, M, true, 1 },
    [PL_COLL_EXSCAN] = { pl_hierarchy_scan, 4 * M, M, true, 1 },
};

/* Alike on all ranks. */
static bool is_worth_it(const struct pl_coll *coll, bool started)
{
    if (coll->kind >= PL_COLL_KINDS || !hierarchy_rules[coll->kind].run || pl_coll_forced(coll->kind))
        return false;
    if (hierarchy_rules[coll->kind].run == pl_hierarchy_alltoallv &&
        (pl_coll_in_place(coll) || coll->comm->size > PL_HIERARCHY_ALLTOALLV_RANKS))
        return false;
    enum pl_coll_shape shape = pl_coll_traits[coll->kind].shape;
    bool has_blocks = shape == PL_SHAPE_TO_ALL || shape == PL_SHAPE_PAIRS || shape == PL_SHAPE_PARTS;
    size_t bytes = pl_area_bytes(coll),
           most = (started ? hierarchy_rules[coll->kind].started : hierarchy_rules[coll->kind].bytes) /
                  (has_blocks ? (size_t)coll->comm->size : 1);
    bool is_known_short = bytes <= PL_AREA_SHORT && !pl_coll_is_private(coll->kind);
    return bytes <= most && (is_known_short || !pl_coll_has_rules(coll->kind));
}

/* Alike on all ranks, too. */
static bool is_placed_for(const struct pl_hierarchy *hierarchy, const struct pl_coll *coll)
{
    const struct hierarchy_rule *rule = &hierarchy_rules[coll->kind];
    return !rule->contiguous || (hierarchy->contiguous && coll->comm->size >= rule->ranks_each * hierarchy->run_count);
}

/* A blocking one. */
static void hierarchy_run(struct pl_hierarchy_call *call)
{
    enum pl_coll_kind kind = call->coll->kind;
    pl_hierarchy_algorithm *run = hierarchy_rules[kind].run;
    bool flows = kind == PL_COLL_BCAST || kind == PL_COLL_REDUCE || kind == PL_COLL_SCAN || kind == PL_COLL_EXSCAN;
    if (!flows || pl_block_size(pl_coll_received(call->coll)) <= SEGMENT)
        run(call);
    else if (kind == PL_COLL_BCAST)
        hierarchy_bcast_in_segments(call);
    else
        hierarchy_run_in_segments(call, run);
}

bool pl_coll_try_hierarchy(const struct pl_coll *coll, int *rc)
{
    struct pl_hierarchy *hierarchy;
    const struct pl_comm *comm = coll->comm;
    if ((comm->coll.hierarchy.none && !comm->coll.hierarchy.open) || pl_comm_is_inter(comm) ||
        !is_worth_it(coll, false))
        return false;
    const void **named = &coll->comm->coll.named, *before = *named;
    *named = before ? before : coll; /* not the collectives that make the hierarchy */
    *rc = pl_hierarchy_get(coll->comm, pl_coll_depends_on_order(coll), &hierarchy);
    *named = before;
    if (!hierarchy || !is_placed_for(hierarchy, coll))
        return *rc != MPI_SUCCESS;
    struct pl_hierarchy_call call = { coll, hierarchy, NULL, MPI_SUCCESS };
    hierarchy_run(&call);
    pl_comm_count_area(coll->comm);
    if (call.rc == MPI_SUCCESS)
        atomic_store_explicit(&coll->comm->coll.tags.ended, coll->comm->coll.tags.blocking, memory_order_release);
    *rc = call.rc;
    return true;
}

bool pl_hierarchy_is_for(const struct pl_coll *coll)
{
    return is_worth_it(coll, true);
}

/* A leader that got a wrong amount would pass on blocks that are not there: all ranks must learn of it. In a bcast
 * other ranks may have found it too long for this way. Where not all ranks know the amounts, each takes what comes. */
bool pl_hierarchy_append(struct pl_schedule *schedule, const struct pl_coll *coll, const struct pl_hierarchy *hierarchy)
{
    if (!pl_hierarchy_is_for(coll) || !is_placed_for(hierarchy, coll))
        return false;
    struct pl_hierarchy_call call = { coll, hierarchy, schedule, MPI_SUCCESS };
    hierarchy_rules[coll->kind].run(&call);
    if (pl_coll_is_private(coll->kind))
        return true;
    schedule->exact = true;
    schedule->part = false;
    if (!coll->op)
        schedule->cut_from = coll->kind == PL_COLL_BCAST ? PL_AREA_SHORT : 0;
    return true;
}
