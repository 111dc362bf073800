/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators. Arguments are checked by the caller; functions are collective over both groups. */
#ifndef PLENUM_CORE_COMM_INTERCOMM_H
#define PLENUM_CORE_COMM_INTERCOMM_H

#include "core/engine/comm.h"

/* From the local group of `local` and that behind rank `remote_leader` of `peer`, which only the leader uses. */
int pl_intercomm_create(struct pl_comm *local, int local_leader, struct pl_comm *peer, int remote_leader, int tag,
                        struct pl_comm **comm);

/* The two groups as one; the one with `high` comes second. */
int pl_intercomm_merge(struct pl_comm *comm, int high, struct pl_comm **merged);

/* Both groups exchange a value that is the same within each, agree whether somebody `failed` (any code but 0), and on a
 * new id. */
int pl_intercomm_agree(struct pl_comm *comm, int value, int failed, int *remote_value, struct pl_comm_id *id);

/* From what its members have found out about each other: the groups, ids for it and for the communicator of the local
 * group, addresses. Local. Retains the groups and takes the books that it sets to NULL. `first`: the local group is the
 * first one. `parent`, which may be NULL, gives the error handler, and the local group's addresses where `local_book`
 * is NULL. */
struct pl_intercomm_parts {
    struct pl_comm *parent;
    struct pl_group *local, *remote;
    struct pl_av *local_av, *remote_av;
    struct pl_comm_id id, local_id;
    bool first;
};
int pl_intercomm_assemble(struct pl_instance *instance, struct pl_intercomm_parts *parts, struct pl_comm **comm);

/* By color and key: those of a color in both groups. *comm is NULL for MPI_UNDEFINED, and where one group has none of
 * the color. */
int pl_intercomm_split(struct pl_comm *parent, int color, int key, struct pl_comm **comm);

/* It is broken when the communicator of its local group is (core/engine/peer_failure.h). To be called when it has that. */
void pl_intercomm_share_loss(struct pl_comm *comm);

/* What a duplicate needs besides what every communicator has. */
int pl_intercomm_finish_dup(struct pl_comm *parent, struct pl_comm *made);

#endif
