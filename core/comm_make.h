/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators made from communicators. Collective over the parent unless said; arguments are checked by the caller. */
#ifndef PLENUM_CORE_COMM_MAKE_H
#define PLENUM_CORE_COMM_MAKE_H

#include "core/comm.h"

struct pl_info;

/* A duplicate; copies attributes and topology. The hints are those of `info`, which may be NULL, not the parent's. */
int pl_comm_dup(struct pl_comm *parent, struct pl_info *info, struct pl_comm **comm);

/* The same without waiting: *comm may be used once the request is complete. */
int pl_comm_idup(struct pl_comm *parent, struct pl_info *info, struct pl_comm **comm, struct pl_request **request);

/* By color and key; *comm is NULL for MPI_UNDEFINED. Of an intercommunicator: see pl_intercomm_split(). */
int pl_comm_split(struct pl_comm *parent, int color, int key, struct pl_comm **comm);

/* For the members of `group`, collectively over the parent (MPI_Comm_create) or over the group with a tag
 * (MPI_Comm_create_group). *comm is NULL for those outside. Of an intercommunicator (MPI_Comm_create alone): the groups
 * that the two sides name, which are parts of their own. */
int pl_comm_create_members(struct pl_comm *parent, struct pl_group *group, struct pl_comm **comm);
int pl_comm_create_group(struct pl_comm *parent, struct pl_group *group, int tag, struct pl_comm **comm);

#endif
