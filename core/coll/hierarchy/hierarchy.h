/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node hierarchy of a communicator that spans several nodes, for blocking collectives. The ranks of each node are a
 * node communicator, which has a collective area. The first ranks of all nodes, the leaders, are the leader
 * communicator, which uses messages.
 *
 * Both are hidden parts of the communicator. All members agree on making them with the first collective that can use
 * them; they are released when it is freed, and what breaks it breaks them. A rank's memory for them does not grow with
 * the number of ranks if these are placed node by node. Locking: one thread at a time, as for all collectives.
 */
#ifndef PLENUM_CORE_COLL_HIERARCHY_HIERARCHY_H
#define PLENUM_CORE_COLL_HIERARCHY_HIERARCHY_H

#include <stdbool.h>

struct pl_comm;

struct pl_hierarchy {
    struct pl_comm *here;    /* the node communicator, in order; NULL: this rank is alone on its node */
    struct pl_comm *leaders; /* the leader communicator, in order; NULL: this rank is not a leader */
    bool contiguous;         /* the ranks of each node follow each other */
    int run_count;           /* 0 if this rank is not a leader */
    struct pl_hierarchy_run {
        int rank, node; /* the ranks from this one on, up to that of the next run, are on this node */
    } runs[];           /* [run_count + 1]: the last begins after the last rank */
};

/* The node hierarchy of a communicator, made now if there is none yet and it is worth it. For a reduction it always is,
 * so that equal reductions have equal results; else once there is an area where there can be one. NULL: all ranks are
 * on one node, or each is alone on its node, or the settings forbid it. Collective; alike on all ranks, except after an
 * error, as with pl_area_get(). */
int pl_hierarchy_get(struct pl_comm *comm, bool reduction, struct pl_hierarchy **hierarchy);

/* The node of a rank. Only leaders know. */
int pl_hierarchy_node_of(const struct pl_hierarchy *hierarchy, int rank);

/* The communicator is freed. No lock held. */
void pl_hierarchy_release(struct pl_comm *comm);

#endif
