/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned communication (MPI-5.0 chapter 4): one message that is sent in parts as they become ready.
 *
 * Each partition of the sender becomes one message, a *chunk*, the moment it is ready. When the send is initialized, it
 * announces the number of chunks, their size and their tags. The announcement is matched by rank and the user's tag, in
 * the order of the initializing calls. The receiver expects all chunks each time it is started; for each of its
 * partitions it counts the chunks that are still to come. Chunks and announcements have separate queues
 * (PL_MSG_PARTITIONED).
 *
 * The caller has checked the arguments. Locking: the engine's; pl_parrived() reads atomic counters first.
 */
#ifndef PLENUM_CORE_ENGINE_PARTITIONED_H
#define PLENUM_CORE_ENGINE_PARTITIONED_H

#include "core/engine/comm.h"
#include "core/engine/request.h"

/* Makes a persistent request of kind PL_REQ_PARTITIONED with one handle. `count` is the number of elements of each
 * partition. `peer` may be MPI_PROC_NULL. */
int pl_psend_create(struct pl_comm *comm, const void *buf, int partitions, MPI_Count count, struct pl_type *type,
                    int peer, int tag, struct pl_request **request);
int pl_precv_create(struct pl_comm *comm, void *buf, int partitions, MPI_Count count, struct pl_type *type, int peer,
                    int tag, struct pl_request **request);

/* Is it a partitioned send? A partitioned receive? The number of its partitions. */
bool pl_is_psend(const struct pl_request *request);
bool pl_is_precv(const struct pl_request *request);
int pl_partitions(const struct pl_request *request);

/* Marks the partitions low .. high of an active send as ready. MPI_ERR_ARG: one of them was; those before it are sent.
 * Any thread. */
int pl_pready(struct pl_request *request, int low, int high);

/* Has this partition arrived? Makes one round of progress if not. True for a receive that is not active. Any thread. */
bool pl_parrived(struct pl_request *request, int partition);

/* For pl_request_report(): records why a receive failed with this class, and returns it. */
int pl_partitioned_report(const struct pl_request *request, int error);

#endif
