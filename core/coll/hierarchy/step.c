/* SPDX-License-Identifier: BSD-3-Clause */
/* See step.h. */
#include "core/coll/hierarchy/step.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/schedule_run.h"

/* Appends the messages of a part as messages of the whole. */
static void append_step(struct pl_hierarchy_call *call, const struct pl_coll *coll)
{
    struct pl_schedule *schedule = call->schedule;
    const struct pl_group *part = coll->comm->group, *whole = call->coll->comm->group;
    int i = pl_schedule_mark(schedule);
    pl_coll_append(schedule, coll);
    for (; i < pl_schedule_mark(schedule); i++) {
        struct pl_step *step = &schedule->steps[i];
        if (step->kind == PL_STEP_SEND || step->kind == PL_STEP_RECV)
            step->peer = pl_group_find(whole, pl_group_proc(part, step->peer));
    }
    pl_schedule_wait(schedule);
}

void pl_hierarchy_step(struct pl_hierarchy_call *call, struct pl_comm *part, struct pl_coll coll)
{
    if (!part || !pl_hierarchy_may_continue(call))
        return;
    coll.comm = part;
    if (call->schedule) {
        append_step(call, &coll);
        return;
    }
    part->coll.named = call->coll->comm->coll.named ? call->coll->comm->coll.named : call->coll;
    int rc = pl_coll_run(&coll);
    part->coll.named = NULL;
    call->rc = call->rc ? call->rc : rc;
}

void pl_hierarchy_distribute(struct pl_hierarchy_call *call, struct pl_block data, int from)
{
    pl_hierarchy_step(
        call, call->hierarchy->here,
        (struct pl_coll){
            .kind = PL_COLL_BCAST, .recvbuf = data.buf, .recvcount = data.count, .recvtype = data.type, .root = from });
}

int pl_hierarchy_rank_here(const struct pl_hierarchy_call *call, int rank)
{
    const struct pl_comm *comm = call->coll->comm, *here = call->hierarchy->here;
    if (!here)
        return rank == comm->rank ? 0 : MPI_UNDEFINED;
    return pl_group_find(here->group, pl_group_proc(comm->group, rank));
}

int pl_hierarchy_tag(struct pl_hierarchy_call *call)
{
    return call->schedule ? call->schedule->tag : pl_comm_next_tag(call->coll->comm);
}

struct pl_schedule *pl_hierarchy_begin(struct pl_hierarchy_call *call, struct pl_schedule *own, int tag)
{
    if (call->schedule)
        return call->schedule;
    pl_schedule_init(own, call->coll->comm, tag);
    return own;
}

void pl_hierarchy_run(struct pl_hierarchy_call *call, struct pl_schedule *schedule)
{
    if (schedule == call->schedule) {
        pl_schedule_wait(schedule);
        return;
    }
    int rc = pl_hierarchy_may_continue(call) ? pl_schedule_run(schedule) : MPI_SUCCESS;
    call->rc = call->rc ? call->rc : rc;
    pl_schedule_fini(schedule);
}

void pl_hierarchy_copy(struct pl_hierarchy_call *call, struct pl_block from, struct pl_block to)
{
    if (call->schedule)
        pl_schedule_copy(call->schedule, from, to);
    else if (pl_hierarchy_may_continue(call))
        pl_type_copy(from.buf, from.count, from.type, to.buf, to.count, to.type);
}

void pl_hierarchy_apply(struct pl_hierarchy_call *call, const void *in, struct pl_block inout)
{
    if (call->schedule)
        pl_schedule_reduce(call->schedule, call->coll->op, in, inout);
    else if (pl_hierarchy_may_continue(call))
        pl_op_apply(call->coll->op, in, inout.buf, inout.count, inout.type);
}

void pl_hierarchy_do(struct pl_hierarchy_call *call, int (*run)(struct pl_schedule *schedule, void *context),
                     const void *context, size_t bytes)
{
    void *kept = call->schedule ? pl_schedule_temp(call->schedule, bytes) : NULL;
    if (kept)
        pl_schedule_verify(call->schedule, run, memcpy(kept, context, bytes));
    else if (!call->schedule && pl_hierarchy_may_continue(call))
        run(NULL, (void *)context);
}

