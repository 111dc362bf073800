/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers: the other engines that an engine knows, by id and by the rank of a communicator. */
#ifndef PLENUM_CORE_ENGINE_PEER_H
#define PLENUM_CORE_ENGINE_PEER_H

#include <endian.h>
#include <string.h>

#include "core/engine/engine.h"
#include "core/job/segment.h"

struct pl_av;

/* A card begins with the engine's id, in this order of bytes on all machines: 0 if the card has no id. */
static inline uint64_t pl_engine_card_id(const void *card, size_t length)
{
    uint64_t id = 0;
    if (length >= sizeof id)
        memcpy(&id, card, sizeof id);
    return le64toh(id);
}

/* MPI_ERR_OTHER, in one line that names both sides: the process with this card has another version of Plenum, or its
 * machine stores numbers differently. No lock. */
int pl_engine_check_version(const void *card, size_t length, uint64_t proc);

/* The peer with this card; a new one is created and connected. `proc` is for messages. Lock held. */
int pl_engine_peer(struct pl_engine *engine, const void *card, size_t length, uint64_t proc, struct pl_peer **peer);

/* Does this card have the address of a transport of that name? */
bool pl_engine_card_has(const void *card, size_t length, const char *transport);

/* The card that a process of this job has published. PL_AGAIN: it is not there yet, or the peer has still to add the
 * network by which alone the two can meet (life.h). Lock held. */
int pl_engine_lookup(struct pl_engine *engine, uint64_t proc, enum pl_card_slot slot, void *card, size_t *length);

/* May some of these members not meet, since one lacks shared memory and another has yet to add the network? All that
 * have the same cards decide the same. `more`: NULL, or further members. */
bool pl_engine_must_widen(const struct pl_av *members, const struct pl_av *more);

/* Frees a peer that nothing more is sent to. Messages that it has not taken may get lost. No communicator may hold it.
 * Lock held. */
void pl_engine_forget(struct pl_engine *engine, struct pl_peer *peer);

/* Frees the peers that have gone and that nothing uses: else a process that lives long would have one of each engine
 * that it has ever met. Not while a transport reports an event. Lock held. */
void pl_engine_forget_gone(struct pl_engine *engine);

/* The peer of a rank of a communicator. PL_AGAIN: its address is not known yet. Lock held. */
int pl_engine_resolve(struct pl_comm *comm, int rank, struct pl_peer **peer);

/* The same; blocks until the address is known. Lock not held. */
int pl_engine_find(struct pl_comm *comm, int rank, struct pl_peer **peer);

#endif
