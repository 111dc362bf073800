/* SPDX-License-Identifier: BSD-3-Clause */
/* Open addressing, with a free slot behind every run of taken ones; entries are never removed. */
#include "core/engine/comm_peers.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/comm.h"

int pl_comm_peers_init(struct pl_comm *comm, int ranks)
{
    unsigned slots = 1;
    while (slots < (unsigned)ranks && slots < PL_PEER_SLOTS)
        slots *= 2;
    comm->peers.slots = pl_calloc(slots, sizeof *comm->peers.slots);
    comm->peers.mask = slots - 1;
    return comm->peers.slots ? MPI_SUCCESS : pl_fail_memory("a communicator");
}

/* The slot of a rank, or the free slot for it; NULL: it has none, and the table is full. */
static struct pl_peer_slot *comm_peers_find(struct pl_peer_slot *table, unsigned mask, int rank)
{
    for (unsigned i = 0; i <= mask; i++) {
        struct pl_peer_slot *slot = &table[((unsigned)rank + i) & mask];
        if (!slot->peer || slot->rank == rank)
            return slot;
    }
    return NULL;
}

struct pl_peer *pl_comm_peer_behind(const struct pl_comm *comm, int rank)
{
    const struct pl_peer_slot *slot = comm_peers_find(comm->peers.slots, comm->peers.mask, rank);
    return slot ? slot->peer : NULL;
}

/* Doubles the slots, up to one for each rank. */
static void comm_peers_grow(struct pl_comm *comm)
{
    unsigned mask = 2 * comm->peers.mask + 1;
    struct pl_peer_slot *table = pl_calloc((size_t)mask + 1, sizeof *table);
    if (!table)
        return; /* searches get longer; once the table is full, further peers are resolved each time */
    for (unsigned i = 0; i <= comm->peers.mask; i++)
        if (comm->peers.slots[i].peer)
            *comm_peers_find(table, mask, comm->peers.slots[i].rank) = comm->peers.slots[i];
    free(comm->peers.slots);
    comm->peers.slots = table;
    comm->peers.mask = mask;
}

void pl_comm_peers_hide(struct pl_comm *comm)
{
    for (unsigned i = 0; i <= comm->peers.mask; i++)
        comm->peers.slots[i].rank = -1 - (int)i; /* no two alike: each keeps its slot when the table grows */
}

void pl_comm_peers_fini(struct pl_comm *comm)
{
    for (unsigned i = 0; i <= comm->peers.mask; i++)
        if (comm->peers.slots[i].peer)
            comm->peers.slots[i].peer->uses--;
    comm->peers.mask = 0;
    comm->peers.slots[0].peer = NULL;
}

void pl_comm_peer_keep(struct pl_comm *comm, int rank, struct pl_peer *peer)
{
    bool all = comm->peers.mask >= (unsigned)pl_comm_targets(comm) - 1; /* each rank has its own slot */
    if (!all && 2 * (comm->peers.count + 1) > comm->peers.mask)
        comm_peers_grow(comm);
    struct pl_peer_slot *slot = comm_peers_find(comm->peers.slots, comm->peers.mask, rank);
    peer->stays |= !slot;
    if (!slot)
        return;
    if (slot->peer)
        slot->peer->uses--;
    peer->uses++;
    comm->peers.count += slot->peer == NULL;
    *slot = (struct pl_peer_slot){ peer, rank };
}
