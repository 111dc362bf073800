/* SPDX-License-Identifier: BSD-3-Clause */
/* Acknowledgements and cancellation of sends. See send_answer.h. */
#include "core/engine/send_answer.h"

#include "core/engine/comm_break.h"
#include "core/engine/comm_table.h"
#include "core/engine/match.h"
#include "core/engine/peer.h"

/* --- the sender asks ---------------------------------------------------------------------------------------------- */

void pl_send_await(struct pl_request *request)
{
    struct pl_engine_sends *sends = &request->engine->sends;
    pl_list_append(&sends->awaiting, &request->link);
    pl_table_insert(&sends->by_token, &request->index.node, request->out.header.token);
    request->is.by_token = true;
}

void pl_send_unlink(struct pl_request *request)
{
    pl_list_remove(&request->link);
    if (request->is.by_token)
        pl_table_remove(&request->engine->sends.by_token, &request->index.node);
    request->is.by_token = false;
}

int pl_send_ask_back(struct pl_request *request)
{
    struct pl_header header = request->out.header;
    if (request->is.cancelling || header.kind >= PL_QUEUES)
        return MPI_SUCCESS;
    request->is.cancelling = true;
    pl_send_unlink(request); /* a synchronous send is in `awaiting` already */
    pl_send_await(request);
    header.kind = PL_MSG_CANCEL;
    header.flags = 0;
    return pl_engine_control(request->engine, request->peer, &header, NULL, 0);
}

/* --- the receiver answers ----------------------------------------------------------------------------------------- */

/* The message with this token, which its sender withdraws: in one of the communicator's queues, or an early message. */
static struct pl_unexpected *message_find_token(struct pl_engine *engine, const struct pl_origin *from,
                                                const struct pl_header *header)
{
    struct pl_comm *comm = pl_engine_find_comm(engine, header);
    for (int i = -1; i < (comm ? PL_QUEUES : 0); i++)
        PL_LIST_EACH(unexpected, i < 0 ? &engine->early.messages : &comm->match.queues[i].unexpected,
                     struct pl_unexpected, link)
            if (unexpected->header.token == header->token && unexpected->from->engine == from->engine)
                return unexpected;
    return NULL;
}

void pl_send_cancel_arrived(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header)
{
    struct pl_unexpected *unexpected = message_find_token(engine, from, header);
    if (unexpected) {
        pl_match_take(pl_engine_find_comm(engine, header), unexpected);
        pl_match_drop(engine, unexpected, true);
    }
    pl_match_answer(engine, from, header, PL_MSG_CANCELLED, unexpected != NULL);
}

/* --- the sender is told ------------------------------------------------------------------------------------------- */

/* The send with this token, if it expects an answer: a peer is not trusted. */
static struct pl_request *send_find_token(struct pl_engine *engine, uint64_t token)
{
    return PL_TABLE_FIND(&engine->sends.by_token, token, struct pl_request, index.node);
}

void pl_send_acked(struct pl_engine *engine, const struct pl_header *header)
{
    struct pl_request *request = send_find_token(engine, header->token);
    if (!request)
        return;
    pl_send_unlink(request);
    bool revoked = atomic_load(&request->comm->health.revoked); /* whose message may have gone with it, unread */
    if (request->state == PL_STATE_MOVING)
        request->is.acked = true;
    else
        pl_request_complete(request, revoked ? pl_comm_broken_class(request->comm) : MPI_SUCCESS);
}

void pl_send_cancel_answered(struct pl_engine *engine, const struct pl_header *header)
{
    struct pl_request *request = send_find_token(engine, header->token);
    if (!request || !request->is.cancelling)
        return;
    request->is.cancelling = false;
    if (header->tag != 1)
        return; /* it was matched, and completes as usual */
    int failed = pl_comm_fails(request->comm, request->context, request->args.tag)
                     ? pl_comm_broken_class(request->comm)
                     : MPI_SUCCESS; /* it was asked back */
    pl_send_unlink(request);
    request->outcome.cancelled = !failed;
    struct pl_endpoint *endpoint = request->peer->endpoint;
    if (request->state == PL_STATE_AWAITING || endpoint->ops->withdraw(endpoint, &request->out))
        pl_request_complete(request, failed);
}
