/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes of a communicator that spans several, for blocking collectives (core/coll/hierarchy/collectives.c): the ranks of each
 * node are a communicator of their own, in which they have a board, and so are the first ranks of all nodes, the
 * leaders, for which messages do it.
 *
 * Both are hidden parts of the communicator: they come with the first collective that can use them, which all its
 * members agree on, and go when it is freed. What breaks it breaks them. What each rank keeps does not grow with the
 * number of ranks where these are placed node by node. Locking: one thread at a time, as of all that is collective.
 */
#ifndef PLENUM_CORE_COLL_HIERARCHY_HIERARCHY_H
#define PLENUM_CORE_COLL_HIERARCHY_HIERARCHY_H

#include <stdbool.h>

struct pl_comm;

struct pl_hierarchy {
    struct pl_comm *here;    /* the ranks of this node, in order; NULL: there is one */
    struct pl_comm *leaders; /* the first rank of each node, in order; NULL: this rank is none of them */
    bool in_rows;            /* the ranks of each node follow each other */
    int run_count;           /* 0 where this rank does not lead */
    struct pl_hierarchy_run {
        int rank, node; /* the ranks from this one on, up to that of the next run, are on this node */
    } runs[];           /* [run_count + 1]: the last begins behind the last rank */
};

/* The nodes of a communicator, found now if nobody has looked yet and it is worth it: for a reduction always, so that
 * equal reductions have equal results, else once there is a board where there can be one. NULL: all are on one node, or
 * each is alone, or they are not to be used. Collective; alike on all ranks, but for an error, as pl_area_get(). */
int pl_hierarchy_get(struct pl_comm *comm, bool reduction, struct pl_hierarchy **hierarchy);

/* The node of a rank. Only leaders know. */
int pl_hierarchy_node_of(const struct pl_hierarchy *hierarchy, int rank);

/* The communicator is freed. No lock held. */
void pl_hierarchy_release(struct pl_comm *comm);

#endif
