/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Departed processes: those that have closed their engine in good order, by MPI_Finalize or with their session, while
 * others still use a communicator that has them as members. Operations among the others go on. But a wait for a
 * departed process would never end: a wait that takes long checks for that, and ends with MPI_ERR_PROC_ABORTED. Only
 * waits check, and for collectives tests: another receive that no thread waits for may still be cancelled.
 *
 * The transport reports the departure of a process that it is connected to; a check makes the connection. If that
 * fails, a process of another job has departed, and so has a member of a session's communicator; a process of the World
 * has once its end is known.
 */
#ifndef PLENUM_CORE_ENGINE_DEPARTURE_H
#define PLENUM_CORE_ENGINE_DEPARTURE_H

#include <stdbool.h>

#include "core/base/compiler.h"

struct pl_comm;
struct pl_engine;
struct pl_request;
struct pl_waiting;

/* A wait takes long: for this request, or for one of those in `what` if `request` is NULL. Completes it if
 * some part of it waits for a departed rank; several, if each does. Both NULL: the program polls, and only collectives
 * cannot be cancelled. Lock held. */
void pl_departure_check(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *what);

/* Has this rank departed, and all that it sent arrived? For MPI_ANY_SOURCE: have all other ranks? (False where another
 * thread of this process may send to itself.) Records it in comm->health.departed. Engine lock held. */
bool pl_departure_has(struct pl_comm *comm, int rank);

/* The outcome of a send whose receiver could not be reached, because of `rc`. If the receiver has departed: MPI_SUCCESS
 * for a message that need not be received, else MPI_ERR_PROC_ABORTED. If it has not: `rc`. Lock held. */
PL_COLD int pl_departure_of_send(struct pl_request *request, int rc);

/* "rank 1 of ocean has finalized", or what else is true of the rank in comm->health.departed: MPI_ERR_PROC_ABORTED,
 * recorded. */
PL_COLD int pl_departure_record(struct pl_comm *comm);

/* What is true of a rank that counts as failed: it has died, or has departed before the others agreed. The same class,
 * recorded. */
PL_COLD int pl_departure_record_failed(const struct pl_comm *comm, int rank);

#endif
