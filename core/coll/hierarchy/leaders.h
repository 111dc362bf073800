/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An alltoallv by a node hierarchy under way (alltoallv.c), and what the leaders do in it. In a nonblocking one all
 * that there may be has a step. Functions between these leave some out and say how long the others are (schedule.h).
 */
#ifndef PLENUM_CORE_COLL_HIERARCHY_LEADERS_H
#define PLENUM_CORE_COLL_HIERARCHY_LEADERS_H

#include "core/coll/hierarchy/step.h"

/* Bytes for each rank, from it, and what that gives: [all] each. PL_HIERARCHY_DIRECT: not through the leaders. */
struct pl_exchange_amounts {
    uint32_t *out, *in, *given;
};
enum { PL_EXCHANGE_TOLD = 2 }; /* of which a rank tells its leader */

/* A rank of the node, at its leader. */
struct pl_exchange_member {
    struct pl_exchange_amounts amounts;
    const char *blocks; /* its short blocks, in the order of the ranks that they are for */
    const char *next;   /* those that have not been moved yet */
    char *to;           /* where the next block that it is given goes */
};

/* Memory, of the schedule if there is one. A persistent collective keeps it for its next start. */
struct pl_exchange_memory {
    void *memory;
    size_t bytes;
};
enum pl_exchange_space {
    PL_EXCHANGE_EXPECTED,
    PL_EXCHANGE_LETTER,
    PL_EXCHANGE_LEADER,
    PL_EXCHANGE_BLOCKS,
    PL_EXCHANGE_IN,
    PL_EXCHANGE_OUT,
    PL_EXCHANGE_RESULT,
    PL_EXCHANGE_GIVEN,
    PL_EXCHANGE_TAKEN,
    PL_EXCHANGE_SPACES
};

struct pl_exchange {
    const struct pl_hierarchy *hierarchy;
    struct pl_schedule *schedule; /* to which steps are appended; NULL: they are done at once */
    int rank, all;                /* this rank, and the ranks of the communicator */
    int first, here;              /* the first rank of the node, and how many it has */
    struct pl_exchange_memory spaces[PL_EXCHANGE_SPACES];
    struct pl_block *expected;      /* [all] blocks that this rank receives */
    struct pl_exchange_amounts own; /* out and in are the beginning of `letter` */
    char *letter;                   /* to the leader: amounts, then the short blocks that this rank sends */
    const char *taken;              /* the short blocks that it is given, in the order of the ranks */
    int *direct;                    /* [all] the steps that receive the others */
    /* of a leader */
    struct pl_exchange_member *members; /* [here]; NULL: this rank is not a leader */
    uint32_t *told, *given;             /* [here][PL_EXCHANGE_TOLD * all], in a blocking collective; [here][all] */
    MPI_Count *counts; /* [here] bytes of the short blocks that each rank of the node sends, then is given */
    MPI_Aint *displs;  /* [here] and where they are in PL_EXCHANGE_BLOCKS, then in `result` */
    char **messages;   /* [nodes] from their leaders; NULL: there is none */
    char *result;      /* what the ranks of the node are given; each time after the amounts, if by messages */
    int receives, sends, replies; /* the first steps that receive from nodes, send to them, and to the node's ranks */
};

/* Memory for a purpose; NULL: there is none, which is recorded. */
void *pl_exchange_reserve(struct pl_exchange *exchange, enum pl_exchange_space name, size_t bytes);

static inline size_t pl_exchange_sum(const uint32_t *amounts, int n)
{
    size_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += pl_hierarchy_short(amounts[i]);
    return sum;
}

/* Bytes of an amount for each rank. */
static inline size_t pl_exchange_head(const struct pl_exchange *exchange)
{
    return (size_t)exchange->all * sizeof(uint32_t);
}

/* The most bytes of a letter. */
static inline size_t pl_exchange_letter(const struct pl_exchange *exchange)
{
    return PL_EXCHANGE_TOLD * pl_exchange_head(exchange) + (size_t)exchange->all * PL_HIERARCHY_BLOCK;
}

/* This rank is a leader. False: there is no memory. */
bool pl_exchange_lead(struct pl_exchange *exchange);

/* What rank `i` of the node has told its leader: [PL_EXCHANGE_TOLD][all], and its short blocks. */
void pl_exchange_hear(struct pl_exchange *exchange, int i, uint32_t *told, const char *blocks);

/* The leaders exchange what their ranks have. Then each knows what its ranks are given, and by messages sends it. */
void pl_exchange_nodes(struct pl_hierarchy_call *call, struct pl_exchange *exchange, int tag);

/* When long blocks start. Two ranks may also have a message through the leaders, with the same tag: that starts first
 * at both. In a blocking collective all long blocks are last. */
enum pl_exchange_turn { PL_EXCHANGE_FIRST, PL_EXCHANGE_NODES, PL_EXCHANGE_LAST };

/* Appends those of this turn that this rank sends, or expects. */
void pl_exchange_direct(struct pl_hierarchy_call *call, struct pl_exchange *exchange, struct pl_schedule *schedule,
                        enum pl_exchange_turn turn);

/* The rank from which this one receives directly in turn `i`: not all from the same one first. */
static inline int pl_exchange_source(const struct pl_exchange *exchange, int i)
{
    return (exchange->rank - i + exchange->all) % exchange->all;
}

#endif
