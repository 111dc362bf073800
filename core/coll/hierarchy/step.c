/* SPDX-License-Identifier: BSD-3-Clause */
/* See step.h. */
#include "core/coll/hierarchy/step.h"

void pl_hierarchy_step(struct pl_hierarchy_call *call, struct pl_comm *part, struct pl_coll coll)
{
    if (!part || !pl_hierarchy_may_continue(call))
        return;
    coll.comm = part;
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
