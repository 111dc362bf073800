/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall by a node hierarchy. The leader collects all blocks of its node's ranks, as bytes, and sorts them by the
 * nodes that they are for; what it receives from the other leaders it sorts by ranks. One message goes to each node
 * instead of one from each rank to each rank there.
 */
#include "core/coll/hierarchy/alltoall.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/area/call.h"

/* The blocks of all ranks of this node for all ranks, and memory to sort them: a leader's. */
struct load {
    const struct pl_hierarchy *hierarchy;
    size_t here, all, each; /* ranks of the node, of the communicator; bytes of a block */
    char *blocks, *sorted;  /* [here][all] blocks each; NULL: this rank is not a leader */
    MPI_Count *counts;      /* [nodes] bytes for each node, and from it */
    MPI_Aint *displs;       /* [nodes] and where */
};

static bool hierarchy_alltoall_make(struct pl_hierarchy_call *call, struct pl_hierarchy_buffer *buffer,
                                    struct load *load)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    size_t bytes = load->here * load->all * load->each, count = (size_t)hierarchy->run_count;
    load->counts = pl_hierarchy_borrow(call, buffer, count * (sizeof *load->counts + sizeof *load->displs) + 2 * bytes);
    if (!load->counts)
        return false;
    load->displs = (MPI_Aint *)(load->counts + count);
    load->blocks = (char *)(load->displs + count);
    load->sorted = load->blocks + bytes;
    for (size_t i = 0; i < count; i++) {
        size_t first = (size_t)hierarchy->runs[i].rank, end = (size_t)hierarchy->runs[i + 1].rank;
        load->displs[i] = (MPI_Aint)(first * load->here * load->each);
        load->counts[i] = (MPI_Count)((end - first) * load->here * load->each);
    }
    return true;
}

/* From the order of this node's ranks, then of all ranks, to that of the nodes. */
static int sort_by_nodes(struct pl_schedule *schedule, void *context)
{
    (void)schedule;
    const struct load *load = context;
    const struct pl_hierarchy *hierarchy = load->hierarchy;
    char *to = load->sorted;
    for (int i = 0; i < hierarchy->run_count; i++) {
        size_t first = (size_t)hierarchy->runs[i].rank,
               bytes = ((size_t)hierarchy->runs[i + 1].rank - first) * load->each;
        for (size_t k = 0; k < load->here; k++, to += bytes)
            pl_copy_bytes(to, load->blocks + (k * load->all + first) * load->each, bytes);
    }
    return MPI_SUCCESS;
}

/* Each rank of the communicator has sent blocks for all ranks of this node. */
static int sort_by_ranks(struct pl_schedule *schedule, void *context)
{
    (void)schedule;
    const struct load *load = context;
    const char *from = load->blocks;
    for (size_t i = 0; i < load->all; i++)
        for (size_t k = 0; k < load->here; k++, from += load->each)
            pl_copy_bytes(load->sorted + (k * load->all + i) * load->each, from, load->each);
    return MPI_SUCCESS;
}

static void hierarchy_alltoall_exchange(struct pl_hierarchy_call *call, const struct load *load)
{
    const struct pl_type *byte = PL_TYPE_BYTE;
    pl_hierarchy_do(call, sort_by_nodes, load, sizeof *load);
    pl_hierarchy_step(call, call->hierarchy->leaders,
                      (struct pl_coll){ .kind = PL_COLL_ALLTOALLV,
                                        .sendbuf = load->sorted,
                                        .recvbuf = load->blocks,
                                        .sendtype = byte,
                                        .recvtype = byte,
                                        .sendcounts = { .wide = load->counts },
                                        .recvcounts = { .wide = load->counts },
                                        .senddispls = { .wide = load->displs },
                                        .recvdispls = { .wide = load->displs } });
    pl_hierarchy_do(call, sort_by_ranks, load, sizeof *load);
}

void pl_hierarchy_alltoall(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    struct pl_comm *here = call->hierarchy->here;
    bool leads = call->hierarchy->leaders, in_place = pl_coll_in_place(coll);
    int all = coll->comm->size;
    struct pl_block out = pl_block(coll->recvbuf, coll->recvcount * all, coll->recvtype),
                    in = in_place ? out : pl_block(coll->sendbuf, coll->sendcount * all, coll->sendtype);
    struct load load = { .hierarchy = call->hierarchy,
                         .here = here ? (size_t)here->size : 1,
                         .all = (size_t)all,
                         .each = pl_block_size(pl_coll_received(coll)) };
    struct pl_hierarchy_buffer buffer = { .memory = NULL };
    MPI_Count bytes = all * (MPI_Count)load.each;
    if (leads && !hierarchy_alltoall_make(call, &buffer, &load))
        return;
    if (!here)
        pl_hierarchy_copy(call, in, pl_block_bytes(load.blocks, (size_t)bytes));
    pl_hierarchy_step(call, here,
                      (struct pl_coll){ .kind = PL_COLL_GATHER,
                                        .sendbuf = in.buf,
                                        .sendcount = in.count,
                                        .sendtype = in.type,
                                        .recvbuf = load.blocks,
                                        .recvcount = bytes,
                                        .recvtype = PL_TYPE_BYTE });
    if (leads)
        hierarchy_alltoall_exchange(call, &load);
    pl_hierarchy_step(call, here,
                      (struct pl_coll){ .kind = PL_COLL_SCATTER,
                                        .sendbuf = load.sorted,
                                        .sendcount = bytes,
                                        .sendtype = PL_TYPE_BYTE,
                                        .recvbuf = out.buf,
                                        .recvcount = out.count,
                                        .recvtype = out.type });
    if (!here)
        pl_hierarchy_copy(call, pl_block_bytes(load.sorted, (size_t)bytes), out);
    if (leads)
        pl_hierarchy_return(&buffer);
}
