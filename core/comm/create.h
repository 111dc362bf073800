/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators made from communicators. Collective over the parent unless stated; the caller checks the arguments.
 *
 * The first member of a new group chooses the id. It travels to the others with what they exchange anyway (split), or
 * down a tree (the other functions).
 */
#ifndef PLENUM_CORE_COMM_CREATE_H
#define PLENUM_CORE_COMM_CREATE_H

#include "core/engine/comm.h"

struct pl_info;
struct pl_request;

/* A duplicate; copies attributes and topology. The hints come from `info`, which may be NULL, not from the parent. */
int pl_comm_dup(struct pl_comm *parent, struct pl_info *info, struct pl_comm **comm);

/* The same without waiting: *comm may be used once the request is complete. */
int pl_comm_idup(struct pl_comm *parent, struct pl_info *info, struct pl_comm **comm, struct pl_request **request);

/* Records why a request of a collective, or of a duplicate, has failed, and returns the error class. */
int pl_comm_idup_report(const struct pl_request *request, int error);

/* By color and key; *comm is NULL for MPI_UNDEFINED. For intercommunicators see pl_intercomm_split(). */
int pl_comm_split(struct pl_comm *parent, int color, int key, struct pl_comm **comm);

/* Sets memory aside for this thread (core/base/memory.h), before a communicator or a file is made that all members
 * make. Once a member has contributed to that, others may have got theirs when it fails. */
int pl_comm_reserve(const struct pl_comm *parent);

/* For the members of `group`, collectively over the parent (MPI_Comm_create) or over the group with a tag
 * (MPI_Comm_create_group). *comm is NULL outside the group. With an intercommunicator (MPI_Comm_create only) each side
 * names a subset of its group. */
int pl_comm_create_members(struct pl_comm *parent, struct pl_group *group, struct pl_comm **comm);
int pl_comm_create_group(struct pl_comm *parent, struct pl_group *group, int tag, struct pl_comm **comm);

/* Each process's contribution to a split: its color and key, and ids in case it becomes the first of a new group.
 * `local_serial` is for the communicator of the local group, if the parent is an intercommunicator. */
struct pl_vote {
    int32_t color, key, rank;
    uint32_t serial;
    uint64_t local_serial, home;
};

/* Moves the votes of a color to the front, sorted by key and rank, and returns their number. */
int pl_votes_of_color(struct pl_vote *votes, int size, int color);

/* The group of these voters, whose ranks are those in `from`. NULL: out of memory (recorded). */
struct pl_group *pl_votes_group(struct pl_instance *instance, const struct pl_group *from, const struct pl_vote *votes,
                                int count);

#endif
