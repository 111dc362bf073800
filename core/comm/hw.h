/* SPDX-License-Identifier: BSD-3-Clause */
/* Splitting a communicator by hardware (MPI-5.0 section 7.4.2). Collective over the parent. */
#ifndef PLENUM_CORE_COMM_HW_H
#define PLENUM_CORE_COMM_HW_H

#include "core/engine/comm.h"

struct pl_info;

/* A color that is the same for processes of a node, in one pid and user namespace: the lowest rank among them. */
int pl_comm_node_color(struct pl_comm *parent, int *color);

/* MPI_Comm_split_type. `info` (may be NULL) names the resource for the guided types, and receives the one that was
 * chosen for MPI_COMM_TYPE_HW_UNGUIDED. `pset` and `members`: the process set named for
 * MPI_COMM_TYPE_RESOURCE_GUIDED; NULL: not given, or not known. *comm is NULL on a process without such a resource. */
int pl_comm_split_type(struct pl_comm *parent, int type, int key, struct pl_info *info, const char *pset,
                       const struct pl_group *members, struct pl_comm **comm);

#endif
