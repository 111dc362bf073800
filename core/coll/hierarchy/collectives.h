/* SPDX-License-Identifier: BSD-3-Clause */
/* What the collectives by nodes share: a call, and its steps. See nodes.c. */
#ifndef PLENUM_CORE_COLL_HIERARCHY_COLLECTIVES_H
#define PLENUM_CORE_COLL_HIERARCHY_COLLECTIVES_H

#include "core/coll/area/collectives.h"
#include "core/coll/hierarchy/hierarchy.h"

/* A collective under way. */
struct pl_hierarchy_call {
    const struct pl_coll *coll;
    const struct pl_hierarchy *hierarchy;
    int rc; /* the first error */
};

typedef void pl_hierarchy_algorithm(struct pl_hierarchy_call *call);
pl_hierarchy_algorithm pl_hierarchy_alltoall, pl_hierarchy_reduce, pl_hierarchy_allreduce, pl_hierarchy_reduce_scatter,
    pl_hierarchy_scan;

/* Buffers that do not fit only spoil what is in them, and all go on; after any other error nobody knows what others
 * do. */
static inline bool pl_hierarchy_may_continue(const struct pl_hierarchy_call *call)
{
    return call->rc == MPI_SUCCESS || call->rc == MPI_ERR_TRUNCATE;
}

/* A collective of a part that this rank may be in. */
void pl_hierarchy_step(struct pl_hierarchy_call *call, struct pl_comm *part, struct pl_coll coll);

/* From a rank of this node to all. */
void pl_hierarchy_distribute(struct pl_hierarchy_call *call, struct pl_block data, int from);

/* Where a rank of the communicator is among those of this node; MPI_UNDEFINED: it is elsewhere. */
int pl_hierarchy_rank_here(const struct pl_hierarchy_call *call, int rank);

#endif
