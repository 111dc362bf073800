/* SPDX-License-Identifier: BSD-3-Clause */
/* Creating an intercommunicator from two groups. `info` and `errhandler` are as in
 * sessions/create/comm_from_group.h. */
#ifndef PLENUM_SESSIONS_CREATE_INTERCOMM_FROM_GROUPS_H
#define PLENUM_SESSIONS_CREATE_INTERCOMM_FROM_GROUPS_H

struct pl_comm;
struct pl_errhandler;
struct pl_group;
struct pl_info;

/* MPI_Intercomm_create_from_groups. Collective over both groups; *comm is NULL when one is empty. `remote` and
 * `remote_leader` count at the leader only; NULL elsewhere. */
int pl_intercomm_from_groups(struct pl_group *local, int local_leader, struct pl_group *remote, int remote_leader,
                             const char *tag, struct pl_info *info, struct pl_errhandler *errhandler,
                             struct pl_comm **comm);

#endif
