/* SPDX-License-Identifier: BSD-3-Clause */
/* What the functions of grids (topology.c) and of graphs (graph.c) share. */
#ifndef PLENUM_API_TOPOLOGY_H
#define PLENUM_API_TOPOLOGY_H

#include <string.h>

#include "api/call.h"
#include "core/comm/topology.h"

/* The topology of this kind behind a communicator; MPI_ERR_TOPOLOGY: it has none. */
const struct pl_topology *pl_arg_topology(struct pl_call *call, MPI_Comm comm, int kind, const char *name);

/* An array of `room` elements that must take `needed`. */
void pl_arg_room(struct pl_call *call, const int array[], const char *name, int room, int needed);

/* A rank in a grid or graph. */
void pl_arg_node(struct pl_call *call, int rank, int nodes, const char *what);

/* The end of a constructor of communicators. `made`: NULL for processes outside; freed where the call has failed. */
int pl_comm_leave(struct pl_call *call, struct pl_comm *made, MPI_Comm *newcomm);

static inline void pl_copy_ints(int to[], const int from[], int n)
{
    if (n > 0)
        memcpy(to, from, (size_t)n * sizeof *to);
}

#endif
