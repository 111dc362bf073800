/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching: posted receives meet arrived messages.
 *
 * Both queues of a communicator are in order of posting and of arrival; a search from the front takes the first that
 * fits, which is what MPI's ordering rule asks for. The engine's lock is held in all functions.
 */
#ifndef PLENUM_CORE_ENGINE_MATCH_H
#define PLENUM_CORE_ENGINE_MATCH_H

#include "core/base/list.h"
#include "core/engine/comm.h"
#include "core/engine/request.h"
#include "core/engine/transport.h"
#include "core/object/object.h"

/* A message that came before its receive. */
struct pl_unexpected {
    struct pl_list link;
    struct pl_list index; /* in the index of its communicator, if there is one (match_index.h) */
    struct pl_header header;
    const struct pl_origin *from;
    struct pl_rndv *rndv; /* the data waits at the sender; NULL: it is in `data` */
    unsigned char data[];
};

/* A matched message (MPI_Mprobe): the object of an MPI_Message handle. */
struct pl_message {
    struct pl_object obj;
    struct pl_comm *comm; /* retained */
    struct pl_unexpected *unexpected;
};
void pl_message_destroy(void *message);

/* host->arrived(): hands a message to its receive, keeps it, or handles a control message. */
void pl_match_arrived(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                      const void *data, struct pl_rndv *rndv);

/* Posts a receive, or satisfies it at once. */
void pl_match_post(struct pl_request *request);

/* The first unexpected message that fits, left in its queue; NULL: none. */
struct pl_unexpected *pl_match_find(struct pl_comm *comm, int context, int source, int tag);

/* Take one out of its queue. */
void pl_match_take(struct pl_comm *comm, struct pl_unexpected *unexpected);
void pl_match_unpost(struct pl_request *request);

/* Delivers an unexpected message, already out of its queue, into a receive. Consumes it. */
void pl_match_deliver(struct pl_request *request, struct pl_unexpected *unexpected);

/* Gets the data of a bulk message into request->in.data; the request completes with what fits. */
void pl_match_fetch(struct pl_request *request, const struct pl_header *header, struct pl_rndv *rndv);

/* Throws the data of one away. */
void pl_match_refuse(struct pl_engine *engine, struct pl_rndv *rndv);

/* Throws an unexpected message away. */
void pl_match_drop(struct pl_engine *engine, struct pl_unexpected *unexpected, bool cancelled);

/* Hands the messages that arrived before their communicator was made to it. */
void pl_match_adopt(struct pl_engine *engine, struct pl_comm *comm);

#endif
