/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighborhood collectives: every process has a message for each of its destinations and expects one from each of its
 * sources, and starts all of them at once.
 *
 * Several messages between the same two processes match by their order alone. In graphs the k-th edge from one to the
 * other is the k-th at both. In grids a message sent in one direction arrives from the opposite one. That only matters
 * where both neighbors of a dimension are the same process, so the two receives of each dimension start in reverse.
 */
#include "core/comm/neighbor.h"

#include "core/coll/traits.h"
#include "core/comm/topology.h"

static void neighbor_append_exchange(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    const struct pl_topology *topology = pl_topology_of(coll->comm);
    bool gather = pl_coll_traits[coll->kind].shape == PL_SHAPE_NEIGHBORS;
    for (int i = 0; i < topology->indegree; i++) {
        int k = topology->kind == MPI_CART ? i ^ 1 : i;
        struct pl_block block = pl_recv_block(coll, k);
        if (topology->sources[k] != MPI_PROC_NULL && pl_block_size(block) > 0)
            pl_schedule_recv(schedule, block, topology->sources[k]);
    }
    for (int i = 0; i < topology->outdegree; i++) {
        struct pl_block block = gather ? pl_coll_sent(coll) : pl_send_block(coll, i);
        if (topology->destinations[i] != MPI_PROC_NULL && pl_block_size(block) > 0)
            pl_schedule_send(schedule, block, topology->destinations[i]);
    }
}

struct pl_neighbors pl_neighbors_of(const struct pl_comm *comm)
{
    const struct pl_topology *topology = pl_topology_of(comm);
    return (struct pl_neighbors){ topology->indegree, topology->outdegree, topology->sources };
}

const struct pl_algorithm pl_neighbor_exchange = { PL_COLL_NEIGHBOR_ALLGATHER, "exchange", neighbor_append_exchange,
                                                   NULL };
