/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual topologies: what a communicator knows of its Cartesian grid or graph. */
#ifndef PLENUM_CORE_TOPOLOGY_H
#define PLENUM_CORE_TOPOLOGY_H

struct pl_comm;

/* Frees a communicator's topology, if it has one. */
void pl_topology_release(struct pl_comm *comm);

/* Gives a duplicate the topology of the original. */
int pl_topology_copy(const struct pl_comm *from, struct pl_comm *to);

#endif
