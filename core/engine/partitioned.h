/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned communication (MPI-5.0 chapter 4): one message that is sent in parts as they become ready.
 *
 * Every partition of the sender travels as a message of its own, a *piece*, the moment it is ready. What the two sides
 * must know of each other goes ahead once, when the send is initialized: the number of pieces, their size and the tags
 * that they will have. That announcement is matched by rank and the user's tag, in the order of the calls that
 * initialize; the receiver then expects all pieces each time it is started, and counts for each of its own partitions
 * the pieces that are still to come. All of it has queues of its own (PL_MSG_PARTITIONED), where other messages never
 * come.
 *
 * Arguments are checked by the caller. Locking: the engine's; what asks for arrival reads counters alone.
 */
#ifndef PLENUM_CORE_ENGINE_PARTITIONED_H
#define PLENUM_CORE_ENGINE_PARTITIONED_H

#include "core/engine/comm.h"
#include "core/engine/request.h"

/* Persistent requests of kind PL_REQ_PARTITIONED, not started; one handle. `count` elements in each partition. `peer`
 * may be MPI_PROC_NULL. */
int pl_psend_create(struct pl_comm *comm, const void *buf, int partitions, MPI_Count count, struct pl_type *type,
                    int peer, int tag, struct pl_request **request);
int pl_precv_create(struct pl_comm *comm, void *buf, int partitions, MPI_Count count, struct pl_type *type, int peer,
                    int tag, struct pl_request **request);

/* Is it one, of a send or of a receive? How many partitions has it? */
bool pl_is_psend(const struct pl_request *request);
bool pl_is_precv(const struct pl_request *request);
int pl_partitions(const struct pl_request *request);

/* The partitions low .. high of an active send may be sent. MPI_ERR_ARG: one of them was ready; those before it go. Any
 * thread. */
int pl_pready(struct pl_request *request, int low, int high);

/* Is all of this partition there? Makes progress once when not. True for a receive that is not active. Any thread. */
bool pl_parrived(struct pl_request *request, int partition);

/* For pl_request_report(): why a receive failed with this class. Records the detail and returns the class. */
int pl_partitioned_report(const struct pl_request *request, int error);

#endif
