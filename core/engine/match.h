/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching of posted receives with arrived messages.
 *
 * A communicator's queues are in the order of posting and of arrival. A search from the front finds the first entry
 * that fits, as MPI's ordering rule demands. The engine's lock is held in all functions.
 */
#ifndef PLENUM_CORE_ENGINE_MATCH_H
#define PLENUM_CORE_ENGINE_MATCH_H

#include "core/base/list.h"
#include "core/base/table.h"
#include "core/engine/comm.h"
#include "core/engine/request.h"
#include "core/engine/transport.h"
#include "core/object/object.h"

enum { PL_MATCH_VIEWS = 3 }; /* tables of an index that may have a message (match_index.c) */

/* A message that arrived before its receive was posted. */
struct pl_unexpected {
    struct pl_list link;
    struct pl_table_node index[PL_MATCH_VIEWS]; /* in its queue's index, if there is one (match_index.h) */
    struct pl_header header;
    const struct pl_origin *from;
    struct pl_rndv *rndv; /* the data is still at the sender; NULL: it is in `data` */
    unsigned char data[];
};

/* A matched message (MPI_Mprobe): the object of an MPI_Message handle. */
struct pl_message {
    struct pl_object obj;
    struct pl_comm *comm; /* retained */
    struct pl_unexpected *unexpected;
};
void pl_message_destroy(void *message);

/* host->arrived(): delivers a message to its receive, keeps it, or handles a control message. */
bool pl_match_arrived(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                      const void *data, struct pl_rndv *rndv);

/* Matches a receive with a message that has arrived, or posts it. */
void pl_match_post(struct pl_request *request);

/* Posts a receive that no message has come for. */
void pl_match_append(struct pl_request *request);

/* The first posted receive that fits, which stays in its queue; NULL: none. */
struct pl_request *pl_match_find_posted(struct pl_comm *comm, const struct pl_header *header);

/* The first unexpected message that fits, which stays in its queue; NULL: none. */
struct pl_unexpected *pl_match_find(struct pl_comm *comm, int context, int source, int tag);

/* Take a message or a receive out of its queue. */
void pl_match_take(struct pl_comm *comm, struct pl_unexpected *unexpected);
void pl_match_unpost(struct pl_request *request);

/* Delivers an unexpected message, which is out of its queue, to a receive; consumes it. */
void pl_match_deliver(struct pl_request *request, struct pl_unexpected *unexpected);

/* Fetches the data of a rendezvous message into request->in.data. The request completes with the bytes that fit. */
void pl_match_fetch(struct pl_request *request, const struct pl_header *header, struct pl_rndv *rndv);

/* Drops a rendezvous message. */
void pl_match_refuse(struct pl_engine *engine, struct pl_rndv *rndv);

/* Keeps a message for which no receive is posted yet; `comm` NULL: the communicator is not made yet. Drops one that
 * will not be received: its communicator was freed or revoked, or the engine closes. */
void pl_match_keep_early(struct pl_engine *engine, struct pl_comm *comm, const struct pl_origin *from,
                         const struct pl_header *header, const void *data, struct pl_rndv *rndv);

/* Answers the sender of `header`. A sender that is unreachable by now needs no answer. */
void pl_match_answer(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header, int kind,
                     int tag);

/* Drops an unexpected message. `cancelled`: its sender has withdrawn it. */
void pl_match_drop(struct pl_engine *engine, struct pl_unexpected *unexpected, bool cancelled);

/* Moves the early messages of a new communicator to its queues. */
void pl_match_adopt(struct pl_engine *engine, struct pl_comm *comm);

#endif
