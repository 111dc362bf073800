/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The persistent collectives of a communicator. All starts of one have the same tag, so a message does not say which
 * start it is of. Ranks that wait for long say it when they ask (owed.h), and a rank that is asked finds here how often
 * it has started that collective.
 *
 * Locking: the list is under the engine's lock, and so are the functions that search it.
 */
#ifndef PLENUM_CORE_COLL_PERSISTENT_H
#define PLENUM_CORE_COLL_PERSISTENT_H

#include <stdint.h>

#include "core/base/list.h"

struct pl_comm;
struct pl_request;
struct pl_schedule;

/* What a persistent collective has in addition, in its schedule. */
struct pl_persistent {
    struct pl_list link; /* in comm->coll.persistent */
    struct pl_request *request;
    _Atomic uint32_t starts;
};

/* A request of a persistent collective is made, and is destroyed. Lock not held. */
void pl_persistent_add(struct pl_request *request);
void pl_persistent_remove(struct pl_request *request);

/* A start begins: after request->done has become 0. */
void pl_persistent_count(struct pl_request *request);

/* The schedule with this tag; NULL: it is of no persistent collective, or of one that was freed. */
struct pl_schedule *pl_persistent_find(const struct pl_comm *comm, int tag);

/* Which start of the collective with this tag is, or was, this rank's last? 0: none. 1 if nonblocking. */
uint32_t pl_persistent_start(const struct pl_comm *comm, int tag);

#endif
