/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the functions of grids (topology.c) and graphs (graph.c). */
#ifndef PLENUM_API_TOPOLOGY_H
#define PLENUM_API_TOPOLOGY_H

#include <string.h>

#include "api/call.h"
#include "core/comm/topology.h"

/* A communicator's topology of this kind; MPI_ERR_TOPOLOGY: it has no such topology. */
const struct pl_topology *pl_arg_topology(struct pl_call *call, MPI_Comm comm, int kind, const char *name);

/* An array of `capacity` elements that must hold `needed`. */
void pl_arg_capacity(struct pl_call *call, const int array[], const char *name, int capacity, int needed);

/* A rank in a grid or graph. */
void pl_arg_node(struct pl_call *call, int rank, int nodes, const char *what);

static inline void pl_copy_ints(int to[], const int from[], int n)
{
    if (n > 0)
        memcpy(to, from, (size_t)n * sizeof *to);
}

#endif
