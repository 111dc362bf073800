/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node hierarchy of a communicator that spans several nodes. The ranks of each node are a node communicator, which
 * has a collective area. The first ranks of all nodes, the leaders, are the leader communicator, which uses messages.
 *
 * Both are hidden parts of the communicator. All members agree on making them with the first collective that can use
 * them; they are released when it is freed, and what breaks it breaks them. A rank's memory for them grows with the
 * number of nodes, or with that of ranks if these are not placed node by node. Blocking collectives have one, and
 * nonblocking and persistent ones another (started.h), because a program may start these before a blocking one on one
 * rank and after it on another. Locking: one thread at a time, as for all collectives.
 */
#ifndef PLENUM_CORE_COLL_HIERARCHY_HIERARCHY_H
#define PLENUM_CORE_COLL_HIERARCHY_HIERARCHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pl_comm;

struct pl_hierarchy {
    struct pl_comm *here;    /* the node communicator, in order; NULL: this rank is alone on its node */
    struct pl_comm *leaders; /* the leader communicator, in order; NULL: this rank is not a leader */
    bool contiguous;         /* the ranks of each node follow each other */
    int node;                /* of this rank; nodes are numbered in the order of their first ranks */
    int run_count;           /* that of nodes, if contiguous */
    struct pl_hierarchy_run {
        int rank, node; /* the ranks from this one on, up to that of the next run, are on this node */
    } runs[];           /* [run_count + 1]: the last begins after the last rank */
};

/* What each rank tells the others: its node, and ids in case it is the first rank of a part. */
struct pl_hierarchy_notice {
    uint64_t node, home;
    uint32_t here, leaders;
};
struct pl_hierarchy_notice pl_hierarchy_own_notice(void);

/* Memory for [size] notices and what is derived from them. */
static inline size_t pl_hierarchy_notices_bytes(int size)
{
    return (size_t)size * (sizeof(struct pl_hierarchy_notice) + 2 * sizeof(int));
}

/* From the notices of all ranks, in such memory. NULL: all ranks are on one node, or each is alone on its node, which
 * is alike on all. MPI error class: there was no memory. */
int pl_hierarchy_create(struct pl_comm *comm, struct pl_hierarchy_notice *notices, struct pl_hierarchy **made);

/* The node hierarchy of a communicator, made now if there is none yet and it is worth it: once there is an area where
 * there can be one. `at_once`: for this collective it always is (pl_coll_depends_on_order()). NULL: all ranks are
 * on one node, or each is alone on its node, or the settings forbid it. Collective; alike on all ranks, except after an
 * error, as with pl_area_get(). */
int pl_hierarchy_get(struct pl_comm *comm, bool at_once, struct pl_hierarchy **hierarchy);

/* The node of a rank. */
int pl_hierarchy_node_of(const struct pl_hierarchy *hierarchy, int rank);

/* Where the ranks of each node follow each other: the first and the last rank of a node. */
static inline int pl_hierarchy_first(const struct pl_hierarchy *hierarchy, int node)
{
    return hierarchy->runs[node].rank;
}
static inline int pl_hierarchy_last(const struct pl_hierarchy *hierarchy, int node)
{
    return hierarchy->runs[node + 1].rank - 1;
}
static inline int pl_hierarchy_ranks(const struct pl_hierarchy *hierarchy, int node)
{
    return hierarchy->runs[node + 1].rank - hierarchy->runs[node].rank;
}

/* The communicator is freed. No lock held. */
void pl_hierarchy_release(struct pl_comm *comm);

#endif
