/* SPDX-License-Identifier: BSD-3-Clause */
/* Splitting a communicator by hardware (MPI-5.0 section 7.4.2). Collective over the parent. */
#ifndef PLENUM_CORE_COMM_HW_H
#define PLENUM_CORE_COMM_HW_H

#include "core/engine/comm.h"

struct pl_info;

/* A color by which processes that can share memory are together: the lowest such rank. */
int pl_comm_node_color(struct pl_comm *parent, int *color);

/* MPI_Comm_split_type. `info` (may be NULL) names the resource for the guided types and is told the one that was taken
 * for MPI_COMM_TYPE_HW_UNGUIDED. `pset` and `members`: the process set that is named for MPI_COMM_TYPE_RESOURCE_GUIDED;
 * NULL: none, or none that is known. A process that has no part in what is asked for gets NULL in *comm. */
int pl_comm_split_type(struct pl_comm *parent, int type, int key, struct pl_info *info, const char *pset,
                       const struct pl_group *members, struct pl_comm **comm);

#endif
