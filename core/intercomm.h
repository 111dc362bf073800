/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators. Arguments are checked by the caller; functions are collective over both groups. */
#ifndef PLENUM_CORE_INTERCOMM_H
#define PLENUM_CORE_INTERCOMM_H

#include "core/comm.h"

/* From the local group of `local` and that behind rank `remote_leader` of `peer`, which only the leader uses. */
int pl_intercomm_create(struct pl_comm *local, int local_leader, struct pl_comm *peer, int remote_leader, int tag, struct pl_comm **comm);

/* The two groups as one; the one with `high` comes second. */
int pl_intercomm_merge(struct pl_comm *comm, int high, struct pl_comm **merged);

/* Both groups exchange a value that is the same within each, agree whether somebody `failed` (error class), and on a
 * new id. */
int pl_intercomm_agree(struct pl_comm *comm, int value, int failed, int *remote_value, struct pl_comm_id *id);

/* What a duplicate needs besides what every communicator has. */
int pl_intercomm_finish_dup(struct pl_comm *parent, struct pl_comm *made);

#endif
