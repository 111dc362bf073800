/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators from groups: the members meet through their front doors.
 *
 * Every member brings its engine's address to the first member (of an intercommunicator: to its group's leader, and the
 * leaders meet), which chooses the communicator's id once all have come, and tells each of them the id and all
 * addresses. Groups and tags are compared exactly. No server takes part, and nobody waits for a process outside the
 * groups. The same groups and tag may be used again and again, one after the other; different ones at the same time by
 * different threads.
 *
 * `info` may have the key "plenum_meet_timeout": seconds to wait for the others, in place of the configuration variable
 * meet_timeout. `info` and `errhandler` may be NULL: none, the session's.
 */
#ifndef PLENUM_SESSIONS_CREATE_CREATE_H
#define PLENUM_SESSIONS_CREATE_CREATE_H

struct pl_comm;
struct pl_errhandler;
struct pl_group;
struct pl_info;

/* MPI_Comm_create_from_group. Collective over the group; *comm is NULL for the empty group. */
int pl_comm_from_group(struct pl_group *group, const char *tag, struct pl_info *info, struct pl_errhandler *errhandler,
                       struct pl_comm **comm);

/* MPI_Intercomm_create_from_groups. Collective over both groups; *comm is NULL when one is empty. `remote` and
 * `remote_leader` are the leader's; NULL elsewhere. */
int pl_intercomm_from_groups(struct pl_group *local, int local_leader, struct pl_group *remote, int remote_leader,
                             const char *tag, struct pl_info *info, struct pl_errhandler *errhandler,
                             struct pl_comm **comm);

#endif
