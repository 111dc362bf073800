/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The answers that a send may expect. Each is a control message that names the send by its token. An ACK says that an
 * eager synchronous send was matched, and the answer to a CANCEL whether the message was withdrawn.
 *
 * The engine's lock is held in all functions.
 */
#ifndef PLENUM_CORE_ENGINE_SEND_ANSWER_H
#define PLENUM_CORE_ENGINE_SEND_ANSWER_H

#include "core/engine/engine.h"
#include "core/engine/request.h"

/* A send will get an answer: enters it into its engine's list and table of these. */
void pl_send_await(struct pl_request *request);

/* Takes a send out of the list that it is in, and of that table. */
void pl_send_unlink(struct pl_request *request);

/* Asks the receiver of a send under way to withdraw the message if it has not matched it. The send is then cancelled,
 * or fails with MPI_ERR_PROC_ABORTED if its communicator is broken. */
int pl_send_ask_back(struct pl_request *request);

/* At the receiver: withdraws the message if it is unmatched, and answers. */
void pl_send_cancel_arrived(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header);

/* At the sender: the answers. */
void pl_send_acked(struct pl_engine *engine, const struct pl_header *header);
void pl_send_cancel_answered(struct pl_engine *engine, const struct pl_header *header);

#endif
