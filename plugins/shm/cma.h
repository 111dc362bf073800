/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies that the kernel makes from and to a peer's memory (process_vm_readv, process_vm_writev), for rendezvous
 * messages and for one-sided operations.
 *
 * Data is copied once instead of twice, and the peer need not run. But the kernel looks up every page, so where both
 * processes run at the same time a FIFO is faster. Many sandboxes forbid it. The first attempt shows that; the FIFO
 * then serves this peer, and windows use messages.
 */
#ifndef PLENUM_PLUGINS_SHM_CMA_H
#define PLENUM_PLUGINS_SHM_CMA_H

#include "plugins/shm/rndv.h"

/* May this message be read straight from the sender's memory? */
bool pl_shm_cma_possible(const struct pl_shm_rndv *rndv);
/* Should it be, where the FIFO could serve too? */
bool pl_shm_cma_wanted(const struct pl_shm_rndv *rndv);

enum pl_shm_cma_result {
    PL_SHM_CMA_DONE,
    PL_SHM_CMA_MORE,
    PL_SHM_CMA_REFUSED, /* by the kernel; the rest of the data can come through a FIFO */
    PL_SHM_CMA_FAILED,  /* the sender has died */
};
/* Reads a slice. */
enum pl_shm_cma_result pl_shm_cma_read(struct pl_shm_rndv *rndv);

/* pl_transport_ops.cma: any thread may call it, without the lock. */
int pl_shm_cma_copy(struct pl_endpoint *endpoint, struct pl_cma *cma);

#endif
