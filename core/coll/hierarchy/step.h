/* SPDX-License-Identifier: BSD-3-Clause */
/* A collective under way in a node hierarchy, and its steps. See hierarchy.h. */
#ifndef PLENUM_CORE_COLL_HIERARCHY_STEP_H
#define PLENUM_CORE_COLL_HIERARCHY_STEP_H

#include "core/coll/algorithm.h"
#include "core/coll/hierarchy/hierarchy.h"

struct pl_hierarchy_call {
    const struct pl_coll *coll;
    const struct pl_hierarchy *hierarchy;
    int rc; /* the first error */
};

typedef void pl_hierarchy_algorithm(struct pl_hierarchy_call *call);

/* After MPI_ERR_TRUNCATE only the contents of a buffer are wrong, and all ranks go on. After any other error this rank
 * does not know what the others do. */
static inline bool pl_hierarchy_may_continue(const struct pl_hierarchy_call *call)
{
    return call->rc == MPI_SUCCESS || call->rc == MPI_ERR_TRUNCATE;
}

/* Does a collective of a part of the communicator; nothing if the part is NULL, since this rank is not in it. */
void pl_hierarchy_step(struct pl_hierarchy_call *call, struct pl_comm *part, struct pl_coll coll);

/* Broadcasts within the node, from rank `from` of the node communicator. */
void pl_hierarchy_distribute(struct pl_hierarchy_call *call, struct pl_block data, int from);

/* The rank in the node communicator of a rank of the communicator; MPI_UNDEFINED: it is on another node. */
int pl_hierarchy_rank_here(const struct pl_hierarchy_call *call, int rank);

#endif
