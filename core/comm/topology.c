/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual topologies of communicators: life and sharing. See topology.h. */
#include "core/comm/topology.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"

struct pl_topology *pl_topology_create(int kind, size_t numbers)
{
    struct pl_topology *topology = pl_calloc(1, sizeof *topology + numbers * sizeof topology->numbers[0]);
    if (!topology) {
        pl_fail_memory("a topology");
        return NULL;
    }
    atomic_init(&topology->refs, 1);
    topology->kind = kind;
    return topology;
}

static void topology_set(struct pl_comm *comm, struct pl_topology *topology)
{
    comm->topology.data = topology;
    comm->topology.kind = topology ? topology->kind : MPI_UNDEFINED;
}

static void topology_release(struct pl_topology *topology)
{
    if (topology && atomic_fetch_sub(&topology->refs, 1) == 1)
        free(topology);
}

int pl_topology_attach(int rc, struct pl_topology *topology, struct pl_comm **comm)
{
    if (!rc && !topology)
        rc = MPI_ERR_NO_MEM;
    if (!rc) {
        topology_set(*comm, topology);
        return MPI_SUCCESS;
    }
    topology_release(topology);
    pl_comm_free(*comm);
    *comm = NULL;
    return rc;
}

void pl_topology_release(struct pl_comm *comm)
{
    topology_release(comm->topology.data);
    topology_set(comm, NULL);
}

int pl_topology_copy(const struct pl_comm *from, struct pl_comm *to)
{
    if (from->topology.data)
        atomic_fetch_add(&((struct pl_topology *)from->topology.data)->refs, 1);
    topology_set(to, from->topology.data);
    return MPI_SUCCESS;
}
