/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The remote path: puts and gets of contiguous data are one-sided transfers of the transport, on memory that the target
 * has exposed. With RDMA the target need not call MPI for them. Everything else is messages (path_message.h): data with
 * gaps, accumulates, locks, flushes of messages.
 *
 * Accumulates never are atomics of the network: those are not atomic with the processor's, which executes the
 * operations that a network does not have, and those of the target's node.
 *
 * A transfer does not queue behind messages. So in an epoch of MPI_Win_lock_all() puts and gets are messages until the
 * target has granted the lock.
 */
#ifndef PLENUM_CORE_RMA_PATH_REMOTE_H
#define PLENUM_CORE_RMA_PATH_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engine/transport.h"
#include "core/rma/path.h"

struct pl_comm;
struct pl_win;
struct pl_win_card;

/* This process's exposed memory, and the keys of the others. */
struct pl_remote_window {
    const struct pl_transport_ops *ops; /* of the transport that exposes it; NULL: none */
    void *self;
    struct pl_exposed exposed;
    unsigned char *keys; /* [comm->size * longest]; NULL: no rank has a key */
    size_t longest;
};

/* What an origin keeps for each target. Engine lock. */
struct pl_remote_target {
    uint64_t base;     /* the target's address of its memory */
    size_t key_length; /* 0: it has none */
    const struct pl_transport_ops *ops;
    void *imported;   /* its key; NULL: not imported yet */
    uint32_t pending; /* transfers under way */
    bool dirty;       /* transfers that may not be complete at the target */
    bool granted;     /* it has granted the lock of MPI_Win_lock_all() */
};

/* Exposes this process's memory if a transport can, and says so in the card. Lock not held. */
void pl_win_remote_init(struct pl_win *win, struct pl_win_card *own);

/* Exchanges the keys, if any rank has one. Collective in the window's parent. */
int pl_win_remote_exchange(struct pl_win *win, struct pl_comm *parent, const struct pl_win_card *cards);

/* Chooses the path for the targets that have keys and would else get messages. */
void pl_win_remote_choose(struct pl_win *win);

/* Gives back the keys and the exposure. No transfer is under way. Engine lock held. */
void pl_win_remote_fini(struct pl_win *win);

extern const struct pl_rma_path pl_rma_path_remote;

#endif
