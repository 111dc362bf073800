/* SPDX-License-Identifier: BSD-3-Clause */
/* See comm_revoke.h. */
#include "core/engine/comm_revoke.h"

#include <stdio.h>

#include "core/engine/comm.h"
#include "core/engine/comm_break.h"
#include "core/engine/comm_break_notice.h"
#include "core/engine/comm_peers.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "mpi-ext.h"

/* Messages that nothing will receive. Those whose senders wait are kept elsewhere: these senders learn from the notice
 * why, and ask them back. */
static void revoke_messages(struct pl_comm *comm)
{
    for (int i = 0; i < PL_QUEUES; i++)
        PL_LIST_EACH(unexpected, &comm->match.queues[i].unexpected, struct pl_unexpected, link) {
            pl_match_take(comm, unexpected);
            if (unexpected->rndv || unexpected->header.flags & PL_FLAG_SYNC)
                pl_list_append(&comm->instance->engine.early.messages, &unexpected->link);
            else
                pl_match_drop(&comm->instance->engine, unexpected, false);
        }
}

/* Sends find their peers no more, so that they take the way on which they are refused. */
static void revoke_here(struct pl_comm *root, int rank)
{
    struct pl_engine *engine = &root->instance->engine;
    PL_TABLE_EACH(comm, &engine->comms.by_id, struct pl_comm, by_id)
        if (pl_comm_breaks_with(comm, root)) {
            atomic_store(&comm->health.revoked, rank + 1);
            pl_comm_peers_hide(comm);
            pl_comm_break_alone(comm, rank, MPI_ERR_PROC_ABORTED, NULL);
            revoke_messages(comm);
        }
}

/* Every member that hears of it passes it on first: the one that has revoked it may die before it has told all. */
static void revoke_and_tell(struct pl_comm *root, int rank)
{
    const struct pl_break_notice notice = pl_comm_break_stopping(root, MPIX_ERR_REVOKED);
    revoke_here(root, rank);
    pl_comm_break_tell_all(root, rank, PL_FAULT_REVOKED, &notice);
}

void pl_comm_revoke(struct pl_comm *comm)
{
    struct pl_engine *engine = &comm->instance->engine;
    pl_engine_enter(engine);
    if (!atomic_load(&comm->health.revoked))
        revoke_and_tell(comm, comm->rank);
    pl_engine_leave(engine);
}

/* The member `from` makes no communicator from `root` any more. Those of MPI_Comm_create_group have no number that
 * would tell which ones it has made: asks for each. */
static void revoke_ask(struct pl_comm *root, int from, const struct pl_break_notice *notice)
{
    uint64_t proc = pl_group_proc(root->group, from);
    PL_TABLE_EACH(child, &root->instance->engine.comms.by_id, struct pl_comm, by_id) {
        bool here = child->role.parent.home == root->id.home && child->role.parent.serial == root->id.serial;
        int rank = here && child->role.grouped ? pl_group_find(child->group, proc) : MPI_UNDEFINED;
        bool broken = atomic_load(&child->health.failed) && !atomic_load(&child->health.confined);
        if (rank >= 0 && rank != child->rank && !broken)
            pl_comm_break_ask(root, from, child, rank, notice);
    }
}

void pl_comm_revoke_told(struct pl_comm *root, const struct pl_header *header, int rank, struct pl_break_notice *notice)
{
    int from = header->tag;
    if (!atomic_load(&root->health.revoked))
        revoke_and_tell(root, rank);
    if (from < 0 || (from >= root->size && from >= pl_comm_targets(root))) /* of either group */
        return;
    snprintf(notice->words, sizeof notice->words, "rank %d has not made it: %.64s, of which it is made, is revoked",
             from, pl_comm_label(root));
    pl_comm_break_children(root, from, notice);
    if (!root->inter.remote)
        revoke_ask(root, from, notice);
}
