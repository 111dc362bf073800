/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of communicators that span several nodes (core/nodes.h): the ranks of each node bring together what they
 * have, the leaders exchange it, and hand out what comes of it. Each of these steps is a collective of a part of the
 * communicator, so that a node's goes by its board, and the leaders' has the algorithm of so many ranks.
 */
#include <stdlib.h>

#include "core/collectives/board.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/nodes.h"

struct call {
    const struct pl_coll *coll;
    const struct pl_nodes *nodes;
    int rc;
};

/* Buffers that do not fit only spoil what is in them, and all go on; after any other error nobody knows what others
 * do. */
static bool goes_on(const struct call *call)
{
    return call->rc == MPI_SUCCESS || call->rc == MPI_ERR_TRUNCATE;
}

/* A collective of a part that this rank may be in. */
static void step(struct call *call, struct pl_comm *part, struct pl_coll coll)
{
    if (!part || !goes_on(call))
        return;
    coll.comm = part;
    int rc = pl_coll_run(&coll);
    call->rc = call->rc ? call->rc : rc;
}

/* From a rank of this node to all. */
static void hand_out(struct call *call, struct pl_block data, int from)
{
    step(call, call->nodes->here,
         (struct pl_coll){ .kind = PL_COLL_BCAST,
                           .recvbuf = data.buf,
                           .recvcount = data.count,
                           .recvtype = data.type,
                           .root = from });
}

/* The root among the ranks of this node; MPI_UNDEFINED: it is elsewhere. */
static int root_here(const struct call *call)
{
    const struct pl_comm *comm = call->coll->comm, *here = call->nodes->here;
    if (!here)
        return call->coll->root == comm->rank ? 0 : MPI_UNDEFINED;
    return pl_group_find(here->group, pl_group_proc(comm->group, call->coll->root));
}

static void barrier(struct call *call)
{
    const struct pl_nodes *nodes = call->nodes;
    struct pl_block nothing = pl_block_bytes(NULL, 0);
    step(call, nodes->here,
         (struct pl_coll){ .kind = PL_COLL_GATHER, .sendtype = nothing.type, .recvtype = nothing.type });
    step(call, nodes->leaders, (struct pl_coll){ .kind = PL_COLL_BARRIER });
    hand_out(call, nothing, 0);
}

static void bcast(struct call *call)
{
    const struct pl_nodes *nodes = call->nodes;
    struct pl_coll among = *call->coll;
    int root = root_here(call);
    if (root >= 0)
        hand_out(call, pl_coll_received(call->coll), root);
    if (nodes->leaders)
        among.root = pl_nodes_find(nodes, among.root);
    step(call, nodes->leaders, among);
    if (root < 0)
        hand_out(call, pl_coll_received(call->coll), 0);
}

