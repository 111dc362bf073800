/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of a communicator that have failed, as far as this process knows. What follows depends on the variable
 * error_range:
 *
 * - group: the communicator breaks, for all members (comm_break.h).
 * - local: operations that involve the lost member fail, and so do collective ones, which need all members. Messages
 *   among the others go on. A receive from any source may wait for the lost member; it fails, or if the program has its
 *   request, is held: it stays posted, and waits for it return MPIX_ERR_PROC_FAILED_PENDING until the program has
 *   acknowledged the loss.
 *
 * Only communicators of the program know losses: those that the library made for them, and those of windows and files,
 * break as a whole. The engine's lock is held in all functions unless said otherwise.
 */
#ifndef PLENUM_CORE_ENGINE_COMM_LOSS_H
#define PLENUM_CORE_ENGINE_COMM_LOSS_H

#include <stdbool.h>

#include "core/base/compiler.h"
#include "core/engine/comm.h"

struct pl_request;

/* The number by which a member is known in pl_comm_losses: its rank, behind those of the local group if `remote`. */
static inline int pl_comm_member(const struct pl_comm *comm, int rank, bool remote)
{
    return remote ? comm->size + rank : rank;
}

/* Does the communicator go on without lost members? */
bool pl_comm_keeps_losses(const struct pl_comm *comm);

/* This member has failed: its process has died, or cannot be reached any more. Nothing if that is known. */
void pl_comm_lose(struct pl_comm *comm, int member);

/* Is the target of this rank lost? */
bool pl_comm_has_lost(const struct pl_comm *comm, int rank);

/* Has a member failed of which the program has not said that it knows? Lock not needed. */
static inline bool pl_comm_unacknowledged(const struct pl_comm *comm)
{
    return pl_unlikely(atomic_load_explicit(&comm->losses.count, memory_order_relaxed) > 0) &&
           atomic_load(&comm->losses.count) > atomic_load(&comm->losses.acknowledged);
}

/* Must this receive, which is about to be posted, end at once because of lost members? *error: how. Asked only if the
 * communicator has failed. */
PL_COLD bool pl_loss_ends_receive(const struct pl_request *request, int *error);

/* Can a probe for this source find nothing any more because of lost members? And the error. Lock not needed for the
 * second. */
PL_COLD bool pl_loss_ends_probe(const struct pl_comm *comm, int source);
PL_COLD int pl_loss_record_probe(const struct pl_comm *comm, int source);

/* Is this operation of the program held? Not complete, that is, and may wait for a lost member. */
bool pl_request_is_held(const struct pl_request *request);

/* The same without the lock, and why: MPIX_ERR_PROC_FAILED_PENDING, recorded. */
PL_COLD bool pl_request_seems_held(const struct pl_request *request);
PL_COLD int pl_request_held_record(const struct pl_request *request);

/* The first `count` losses are known to the program, and those before. Returns how many are. Lock not held. */
int pl_loss_acknowledge(struct pl_comm *comm, int count);

/* The members that have failed, or the first `count` of them, as a group with one handle. *group is NULL: none. Searches
 * for such as are not known yet if `count` is negative. MPI_ERR_NO_MEM. Lock not held. */
int pl_loss_group(struct pl_comm *comm, int count, struct pl_group **group);

#endif
