/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifying a peer, and sleeping until a peer notifies us. doorbell.c has the reasoning.
 */
#ifndef PLENUM_PLUGINS_SHM_DOORBELL_H
#define PLENUM_PLUGINS_SHM_DOORBELL_H

#include "plugins/shm/shm.h"

/* atomic_thread_fence() by another name: the one that gcc's thread sanitizer accepts. */
static inline void pl_shm_fence(void)
{
    __sync_synchronize();
}

/* Notifies a peer that may need a fence, a ready bit (after a `record`) or a wake-up. Notices that it has closed. */
void pl_shm_notify_slow(struct pl_shm_peer *peer, bool record);

/* Does the peer sleep, has it closed, or does it need a fence; or a ready bit? */
static inline bool pl_shm_wants_attention(const struct pl_shm_peer *peer)
{
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(&peer->head->attention, memory_order_relaxed) | peer->fence;
}

static inline bool pl_shm_wants_notify(const struct pl_shm_peer *peer)
{
    return pl_shm_wants_attention(peer) || atomic_load_explicit(&peer->out.ring->ready_bit, memory_order_relaxed);
}

/* To be called after publishing a record. */
static inline void pl_shm_notify(struct pl_shm_peer *peer)
{
    if (pl_unlikely(pl_shm_wants_notify(peer)))
        pl_shm_notify_slow(peer, true);
}

/* To be called after anything else that the peer may be waiting for. */
static inline void pl_shm_notify_other(struct pl_shm_peer *peer)
{
    if (pl_unlikely(pl_shm_wants_attention(peer)))
        pl_shm_notify_slow(peer, false);
}

/* To be called after reading records of the peer, which rarely waits for that. */
void pl_shm_notify_space_slow(struct pl_shm_peer *peer);
static inline void pl_shm_notify_space(struct pl_shm_peer *peer)
{
    if (pl_unlikely(pl_shm_wants_attention(peer)))
        pl_shm_notify_space_slow(peer);
}

/* Asks the kernel for membarrier, and registers the process for it if that costs nothing. */
void pl_shm_barrier_open(struct pl_shm *shm);

/* Orders our stores before our later loads, as every writer sees them. */
void pl_shm_barrier(struct pl_shm *shm);

/* Slots of pl_transport_ops. sleep() and wake() run without the lock. */
bool pl_shm_arm(void *self);
void pl_shm_sleep(void *self, long microseconds);
void pl_shm_disarm(void *self);
void pl_shm_wake(void *self);

#endif
