/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of a communicator that have failed, as far as this process knows. What follows depends on the variable
 * error_range:
 *
 * - group: the communicator breaks, for all members (comm_break.h).
 * - local: operations that involve the failed member fail, and so do collective ones, which need all members. Messages
 *   among the others go on. A receive from any source fails, as it may wait for the failed member. If the program has
 *   its request, it is held instead: it stays posted, and waits for it return MPIX_ERR_PROC_FAILED_PENDING until the
 *   program has acknowledged the failure.
 *
 * Only communicators of the program go on: those that the library made for them, and those of windows and files, break
 * as a whole. The engine's lock is held in all functions unless said otherwise.
 */
#ifndef PLENUM_CORE_ENGINE_COMM_FAILURES_H
#define PLENUM_CORE_ENGINE_COMM_FAILURES_H

#include <stdbool.h>

#include "core/base/compiler.h"
#include "core/engine/comm.h"

struct pl_request;

/* The number by which a member is known in pl_comm_failures: its rank, behind those of the local group if `remote`. */
static inline int pl_comm_member(const struct pl_comm *comm, int rank, bool remote)
{
    return remote ? comm->size + rank : rank;
}

/* Does the communicator go on without failed members? */
bool pl_comm_keeps_failures(const struct pl_comm *comm);

/* This member has failed: its process has died, or cannot be reached any more. Nothing if that is known. */
void pl_comm_fail_member(struct pl_comm *comm, int member);

/* The same for one whose link is lost, or which others have left out: it may live. */
void pl_comm_lose_member(struct pl_comm *comm, int member);

/* The members that have failed in `local`, which has become the local group's communicator of `comm`. */
void pl_comm_share_failures(struct pl_comm *comm, const struct pl_comm *local);

/* Is that all that is known of the failed member? */
bool pl_comm_member_unreached(const struct pl_comm *comm, int member);

/* A member has failed, and it is not known which: what needs all members fails. */
void pl_comm_confine(struct pl_comm *comm, int rank);

/* Has this member failed, as this process knows? And the target of this rank? */
bool pl_comm_knows_failed(const struct pl_comm *comm, int member);
bool pl_comm_member_failed(const struct pl_comm *comm, int rank);

/* Has a member failed of which the program has not said that it knows? Lock not needed. */
static inline bool pl_comm_unacknowledged(const struct pl_comm *comm)
{
    return pl_unlikely(atomic_load_explicit(&comm->health.failures.count, memory_order_relaxed) > 0) &&
           atomic_load(&comm->health.failures.count) > atomic_load(&comm->health.failures.acknowledged);
}

/* Must this receive, which is about to be posted, end at once because of failed members? *error: how. Asked only if the
 * communicator has failed. */
PL_COLD bool pl_failures_end_receive(const struct pl_request *request, int *error);

/* Can a probe for this source find nothing any more because of failed members? And the error. Lock not needed for the
 * second. */
PL_COLD bool pl_failures_end_probe(const struct pl_comm *comm, int source);
PL_COLD int pl_failures_record_probe(const struct pl_comm *comm, int source);

/* Is this operation of the program held? Not complete, that is, and may wait for a failed member. */
bool pl_request_is_held(const struct pl_request *request);

/* The same without the lock, and why: MPIX_ERR_PROC_FAILED_PENDING, recorded. */
PL_COLD bool pl_request_seems_held(const struct pl_request *request);
PL_COLD int pl_request_held_record(const struct pl_request *request);

/* The first `count` failures are known to the program, and those before. Returns how many are. Lock not held. */
int pl_failures_acknowledge(struct pl_comm *comm, int count);

/* The members that have failed, or the first `count` of them, as a group with one handle. *group is NULL: none. Asks
 * the system first if `count` is negative. MPI_ERR_NO_MEM. Lock not held. */
int pl_failures_group(struct pl_comm *comm, int count, struct pl_group **group);

#endif
