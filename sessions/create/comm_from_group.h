/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creating communicators from groups: the members exchange their addresses through their listeners.
 *
 * Every member sends its engine's address to the first member, in an intercommunicator to its group's leader; the two
 * leaders exchange as well. Once all have joined, the coordinator chooses the communicator's id, and answers with the
 * id and all addresses. Groups and tags are compared in full. No server takes part, and no process outside the groups
 * has to act. The same groups and tag may be used again and again, one creation after the other; threads that create
 * several communicators at the same time must use different ones.
 *
 * `info` may have the key "plenum_meet_timeout": seconds to wait for the others, in place of the configuration variable
 * meet_timeout. `info` and `errhandler` may be NULL: no info, the session's error handler.
 */
#ifndef PLENUM_SESSIONS_CREATE_COMM_FROM_GROUP_H
#define PLENUM_SESSIONS_CREATE_COMM_FROM_GROUP_H

#include <stdbool.h>

struct pl_av;
struct pl_engine;
struct pl_comm;
struct pl_errhandler;
struct pl_exchange;
struct pl_group;
struct pl_info;
struct pl_instance;

/* MPI_Comm_create_from_group. Collective over the group; *comm is NULL for the empty group. */
int pl_comm_from_group(struct pl_group *group, const char *tag, struct pl_info *info, struct pl_errhandler *errhandler,
                       struct pl_comm **comm);

/* --- shared with intercomm_from_groups.c ------------------------------------------------------------------------ */

/* The open instance of a group of which this process is a member. NULL, recorded: it is finalized, or this process is
 * not a member of the group, which the message calls `name`. */
struct pl_instance *pl_create_instance(const struct pl_group *group, const char *name);

/* Sets memory aside: this process fails for lack of it before the others count on it, or not at all. Recorded. */
int pl_create_reserve(const struct pl_group *group);

/* Milliseconds to wait for the other members; 0: no limit. */
int pl_create_timeout(struct pl_info *info, long *milliseconds);

/* Fills the address vector with the payloads of a complete exchange, which are address cards. Coordinator only. */
int pl_create_addresses(struct pl_av *av, const struct pl_exchange *exchange);

/* Must the members exchange their cards once more? Then this process has added the network. `more`: NULL, or further
 * members. */
bool pl_create_must_repeat(struct pl_engine *engine, const struct pl_av *members, const struct pl_av *more);

/* Sets the hints and the error handler of a new communicator. After an error the communicator is freed, and NULL. */
int pl_create_configure(struct pl_comm **comm, struct pl_info *info, struct pl_errhandler *errhandler);

#endif
