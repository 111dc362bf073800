/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection requests: "read my ring, at this offset of my region".
 *
 * An inbox is an array of slots in an engine's head. A caller claims a free slot with its pid, fills in the request,
 * marks the slot ready, and increments `requests`. The owner accepts the request and frees the slot, or marks it
 * refused if it cannot read that ring; the caller then frees it. An owner that is short of memory or descriptors leaves
 * the request as it is for some seconds, and tries again. Requests need no order. The pid lets the owner free
 * the slot of a caller that died between two steps.
 */
#ifndef PLENUM_PLUGINS_SHM_INBOX_H
#define PLENUM_PLUGINS_SHM_INBOX_H

#include "plugins/shm/shm.h"

/* Posts the request for our ring to the peer's inbox. False: the inbox is full. */
bool pl_shm_request_post(struct pl_shm_peer *peer);
/* Posts the request if that is still to be done, and checks for the answer. Returns the number of events. */
int pl_shm_request_progress(struct pl_shm_peer *peer);

/* Answers the requests in our inbox. Returns their number. */
int pl_shm_requests_accept(struct pl_shm *shm);
/* Tries those again that memory or descriptors did not suffice for. Returns the number of answers. */
int pl_shm_requests_retry(struct pl_shm *shm);
/* Frees slots of our inbox whose callers have died. */
void pl_shm_inbox_clean(struct pl_shm *shm);

#endif
