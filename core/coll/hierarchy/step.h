/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collective of a node hierarchy (hierarchy.h), and its steps. Each algorithm is written once, for two forms. In a
 * blocking collective a step is done at once: that of a node in its collective area. For a nonblocking or persistent
 * one all steps are appended to one schedule, whose messages go between ranks of the whole communicator, with the
 * collective's tag.
 */
#ifndef PLENUM_CORE_COLL_HIERARCHY_STEP_H
#define PLENUM_CORE_COLL_HIERARCHY_STEP_H

#include <stdalign.h>
#include <stdint.h>

#include "core/coll/algorithm.h"
#include "core/coll/area/area.h"
#include "core/coll/hierarchy/hierarchy.h"
#include "core/coll/schedule.h"

struct pl_hierarchy_call {
    const struct pl_coll *coll;
    const struct pl_hierarchy *hierarchy;
    struct pl_schedule *schedule; /* to which steps are appended; NULL: they are done at once */
    int rc;                       /* the first error */
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

/* The tag of this collective's messages between ranks of the communicator. All ranks ask for it, once. */
int pl_hierarchy_tag(struct pl_hierarchy_call *call);

/* The schedule to append messages to: `own`, or that of the call. */
struct pl_schedule *pl_hierarchy_begin(struct pl_hierarchy_call *call, struct pl_schedule *own, int tag);

/* Runs what was appended, and empties it; or appends a wait for it. */
void pl_hierarchy_run(struct pl_hierarchy_call *call, struct pl_schedule *schedule);

/* Copies; and inout = in op inout. Nothing after an error. */
void pl_hierarchy_copy(struct pl_hierarchy_call *call, struct pl_block from, struct pl_block to);
void pl_hierarchy_apply(struct pl_hierarchy_call *call, const void *in, struct pl_block inout);

/* Calls a function with a copy of `bytes` bytes of context. */
void pl_hierarchy_do(struct pl_hierarchy_call *call, int (*run)(struct pl_schedule *schedule, void *context),
                     const void *context, size_t bytes);

/* A copy of the arguments and their arrays, for functions in the schedule, which run when the caller's are gone. NULL:
 * the schedule is broken. */
struct pl_coll *pl_hierarchy_keep(struct pl_schedule *schedule, const struct pl_coll *coll);

/*
 * Data of a node's ranks with an amount for each, as one message: [ranks] amounts, then the data. Blocks of more bytes
 * than PL_HIERARCHY_BLOCK are not in it, as PL_HIERARCHY_DIRECT says in place of their amount.
 */
enum { PL_HIERARCHY_BLOCK = 4096 };
#define PL_HIERARCHY_DIRECT UINT32_MAX

static inline uint32_t pl_hierarchy_amount(struct pl_block block)
{
    size_t bytes = pl_block_size(block);
    return bytes <= PL_HIERARCHY_BLOCK ? (uint32_t)bytes : PL_HIERARCHY_DIRECT;
}

/* The bytes that go through the leaders. Another rank's amounts are not trusted. */
static inline size_t pl_hierarchy_short(uint32_t amount)
{
    return amount <= PL_HIERARCHY_BLOCK ? amount : 0;
}

struct pl_hierarchy_blocks {
    size_t head;       /* bytes of the amounts */
    size_t most;       /* bytes of the message */
    uint32_t *amounts; /* the message; not aligned for more; NULL: this rank is not a leader */
    char *data;
    MPI_Count *counts; /* [ranks] where the data of each rank lies: pl_hierarchy_blocks_place() */
    MPI_Aint *displs;
    void *memory;
};

/* Memory for the message of this rank's node. False: there is none, which is recorded. */
bool pl_hierarchy_blocks_make(struct pl_hierarchy_call *call, struct pl_hierarchy_blocks *blocks);

/* From the amounts. The bytes of the data. */
size_t pl_hierarchy_blocks_place(const struct pl_hierarchy_call *call, struct pl_hierarchy_blocks *blocks);

/* Memory for data under way; NULL: there is none, which is recorded. Appended steps have memory of their schedule. */
struct pl_hierarchy_buffer {
    alignas(16) unsigned char few[2 * PL_AREA_SHORT];
    void *memory;
};
void *pl_hierarchy_borrow(struct pl_hierarchy_call *call, struct pl_hierarchy_buffer *buffer, size_t bytes);
void pl_hierarchy_return(struct pl_hierarchy_buffer *buffer);

#endif
