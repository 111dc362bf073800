/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that have left: they have closed their engine in good order, by MPI_Finalize or with their session, while
 * others go on with a communicator that has them. That is no harm by itself, and what is under way among the others
 * goes on. But who waits for one that has left would wait for ever, as nothing comes from there any more: a wait that
 * takes long looks for that, and ends with MPI_ERR_PROC_ABORTED. Only a wait: a receive that nobody waits for may still
 * be cancelled.
 *
 * The transport tells who has left of those with whom it has a connection; a wait makes one. Who cannot be reached any
 * more is seen by the end of its process.
 */
#ifndef PLENUM_CORE_ENGINE_DEPARTURE_H
#define PLENUM_CORE_ENGINE_DEPARTURE_H

#include <stdbool.h>

struct pl_comm;
struct pl_engine;
struct pl_request;
struct pl_waiting;

/* A wait for this request takes long; or for one of those in `what`, when `request` is NULL. Completes it, or them all,
 * if all that is waited for has left. Lock not held. */
void pl_departure_check(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *what);

/* Has this rank left, or for MPI_ANY_SOURCE have all others (false where another thread of this process may send to
 * itself)? What it has sent has arrived. Notes it in comm->left. Engine lock held. */
bool pl_departure_has(struct pl_comm *comm, int rank);

/* "rank 1 of ocean has finalized": MPI_ERR_PROC_ABORTED, recorded. Somebody in comm->left. */
int pl_departure_record(const struct pl_comm *comm) __attribute__((cold));

#endif
