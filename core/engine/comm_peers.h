/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peers of a communicator's ranks: a table of those that were sent to, so that the others cost nothing.
 *
 * A rank is in the slot of its number, or behind it when that is taken. With at most PL_PEER_SLOTS ranks each has its
 * own slot, and the table never moves; else it grows with the number of ranks sent to. Locking: the engine's.
 */
#ifndef PLENUM_CORE_ENGINE_COMM_PEERS_H
#define PLENUM_CORE_ENGINE_COMM_PEERS_H

struct pl_av;
struct pl_comm;
struct pl_peer;

enum { PL_PEER_SLOTS = 64 };

struct pl_peer_slot {
    struct pl_peer *peer; /* NULL: the slot is free */
    int rank;
};

struct pl_comm_peers {
    struct pl_peer_slot *slots; /* [mask + 1] */
    unsigned mask, count;
    struct pl_av *av; /* the members' addresses in a communicator from a group; NULL: those of the World */
};

/* Makes the table for that many ranks. MPI_ERR_NO_MEM. */
int pl_comm_peers_init(struct pl_comm *comm, int ranks);

/* Remembers a peer, if there is memory for it. The engine keeps it in any case. */
void pl_comm_peer_keep(struct pl_comm *comm, int rank, struct pl_peer *peer);

/* No rank's peer is found any more; but the communicator may still use what the peers share. */
void pl_comm_peers_hide(struct pl_comm *comm);

/* The communicator uses no peer any more. */
void pl_comm_peers_fini(struct pl_comm *comm);

/* The peer of a rank that is not in its slot; pl_comm_peer() in comm.h tries that first. NULL: nothing was sent to it
 * yet. */
struct pl_peer *pl_comm_peer_behind(const struct pl_comm *comm, int rank);

#endif
