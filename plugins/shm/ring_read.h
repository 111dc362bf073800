/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the rings of other engines.
 *
 * A damaged or hostile writer may change a record after it was published. So every record's word and header are copied,
 * the copies are checked, and only the copies are used. Data is handed on in place: the worst that a writer can do is
 * to send garbage.
 *
 * Up to PL_SHM_POLLS rings are polled, one line each, which stays in the reader's cache until something is written.
 * With more peers, polling would touch too many lines in vain. The writers of the other rings set a ready bit in the
 * head instead, which costs them an atomic operation on a shared line. A busy ring with a ready bit takes the place of
 * the quietest polled ring.
 */
#ifndef PLENUM_PLUGINS_SHM_RING_READ_H
#define PLENUM_PLUGINS_SHM_RING_READ_H

#include "plugins/shm/shm.h"

/* Starts to read the peer's ring, in.ring, by polling it or by a ready bit; and stops. */
void pl_shm_read_start(struct pl_shm_peer *peer);
void pl_shm_read_stop(struct pl_shm_peer *peer);

bool pl_shm_read_has_record(const struct pl_shm_peer *peer);

/* Reads the peer's records, up to a limit. Returns their number, as the two below do. */
int pl_shm_read(struct pl_shm_peer *peer);
int pl_shm_read_polled(struct pl_shm *shm);
int pl_shm_read_unpolled(struct pl_shm *shm);

/* pl_transport_ops.take_next */
ptrdiff_t pl_shm_take_next(struct pl_endpoint *endpoint, const struct pl_header *wanted, int source, int tag, int polls,
                           void *buffer, size_t capacity);

#endif