/* The leader tells the root of this node what came of a reduction. */
static void tell_root(struct call *call, struct pl_block result, int root)
{
    struct pl_comm *here = call->nodes->here;
    struct pl_schedule schedule;
    int tag = pl_comm_next_tag(here);
    if (!goes_on(call) || (here->rank != 0 && here->rank != root))
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

/* `result` is where there is room for it, on the root and on leaders. */
static void reduce_into(struct call *call, void *result)
{
    const struct pl_nodes *nodes = call->nodes;
    const struct pl_coll *coll = call->coll;
    struct pl_coll in = *coll, among = *coll;
    int root = root_here(call);
    bool gives = coll->comm->rank != coll->root, leads_root = nodes->leaders && root >= 0;
    in.root = 0;
    in.recvbuf = among.recvbuf = result;
    if (gives || root > 0)
        in.sendbuf = pl_coll_input(coll, 0).buf;
    step(call, nodes->here, in);
    if (nodes->leaders)
        among.root = pl_nodes_find(nodes, coll->root);
    if (nodes->here)
        among.sendbuf = leads_root ? MPI_IN_PLACE : result;
    step(call, nodes->leaders, among);
    if (root > 0)
        tell_root(call, pl_block(result, coll->recvcount, coll->recvtype), root);
}

static void reduce(struct call *call)
{
    const struct pl_coll *coll = call->coll;
    alignas(16) unsigned char few[PL_BOARD_SHORT];
    size_t bytes = pl_block_size(pl_coll_received(coll));
    bool is_root = coll->comm->rank == coll->root, borrows = !is_root && call->nodes->leaders && bytes > sizeof few;
    void *result = is_root ? coll->recvbuf : borrows ? pl_malloc(bytes) : few;
    if (result)
        reduce_into(call, result);
    else
        call->rc = pl_fail_memory("the result of a reduction on this node");
    if (borrows)
        free(result);
}

static void allreduce(struct call *call)
{
    const struct pl_nodes *nodes = call->nodes;
    struct pl_coll in = *call->coll, among = *call->coll;
    in.kind = PL_COLL_REDUCE;
    in.root = 0;
    if (!nodes->leaders)
        in.sendbuf = pl_coll_input(&in, 0).buf;
    step(call, nodes->here, in);
    if (nodes->here)
        among.sendbuf = MPI_IN_PLACE;
    step(call, nodes->leaders, among);
    hand_out(call, pl_coll_received(call->coll), 0);
}

/* --- allgather ---------------------------------------------------------------------------------------------------- */

/* The leaders have the blocks of their nodes where they belong. */
static void share_blocks(struct call *call)
{
    const struct pl_nodes *nodes = call->nodes;
    struct pl_coll among = *call->coll;
    size_t count = (size_t)nodes->run_count;
    MPI_Count *counts = pl_malloc(count * (sizeof(MPI_Count) + sizeof(MPI_Aint)));
    if (!counts) {
        call->rc = pl_fail_memory("the blocks of nodes");
        return;
    }
    MPI_Aint *displs = (MPI_Aint *)(counts + count);
    for (size_t i = 0; i < count; i++) {
        displs[i] = nodes->runs[i].rank * among.recvcount;
        counts[i] = nodes->runs[i + 1].rank * among.recvcount - displs[i];
    }
    among.kind = PL_COLL_ALLGATHERV;
    among.sendbuf = MPI_IN_PLACE;
    among.recvcounts = (struct pl_counts){ .wide = counts };
    among.recvdispls = (struct pl_displs){ .wide = displs };
    step(call, nodes->leaders, among);
    free(counts);
}

static void allgather(struct call *call)
{
    const struct pl_nodes *nodes = call->nodes;
    const struct pl_coll *coll = call->coll;
    struct pl_coll in = *coll;
    struct pl_block own = pl_block_slice(pl_coll_received(coll), coll->comm->rank * coll->recvcount, coll->recvcount);
    in.kind = PL_COLL_GATHER;
    in.root = 0;
    in.recvbuf = own.buf; /* the leader's: its block is the first */
    if (pl_coll_in_place(coll) && !nodes->leaders) {
        in.sendbuf = own.buf;
        in.sendcount = own.count;
        in.sendtype = own.type;
    }
    if (!nodes->here && !pl_coll_in_place(coll))
        pl_type_copy(in.sendbuf, in.sendcount, in.sendtype, own.buf, own.count, own.type);
    step(call, nodes->here, in);
    if (nodes->leaders)
        share_blocks(call);
    hand_out(call, pl_block(coll->recvbuf, coll->recvcount * coll->comm->size, coll->recvtype), 0);
}

/* --- which -------------------------------------------------------------------------------------------------------- */

#define M ((size_t)1 << 20)

/* Up to how many bytes it was found to be worth it, as in the rules of select.c: of the vector, of all blocks. */
static const struct way {
    void (*run)(struct call *call);
    size_t bytes;
} ways[PL_COLL_KINDS] = {
    [PL_COLL_BARRIER] = { barrier, 0 },
    [PL_COLL_BCAST] = { bcast, 2 * M },
    [PL_COLL_REDUCE] = { reduce, 4 * M },
    [PL_COLL_ALLREDUCE] = { allreduce, 4 * M },
    [PL_COLL_ALLGATHER] = { allgather, 16 * M },
};

/* All say the same of a call. */
static bool is_worth_it(const struct pl_coll *coll)
{
    if (coll->kind >= PL_COLL_KINDS || !ways[coll->kind].run || pl_coll_forced(coll->kind))
        return false;
    size_t bytes = pl_board_bytes(coll), blocks = coll->kind == PL_COLL_ALLGATHER ? (size_t)coll->comm->size : 1;
    return bytes <= ways[coll->kind].bytes / blocks && (bytes <= PL_BOARD_SHORT || !pl_coll_has_rules(coll->kind));
}

bool pl_coll_by_nodes(const struct pl_coll *coll, int *rc)
{
    struct pl_nodes *nodes;
    const struct pl_comm *comm = coll->comm;
    if ((comm->nodeless && !comm->nodes) || pl_comm_is_inter(comm) || !is_worth_it(coll))
        return false;
    *rc = pl_nodes_of(coll->comm, coll->kind >= PL_COLL_REDUCE, &nodes);
    if (!nodes || (coll->kind == PL_COLL_ALLGATHER && !nodes->in_rows))
        return *rc != MPI_SUCCESS;
    struct call call = { coll, nodes, MPI_SUCCESS };
    ways[coll->kind].run(&call);
    coll->comm->boarded++;
    *rc = call.rc;
    return true;
}
