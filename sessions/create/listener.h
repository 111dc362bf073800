/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The front door: an engine of the process itself, at an address that others find from its rank alone, through which
 * the processes' instances meet. Opened when it is first needed, closed with the last instance.
 */
#ifndef PLENUM_SESSIONS_CREATE_LISTENER_H
#define PLENUM_SESSIONS_CREATE_LISTENER_H

#include "core/engine/engine.h"

/* The open door. Messages go to `arrived`, called with its lock held. */
int pl_door_open(void (*arrived)(struct pl_engine *, const struct pl_origin *, const struct pl_header *, const void *),
                 struct pl_engine **door);

/* The door of a rank of the job. PL_AGAIN: it is not open yet. Lock held. */
int pl_door_peer(struct pl_engine *door, int rank, struct pl_peer **peer);

/* Between unsuccessful rounds: moves the other engines on, spins, yields, sleeps. */
void pl_door_idle(struct pl_engine *door, struct pl_wait *wait);

/* The same, with what all kinds of messages are for. */
int pl_meeting_door(struct pl_engine **door);

/* exchange.c: throws away what came for meetings that never took place. */
void pl_meeting_forget_early(void);

#endif
