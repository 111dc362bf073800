/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual topologies of communicators. None can be made so far. */
#include "core/topology.h"

#include "core/comm.h"

void pl_topology_release(struct pl_comm *comm)
{
    comm->topology = MPI_UNDEFINED;
}

int pl_topology_copy(const struct pl_comm *from, struct pl_comm *to)
{
    to->topology = from->topology;
    return MPI_SUCCESS;
}
