/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of constructors of communicators, in all chapters. */
#ifndef PLENUM_API_COMM_H
#define PLENUM_API_COMM_H

#include "api/call.h"

/* The handle of a new communicator, which remembers the function that made it. NULL: MPI_COMM_NULL. */
MPI_Comm pl_comm_give(const struct pl_call *call, struct pl_comm *made);

/* Before a constructor that all members of `comm` call: sets memory aside, so that it does not fail on this one after
 * all have agreed that it succeeds. */
void pl_comm_begin(struct pl_call *call, const struct pl_comm *comm);

/* The same where a member does not wait for the others, which would be left with a communicator if this one failed
 * here: without memory to set aside it goes on. */
void pl_comm_begin_anyway(const struct pl_call *call, const struct pl_comm *comm);

/* Sets *newcomm and leaves the call. `made`: NULL for processes outside; freed if the call has failed. */
int pl_comm_leave(struct pl_call *call, struct pl_comm *made, MPI_Comm *newcomm);

#endif
