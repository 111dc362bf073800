/* SPDX-License-Identifier: BSD-3-Clause */
/* See comm_break_notice.h. */
#include "core/engine/comm_break_notice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/engine/comm.h"
#include "core/engine/comm_break.h"
#include "core/engine/comm_failures.h"
#include "core/engine/comm_revoke.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/p2p.h"
#include "core/engine/peer.h"
#include "core/engine/request.h"

/* --- to all members ----------------------------------------------------------------------------------------------- */

static void break_message_destroyed(struct pl_request *request)
{
    free(request->on.owner);
}

bool pl_comm_tell(struct pl_comm *via, int to, const struct pl_header *header, const void *data)
{
    void *copy = pl_malloc(header->size);
    struct pl_request *request = copy ? pl_request_create(PL_REQ_COMPLETE, via, NULL, true) : NULL;
    if (!request) {
        free(copy);
        return false;
    }
    memcpy(copy, data, header->size);
    request->kind = PL_REQ_SEND;
    request->is.detached = true; /* its completion frees it */
    atomic_fetch_add_explicit(&via->requests.detached, 1, memory_order_relaxed);
    request->on.owner = copy;
    request->on.destroyed = break_message_destroyed;
    request->args.peer_rank = to;
    request->out.header = *header;
    request->out.header.token = ++via->instance->engine.sends.tokens;
    pl_cursor_init(&request->out.data, copy, (MPI_Count)header->size, PL_TYPE_BYTE);
    pl_engine_send_to(via, to, request);
    return true;
}

/* Sends the notice to a rank of `via`, whose address need not be known yet. */
static void break_tell(const struct pl_comm *root, struct pl_comm *via, int to, int rank, enum pl_fault fault,
                       const struct pl_break_notice *notice)
{
    const struct pl_header header = {
        .home = root->id.home,
        .serial = root->id.serial,
        .source = rank,
        .tag = root->rank, /* the sender */
        .kind = PL_MSG_BROKEN,
        .part = fault,
        .size = sizeof *notice,
    };
    if (!pl_comm_tell(via, to, &header, notice))
        pl_log("engine", 1, "out of memory to tell rank %d that %s is broken", to, pl_comm_label(root));
}

struct pl_break_notice pl_comm_break_stopping(const struct pl_comm *root, int class)
{
    return (struct pl_break_notice){ .class = class,
                                     .made = atomic_load_explicit(&root->coll.made, memory_order_relaxed),
                                     .idups = root->coll.idups_ended };
}

void pl_comm_break_tell_all(struct pl_comm *root, int rank, enum pl_fault fault, const struct pl_break_notice *notice)
{
    struct pl_comm *own = root->inter.remote ? root->inter.local : root;
    for (int i = 0; own && i < own->size; i++)
        if (i != own->rank && !pl_comm_knows_failed(root, pl_comm_member(root, i, false)))
            break_tell(root, own, i, rank, fault, notice);
    for (int i = 0; root->inter.remote && i < root->inter.remote->size; i++)
        if (!pl_comm_knows_failed(root, pl_comm_member(root, i, true)))
            break_tell(root, root, i, rank, fault, notice);
}

/* --- to one member ------------------------------------------------------------------------------------------------ */

/* Sends the notice to one process, which is known from a message of it. */
static bool break_reply(struct pl_engine *engine, const struct pl_origin *to, const struct pl_header *header,
                        const struct pl_break_notice *notice)
{
    struct pl_peer *peer;
    return pl_engine_peer(engine, to->card, to->card_length, UINT64_MAX, &peer) == MPI_SUCCESS &&
           pl_engine_control(engine, peer, header, notice, sizeof *notice) == MPI_SUCCESS;
}

void pl_comm_break_sender(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *message,
                          int rank)
{
    struct pl_break_notice notice = { .class = MPI_ERR_OTHER };
    struct pl_header header = {
        .home = message->home, .serial = message->serial, .source = rank, .kind = PL_MSG_BROKEN, .part = PL_FAULT_FREED
    };
    snprintf(notice.words, sizeof notice.words,
             "the calls differ: rank %d sends %llu bytes in a collective, and rank %d has freed the communicator "
             "without receiving them",
             message->source, (unsigned long long)message->size, rank);
    if (!break_reply(engine, from, &header, &notice))
        pl_log("engine", 1, "out of memory to tell a sender that its communicator is freed");
}

