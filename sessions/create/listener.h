/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The front door: an engine of the process itself, at an address that others find from its rank alone, through which
 * the processes' instances meet. Opened when it is first needed, closed with the last instance.
 */
#ifndef PLENUM_SESSIONS_CREATE_LISTENER_H
#define PLENUM_SESSIONS_CREATE_LISTENER_H

#include "core/engine/engine.h"

struct pl_wait;

/* The open door. Messages go to `arrived`, called with its lock held. */
int pl_listener_open(void (*arrived)(struct pl_engine *, const struct pl_origin *, const struct pl_header *,
                                     const void *),
                     struct pl_engine **listener);

/* The door of a rank of the job. PL_AGAIN: it is not open yet. Lock held. */
int pl_listener_peer(struct pl_engine *listener, int rank, struct pl_peer **peer);

/* Between unsuccessful rounds: moves the other engines on, spins, yields, sleeps. */
void pl_listener_idle(struct pl_engine *listener, struct pl_wait *wait);

/* The same, with what all kinds of messages are for. */
int pl_exchange_listener(struct pl_engine **listener);

/* exchange.c: throws away what came for meetings that never took place. */
void pl_exchange_forget_early(void);

#endif
