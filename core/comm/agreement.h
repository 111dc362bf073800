/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreement of the members of a communicator that live, also while others fail: on the bitwise AND of a flag, on which
 * members have failed, and on the id of a communicator of the rest. It works in revoked and broken communicators.
 *
 * Every member sends its view to the coordinator, the lowest rank that it does not know to have failed. That waits for
 * the view of each other member until it hears from it or knows it to have failed, decides, and sends the decision to
 * all. A member that receives the decision passes it on to all others before it returns: once one that lives has
 * returned, all others will hear the same. When the coordinator fails, the members turn to the next one, and adopt its
 * decision if it has ended already. Else it adopts that of an earlier coordinator if a member knows one; of several the
 * latest, whose coordinator has heard of no earlier one. So no decision that a living member has returned with is ever
 * replaced.
 *
 * A member that has closed its engine in good order counts as failed once all that it sent has arrived.
 *
 * Costs: with n members about n messages at the coordinator, and n squared in all.
 */
#ifndef PLENUM_CORE_COMM_AGREEMENT_H
#define PLENUM_CORE_COMM_AGREEMENT_H

#include "core/engine/comm.h"
#include "core/engine/transport.h"

struct pl_job_item;
struct pl_request;
struct pl_waiting;

/* Starts an agreement. The same calls in the same order on all members. Both outputs are written before the request,
 * which has one handle, completes; NULL: not wanted.
 *
 * `flag`: this member's flags, and then those that all have; in an intercommunicator, all of the other group. The
 * request fails with MPI_ERR_PROC_ABORTED on all members alike if a member has failed that not all have acknowledged;
 * the flag is valid all the same.
 * `newcomm`: a communicator of the members that live, in their order; of an intercommunicator, one of those of both
 * groups, and MPI_ERR_PROC_ABORTED on all members if a group has none left. `maker`: the function that makes it.
 *
 * MPI_ERR_NO_MEM. Lock not held. */
int pl_agreement_start(struct pl_comm *comm, int *flag, MPI_Comm *newcomm, const char *maker,
                       struct pl_request **request);

/* Slots of client.h. */
void pl_agreement_describe(const struct pl_request *request, struct pl_job_item *item);
void pl_agreement_arrived(struct pl_engine *engine, struct pl_comm *comm, const struct pl_origin *from,
                          const struct pl_header *header, const void *data, struct pl_rndv *rndv);
void pl_agreement_failed(struct pl_comm *comm);
void pl_agreement_awaited(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *what);
void pl_agreement_closing(struct pl_comm *comm);
void pl_agreement_release(struct pl_comm *comm);

#endif
