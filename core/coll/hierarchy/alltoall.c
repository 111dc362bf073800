/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall by nodes: the leader has all blocks of its node's ranks, as bytes, sorts them by the nodes that they go to,
 * and what comes from the others' leaders by the ranks that they are for. One message goes to each node instead of one
 * from each rank to each rank there. See nodes.c.
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/hierarchy/collectives.h"

/* A leader's. The blocks of all ranks here for all ranks, and room to sort them. */
struct load {
    size_t here, all, each; /* ranks, and bytes of a block */
    char *blocks, *sorted;  /* [here][all] blocks each; NULL: this rank does not lead */
    MPI_Count *counts;      /* [nodes] bytes for each node, and from it */
    MPI_Aint *places;       /* [nodes] and where */
};

static bool hierarchy_alltoall_make(struct pl_hierarchy_call *call, struct load *load)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    size_t bytes = load->here * load->all * load->each, count = (size_t)hierarchy->run_count;
    load->counts = pl_malloc(count * (sizeof *load->counts + sizeof *load->places) + 2 * bytes);
    if (!load->counts) {
        call->rc = pl_fail_memory("the blocks of a node's ranks");
        return false;
    }
    load->places = (MPI_Aint *)(load->counts + count);
    load->blocks = (char *)(load->places + count);
    load->sorted = load->blocks + bytes;
    for (size_t i = 0; i < count; i++) {
        size_t first = (size_t)hierarchy->runs[i].rank, end = (size_t)hierarchy->runs[i + 1].rank;
        load->places[i] = (MPI_Aint)(first * load->here * load->each);
        load->counts[i] = (MPI_Count)((end - first) * load->here * load->each);
    }
    return true;
}

/* From the order of the ranks here, and of those of everybody, to that of the nodes. */
static void sort_by_nodes(const struct pl_hierarchy *hierarchy, const struct load *load)
{
    char *to = load->sorted;
    for (int i = 0; i < hierarchy->run_count; i++) {
        size_t first = (size_t)hierarchy->runs[i].rank,
               bytes = ((size_t)hierarchy->runs[i + 1].rank - first) * load->each;
        for (size_t k = 0; k < load->here; k++, to += bytes)
            pl_copy_bytes(to, load->blocks + (k * load->all + first) * load->each, bytes);
    }
}

/* From each rank of everybody come blocks for all ranks here. */
static void sort_by_ranks(const struct load *load)
{
    const char *from = load->blocks;
    for (size_t i = 0; i < load->all; i++)
        for (size_t k = 0; k < load->here; k++, from += load->each)
            pl_copy_bytes(load->sorted + (k * load->all + i) * load->each, from, load->each);
}

static void hierarchy_alltoall_exchange(struct pl_hierarchy_call *call, const struct load *load)
{
    const struct pl_type *byte = PL_TYPE_BYTE;
    sort_by_nodes(call->hierarchy, load);
    pl_hierarchy_step(call, call->hierarchy->leaders,
                      (struct pl_coll){ .kind = PL_COLL_ALLTOALLV,
                                        .sendbuf = load->sorted,
                                        .recvbuf = load->blocks,
                                        .sendtype = byte,
                                        .recvtype = byte,
                                        .sendcounts = { .wide = load->counts },
                                        .recvcounts = { .wide = load->counts },
                                        .senddispls = { .wide = load->places },
                                        .recvdispls = { .wide = load->places } });
    sort_by_ranks(load);
}

void pl_hierarchy_alltoall(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    struct pl_comm *here = call->hierarchy->here;
    bool leads = call->hierarchy->leaders, in_place = pl_coll_in_place(coll);
    int all = coll->comm->size;
    struct pl_block out = pl_block(coll->recvbuf, coll->recvcount * all, coll->recvtype),
                    in = in_place ? out : pl_block(coll->sendbuf, coll->sendcount * all, coll->sendtype);
    struct load load = {
        here ? (size_t)here->size : 1, (size_t)all, pl_block_size(pl_coll_received(coll)), NULL, NULL, NULL, NULL
    };
    MPI_Count bytes = all * (MPI_Count)load.each;
    if (leads && !hierarchy_alltoall_make(call, &load))
        return;
    if (!here)
        pl_type_copy(in.buf, in.count, in.type, load.blocks, bytes, PL_TYPE_BYTE);
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
        pl_type_copy(load.sorted, bytes, PL_TYPE_BYTE, out.buf, out.count, out.type);
    free(load.counts);
}
