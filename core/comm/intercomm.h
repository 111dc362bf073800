/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators: making one from two groups, merging the two. The functions are collective over both groups unless
 * stated; the caller checks the arguments.
 *
 * The leaders exchange their serialized groups and addresses, and pass them on to their groups. Each leader proposes an
 * id. The lesser one is used, and its group counts as the first, which breaks ties later. An intercommunicator holds a
 * communicator of its local group, for what the group must agree on.
 */
#ifndef PLENUM_CORE_COMM_INTERCOMM_H
#define PLENUM_CORE_COMM_INTERCOMM_H

#include "core/engine/comm.h"

/* From the group of `local` and the one that rank `remote_leader` of `peer` leads; only the leader uses `peer`. */
int pl_intercomm_create(struct pl_comm *local, int local_leader, struct pl_comm *peer, int remote_leader, int tag,
                        struct pl_comm **comm);

/* Merges the two groups; the one with `high` comes second. */
int pl_intercomm_merge(struct pl_comm *comm, int high, struct pl_comm **merged);

/* Exchanges a value, which is the same within each group. All agree on whether a process `failed` (any code except 0),
 * and on a new id. */
int pl_intercomm_agree(struct pl_comm *comm, int value, int failed, int *remote_value, struct pl_comm_id *id);

/* The parts of an intercommunicator whose processes have already exchanged groups, ids and addresses. `local_id` is for
 * the communicator of the local group. `first`: the local group is the first one. `parent`, which may be NULL, supplies
 * the error handler, and the local group's addresses if `local_av` is NULL. */
struct pl_intercomm_parts {
    struct pl_comm *parent;
    struct pl_group *local, *remote;
    struct pl_av *local_av, *remote_av;
    struct pl_comm_id id, local_id;
    bool first;
};

/* Local. Retains the groups; steals the address vectors that it sets to NULL. */
int pl_intercomm_assemble(struct pl_instance *instance, struct pl_intercomm_parts *parts, struct pl_comm **comm);

/* From the members of `parent` that live, as all of them have agreed: `local` and `remote` are parts of its groups.
 * Local. Retains the groups. MPI_ERR_NO_MEM. */
int pl_intercomm_create_of_living(struct pl_comm *parent, struct pl_group *local, struct pl_group *remote,
                                  struct pl_comm_id id, struct pl_comm **comm);

/* Joins the processes of a color in both groups, by key. *comm is NULL for MPI_UNDEFINED, and if one group has no
 * process of the color. */
int pl_intercomm_split(struct pl_comm *parent, int color, int key, struct pl_comm **comm);

/* Marks the intercommunicator failed if the communicator of its local group has failed (core/engine/peer_failure.h).
 * Local; must be called once it has that communicator, with the engine's lock held. */
void pl_intercomm_share_loss_locked(struct pl_comm *comm);

/* Completes a duplicate with what only intercommunicators have. */
int pl_intercomm_finish_dup(struct pl_comm *parent, struct pl_comm *made);

#endif
