/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators made from communicators. Collective over the parent unless said; arguments are checked by the
 * caller. */
#ifndef PLENUM_CORE_COMM_CREATE_H
#define PLENUM_CORE_COMM_CREATE_H

#include "core/engine/comm.h"

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

/* What each process tells all others in a split: what it wants, and ids, in case that it becomes the first of a new
 * group (`local_serial`: for the communicator of its own group when the parent is an intercommunicator). */
struct pl_vote {
    int32_t color, key, rank;
    uint32_t serial;
    uint64_t local_serial, home;
};

/* Puts those of a color to the front, sorted by key and rank; how many. */
int pl_votes_of_color(struct pl_vote *votes, int size, int color);

/* The group of these voters, whose ranks are those in `from`. NULL: out of memory (recorded). */
struct pl_group *pl_votes_group(struct pl_instance *instance, const struct pl_group *from, const struct pl_vote *votes,
                                int count);

#endif
