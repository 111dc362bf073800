/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the library shares with other processes: share(), unshare(), attach() and detach() of core/engine/
 * transport.h.
 *
 * Windows come and go, and mapping memory takes several system calls on each side. So spans of up to PL_SHM_KEPT_BYTES
 * that are given back stay mapped for the next request of that size, and so do the parts of peers' regions. A span
 * never moves and never changes its size (region.h). So a mapping of a peer's span shows whatever the peer uses the
 * span for next, even if the peer has emptied it meanwhile.
 *
 * Locking: the engine's lock.
 */
#ifndef PLENUM_PLUGINS_SHM_SHARE_H
#define PLENUM_PLUGINS_SHM_SHARE_H

#include "plugins/shm/shm.h"

int pl_shm_share(void *self, size_t bytes, struct pl_shared *shared);
void pl_shm_unshare(void *self, struct pl_shared *shared, bool reuse);
int pl_shm_attach(struct pl_endpoint *owner, uint64_t place, size_t bytes, void **memory);
void pl_shm_detach(struct pl_endpoint *owner, void *memory, size_t bytes);

/* Unmaps what is kept: of this process's region, when the transport closes; of a peer's, when the peer has gone. What
 * is attached stays. */
void pl_shm_kept_fini(struct pl_shm *shm);
void pl_shm_attached_release(struct pl_shm_peer *peer);

#endif
