/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FIFOs: circular buffers through which the data of rendezvous messages is copied in a pipeline.
 *
 * A FIFO lies in the sender's region, with two counters: bytes put in, and bytes taken out. The data of several
 * messages lies end to end in the order of their CTS, and each message begins at a whole cache line. Both sides
 * know all lengths, so that a FIFO holds nothing but data. Sender and receiver copy at the same time, the receiver one
 * chunk behind: it reads what is still in the cache.
 *
 * A FIFO belongs to an engine, not to a peer. It serves the peer that needed it last, and another peer once it is
 * empty. An engine has more than FIFOS_KEPT of them only if more peers receive at the same time.
 */
#ifndef PLENUM_PLUGINS_SHM_FIFO_H
#define PLENUM_PLUGINS_SHM_FIFO_H

#include "plugins/shm/shm.h"

/* The writing end of a FIFO. */
struct pl_shm_fifo_out {
    struct pl_list link;      /* in shm->fifos */
    struct pl_shm_peer *peer; /* its reader; NULL: none */
    struct pl_shm_fifo *shared;
    uint64_t filled; /* bytes put in so far */
    uint64_t end;    /* where the data of the last message with a CTS will end */
    uint64_t floor;  /* everything before it has been taken out, whatever the reader's counter says */
    struct pl_shm_span span;
};

/* --- the sender -------------------------------------------------------------------------------------------------- */

/* Finds or creates peer->out_fifo. MPI_ERR_NO_MEM. */
int pl_shm_fifo_acquire(struct pl_shm_peer *peer);
/* Gives it back. `reuse`: the peer does not read it any more. */
void pl_shm_fifo_release(struct pl_shm_peer *peer, bool reuse);
void pl_shm_fifos_close(struct pl_shm *shm);

/* Reserves space for the next message. Returns the position where it begins. */
uint64_t pl_shm_fifo_reserve(struct pl_shm_fifo_out *fifo, uint64_t bytes);
/* Puts some data in, from the messages in peer->filling. Returns the number of events. */
int pl_shm_fifo_fill(struct pl_shm_peer *peer);
bool pl_shm_fifo_has_space(const struct pl_shm_peer *peer); /* would pl_shm_fifo_fill() put data in? */
bool pl_shm_fifo_flushed(const struct pl_shm_peer *peer);   /* has all that was put in been taken out? */

/* --- the receiver ------------------------------------------------------------------------------------------------ */

/* Maps the peer's FIFO at this offset of its region instead of the one mapped so far. */
int pl_shm_fifo_attach(struct pl_shm_peer *peer, uint64_t offset);
void pl_shm_fifo_detach(struct pl_shm_peer *peer);

/* Takes some data out, for the messages in peer->draining. Returns the number of events. */
int pl_shm_fifo_drain(struct pl_shm_peer *peer);
bool pl_shm_fifo_has_data(const struct pl_shm_peer *peer); /* would pl_shm_fifo_drain() take data out? */

#endif
