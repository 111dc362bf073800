/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers: how they are found, and how this engine notices that they have gone. Their states are in shm.h. */
#ifndef PLENUM_PLUGINS_SHM_SHM_PEER_H
#define PLENUM_PLUGINS_SHM_SHM_PEER_H

#include "plugins/shm/shm.h"

/* Finds the peer at an address, or creates it. The transport owns it. PL_UNREACHABLE (recorded), MPI_ERR_NO_MEM. */
int pl_shm_peer_get(struct pl_shm *shm, const struct pl_shm_address *address, struct pl_shm_peer **peer);

/* Creates the ring to a peer, and requests that the peer read it. */
int pl_shm_peer_open_ring(struct pl_shm_peer *peer);

/* Marks an open peer as leaving. `error` is MPI_SUCCESS when it has closed; else the caller has recorded the reason,
 * and `why` names it in static words; NULL: the process has died. */
void pl_shm_peer_leave(struct pl_shm_peer *peer, int error, const char *why);
/* The same for a peer whose memory breaks the rules; records and logs what is wrong. */
void pl_shm_peer_damaged(struct pl_shm_peer *peer, const char *what);

/* Ends a leaving peer: reads the records that it left, unless its memory is damaged, then fails everything else that is
 * pending and releases memory. Returns the number of events. */
int pl_shm_peer_end(struct pl_shm_peer *peer);

/* Reads the peer's ring no more, and tells the peer so. */
void pl_shm_peer_abandon_ring(struct pl_shm_peer *peer);

/* Frees a peer. Nothing is reported to the engine. */
void pl_shm_peer_free(struct pl_shm_peer *peer);

/* Notices peers that have closed and, five times a second at most, peers that have died: of more than 16 it asks about
 * the next 16. Frees those that have ended and that the engine does not use. */
void pl_shm_peers_check(struct pl_shm *shm);

#endif
