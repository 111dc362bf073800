/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators from groups: the members meet through their front doors.
 *
 * Every member sends its member list, tag and engine's address to the first member, which compares lists and tags
 * exactly, chooses the communicator's id once all have come, and answers each with the id and all addresses. No server
 * takes part, and nobody waits for a process outside the group. The same list and tag may be used again and again, one
 * after the other; different ones at the same time by different threads.
 */
#ifndef PLENUM_SESSIONS_RENDEZVOUS_H
#define PLENUM_SESSIONS_RENDEZVOUS_H

struct pl_comm;
struct pl_errhandler;
struct pl_group;
struct pl_info;

/* MPI_Comm_create_from_group. Collective over the group; *comm is NULL for the empty group. `info` and `errhandler` may
 * be NULL: none, the session's. */
int pl_comm_from_group(struct pl_group *group, const char *tag, struct pl_info *info, struct pl_errhandler *errhandler,
                       struct pl_comm **comm);

#endif