static struct pl_counts keep_counts(struct pl_schedule *schedule, struct pl_counts counts, int n)
{
    MPI_Count *kept = pl_has_counts(counts) ? pl_schedule_temp(schedule, (size_t)n * sizeof *kept) : NULL;
    for (int i = 0; kept && i < n; i++)
        kept[i] = pl_count_at(counts, i);
    return (struct pl_counts){ .wide = kept };
}

static struct pl_displs keep_displs(struct pl_schedule *schedule, struct pl_displs displs, int n)
{
    bool given = displs.narrow || displs.wide;
    MPI_Aint *kept = given ? pl_schedule_temp(schedule, (size_t)n * sizeof *kept) : NULL;
    for (int i = 0; kept && i < n; i++)
        kept[i] = pl_displ_at(displs, i);
    return (struct pl_displs){ .wide = kept };
}

/* The blocks of an alltoallv or alltoallw. The handles of their types may be gone by then, but not the types. */
static void keep_blocks(struct pl_schedule *schedule, struct pl_coll *coll)
{
    int size = coll->comm->size;
    struct pl_block *out = pl_schedule_temp(schedule, 2 * (size_t)size * sizeof *out), *in = out + size;
    for (int i = 0; out && i < size; i++) {
        out[i] = pl_send_block(coll, i);
        in[i] = pl_recv_block(coll, i);
        pl_schedule_hold(schedule, out[i].type);
        pl_schedule_hold(schedule, in[i].type);
    }
    coll->sendblocks = out;
    coll->recvblocks = in;
}

struct pl_coll *pl_hierarchy_keep(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int size = coll->comm->size;
    struct pl_coll *kept = pl_schedule_temp(schedule, sizeof *kept);
    if (!kept)
        return NULL;
    *kept = *coll;
    if (coll->kind == PL_COLL_ALLTOALLV || coll->kind == PL_COLL_ALLTOALLW) {
        keep_blocks(schedule, kept);
    } else {
        kept->sendcounts = keep_counts(schedule, coll->sendcounts, size);
        kept->recvcounts = keep_counts(schedule, coll->recvcounts, size);
        kept->senddispls = keep_displs(schedule, coll->senddispls, size);
        kept->recvdispls = keep_displs(schedule, coll->recvdispls, size);
    }
    return schedule->broken ? NULL : kept;
}

void *pl_hierarchy_borrow(struct pl_hierarchy_call *call, struct pl_hierarchy_buffer *buffer, size_t bytes)
{
    buffer->memory = call->schedule || bytes <= sizeof buffer->few ? buffer->few : pl_malloc(bytes);
    void *memory = call->schedule ? pl_schedule_temp(call->schedule, bytes) : buffer->memory;
    if (!memory)
        call->rc = pl_fail_memory("the data of a node");
    return memory;
}

void pl_hierarchy_return(struct pl_hierarchy_buffer *buffer)
{
    if (buffer->memory != buffer->few)
        free(buffer->memory);
}

bool pl_hierarchy_blocks_make(struct pl_hierarchy_call *call, struct pl_hierarchy_blocks *blocks)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    size_t ranks = (size_t)pl_hierarchy_ranks(hierarchy, hierarchy->node),
           places = ranks * (sizeof *blocks->counts + sizeof *blocks->displs);
    *blocks = (struct pl_hierarchy_blocks){ .head = ranks * sizeof *blocks->amounts };
    blocks->most = blocks->head + ranks * PL_HIERARCHY_BLOCK;
    if (!hierarchy->leaders)
        return true;
    blocks->memory = pl_malloc(places + blocks->most);
    if (!blocks->memory) {
        call->rc = pl_fail_memory("the data of a node");
        return false;
    }
    blocks->counts = blocks->memory;
    blocks->displs = (MPI_Aint *)(blocks->counts + ranks);
    blocks->amounts = (uint32_t *)(blocks->displs + ranks);
    blocks->data = (char *)blocks->amounts + blocks->head;
    return true;
}

size_t pl_hierarchy_blocks_place(const struct pl_hierarchy_call *call, struct pl_hierarchy_blocks *blocks)
{
    MPI_Aint at = 0;
    int ranks = pl_hierarchy_ranks(call->hierarchy, call->hierarchy->node);
    for (int i = 0; blocks->memory && i < ranks; i++) {
        blocks->displs[i] = at;
        at += blocks->counts[i] = (MPI_Count)pl_hierarchy_short(blocks->amounts[i]);
    }
    return (size_t)at;
}
