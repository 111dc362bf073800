/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling a peer that there is something new, and sleeping until one tells us. The reasoning is in doorbell.c.
 */
#ifndef PLENUM_PLUGINS_SHM_DOORBELL_H
#define PLENUM_PLUGINS_SHM_DOORBELL_H

#include "plugins/shm/shm.h"

/* atomic_thread_fence() by another name: the one that gcc's thread sanitizer accepts. */
static inline void pl_shm_fence(void)
{
    __sync_synchronize();
}

/* What comes after publishing a record when the peer wants more than that. */
void pl_shm_notify_slowly(struct pl_shm_peer *peer, bool record);

/* Does it want more than that: does it sleep, or need a fence; or a bell? */
static inline bool pl_shm_wants_attention(const struct pl_shm_peer *peer)
{
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(&peer->head->attention, memory_order_relaxed) | peer->fence;
}

static inline bool pl_shm_wants_more(const struct pl_shm_peer *peer)
{
    return pl_shm_wants_attention(peer) || atomic_load_explicit(&peer->out.ring->bit, memory_order_relaxed);
}

/* After publishing a record. */
static inline void pl_shm_notify(struct pl_shm_peer *peer)
{
    if (pl_shm_unlikely(pl_shm_wants_more(peer)))
        pl_shm_notify_slowly(peer, true);
}

/* After anything else that the peer may be waiting for. */
static inline void pl_shm_notify_other(struct pl_shm_peer *peer)
{
    if (pl_shm_unlikely(pl_shm_wants_attention(peer)))
        pl_shm_notify_slowly(peer, false);
}

/* After reading on in the peer's ring, which it waits for only now and then. */
void pl_shm_notify_room_slowly(struct pl_shm_peer *peer);
static inline void pl_shm_notify_room(struct pl_shm_peer *peer)
{
    if (pl_shm_unlikely(pl_shm_wants_attention(peer)))
        pl_shm_notify_room_slowly(peer);
}

/* Finds out what the kernel offers, and registers the process if that costs nothing. */
void pl_shm_barrier_open(struct pl_shm *shm);

/* Orders what we stored before what we load from here on, as seen by every writer: see doorbell.c. */
void pl_shm_barrier(struct pl_shm *shm);

bool pl_shm_arm(void *self);
void pl_shm_sleep(void *self, long microseconds);
void pl_shm_disarm(void *self);
void pl_shm_wake(void *self);

#endif