void pl_comm_break_ask(struct pl_comm *root, int to, const struct pl_comm *child, int rank,
                       const struct pl_break_notice *notice)
{
    const struct pl_header header = { .home = child->id.home,
                                      .serial = child->id.serial,
                                      .source = rank,
                                      .tag = -1,
                                      .kind = PL_MSG_BROKEN,
                                      .part = PL_FAULT_ASKED,
                                      .size = sizeof *notice };
    if (!pl_comm_tell(root, to, &header, notice))
        pl_log("engine", 1, "out of memory to ask rank %d for a communicator", to);
}

void pl_comm_break_answer(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                          const void *data)
{
    struct pl_break_notice notice;
    struct pl_header answer = *header;
    if (header->size != sizeof notice)
        return;
    memcpy(&notice, data, sizeof notice);
    answer.part = PL_FAULT_RANK;
    if (!break_reply(engine, from, &answer, &notice))
        pl_log("engine", 1, "out of memory to tell that a communicator is not made");
}

void pl_comm_break_repeat(const struct pl_comm *comm, const struct pl_origin *to)
{
    int revoked = atomic_load(&comm->health.revoked);
    struct pl_break_notice notice = { .class = pl_comm_broken_class(comm) };
    struct pl_header header = { .home = comm->id.home,
                                .serial = comm->id.serial,
                                .source = (revoked ? revoked : atomic_load(&comm->health.failed)) - 1,
                                .tag = -1, /* says nothing of what this rank has made */
                                .kind = PL_MSG_BROKEN,
                                .part = revoked ? PL_FAULT_REVOKED : PL_FAULT_LINK };
    if (comm->health.words)
        snprintf(notice.words, sizeof notice.words, "%s", comm->health.words);
    break_reply(&comm->instance->engine, to, &header, &notice); /* a rank that is not told asks again */
}

/* --- from a member ------------------------------------------------------------------------------------------------ */

/* The rank that lost the link cannot tell the one at its other end: the two ranks behind that do, of which one may be
 * the rank that told this one. */
static bool break_is_next(const struct pl_comm *comm, int rank)
{
    return comm->rank != rank && (comm->rank - rank + comm->size) % comm->size <= 2;
}

void pl_comm_break_told(struct pl_comm *comm, const struct pl_header *header, const void *data)
{
    struct pl_break_notice notice;
    if (header->size != sizeof notice || !data)
        return;
    memcpy(&notice, data, sizeof notice);
    notice.words[sizeof notice.words - 1] = '\0';
    bool known = notice.class > MPI_SUCCESS && notice.class < MPI_ERR_LASTCODE && pl_error_class_name(notice.class);
    int rank = header->source >= 0 && header->source < pl_comm_targets(comm) ? header->source : 0;
    bool news = !atomic_load(&comm->health.failed);
    if (header->part == PL_FAULT_ASKED)
        return; /* it is made */
    if (header->part == PL_FAULT_REVOKED) {
        pl_comm_revoke_told(pl_comm_root(comm), header, rank, &notice);
        return;
    }
    if (notice.class == MPI_ERR_PROC_ABORTED && !notice.words[0] && pl_comm_keeps_failures(comm)) {
        if (comm->inter.remote)
            pl_comm_confine(comm, rank); /* it may be a rank of either group */
        else
            pl_comm_fail_member(comm, rank);
        return;
    }
    if (header->part == PL_FAULT_RANK) {
        pl_comm_break_children(comm, rank, &notice);
        pl_comm_break_stop(comm, &notice);
    }
    pl_comm_break(comm, rank, known ? notice.class : MPI_ERR_OTHER, notice.words);
    if (news && header->part == PL_FAULT_LINK && !comm->inter.remote && break_is_next(comm, rank))
        break_tell(comm, comm, rank, rank, PL_FAULT_LINK, &notice);
    if (news && header->part == PL_FAULT_FREED) {
        struct pl_comm *root = pl_comm_root(comm);
        notice.made = atomic_load_explicit(&root->coll.made, memory_order_relaxed);
        notice.idups = root->coll.idups_ended;
        pl_comm_break_tell_all(root, rank, PL_FAULT_RANK, &notice);
    }
}
