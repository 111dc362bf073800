/* SPDX-License-Identifier: BSD-3-Clause */
/* Reordering the processes of a graph so that neighbors are near each other. */
#ifndef PLENUM_CORE_COMM_TOPOLOGY_REORDER_H
#define PLENUM_CORE_COMM_TOPOLOGY_REORDER_H

#include "core/comm/topology.h"

/* Where a process runs: the node, by its lowest rank, and a part of it (package, memory); -1: anywhere on the node. */
struct pl_location {
    int node, part;
};

/*
 * The node of the graph that each of the first `nnodes` processes becomes. Edges between machines count most, then
 * edges between parts of a machine. If nothing is gained all processes keep their ranks. placed: [nnodes].
 * MPI_ERR_NO_MEM or success. The same arguments give the same result.
 */
int pl_reorder(int nnodes, const int index[], const int edges[], const struct pl_location where[], int placed[]);

/* The same for a communicator's processes: *node is this one's. Collective over the parent, of all its processes. */
int pl_reorder_comm(struct pl_comm *parent, int nnodes, const int index[], const int edges[], int *node);

#endif
