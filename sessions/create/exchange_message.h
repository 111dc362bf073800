/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of exchanges: what arrives at the listener for them, and what they send. The listener's lock is held in
 * all functions. */
#ifndef PLENUM_SESSIONS_CREATE_EXCHANGE_MESSAGE_H
#define PLENUM_SESSIONS_CREATE_EXCHANGE_MESSAGE_H

#include "core/base/bytes.h"
#include "core/engine/transport.h"
#include "sessions/create/exchange.h"

/* A participant's request, as it arrived. Key and payload lie in `data`. The payload of one that declines is text. */
struct pl_exchange_request {
    struct pl_list link; /* in a list of requests that belong to no exchange, or in none */
    const struct pl_origin *from;
    struct pl_peer *peer; /* the way back to the participant; NULL: not connected */
    uint64_t token;
    uint32_t size, rank; /* of the group; the participant's rank in it, which is less */
    int declined;        /* the class of the error that the participant joins with; 0: none */
    const unsigned char *key, *payload;
    size_t key_length, payload_length;
    unsigned char data[];
};

/* A message has arrived. Its data are borrowed for the call. */
void pl_exchange_message_arrived(struct pl_engine *listener, const struct pl_origin *from,
                                 const struct pl_header *header, const void *data);

/* A message to the listener was lost for lack of memory. */
void pl_exchange_message_starved(const char *why);

/* Lets messages find the exchange, and gives it the requests for it that arrived early. */
void pl_exchange_register(struct pl_exchange *exchange);

int pl_exchange_send_join(struct pl_exchange *exchange, struct pl_peer *peer);
void pl_exchange_send_leave(struct pl_exchange *exchange, int error); /* with exchange->why */
void pl_exchange_send_refusal(struct pl_exchange *exchange, struct pl_peer *peer);
void pl_exchange_send_errors(struct pl_exchange *exchange); /* to all participants: exchange->error and ->why */

/* Answers a request with a message of one class (i32) and data. */
int pl_exchange_send_answer(struct pl_engine *listener, struct pl_exchange_request *request,
                            const struct pl_writer *message);

/* Frees a request. `*held` of where it came from is there as long as the listener is open. */
void pl_exchange_request_free(struct pl_exchange_request *request);

/* Drops a member's request: the member has not joined. */
void pl_exchange_drop_request(struct pl_exchange *exchange, uint32_t member);

/* Removes a peer from all exchanges; does one of them use it? */
void pl_exchange_forget_peer(const struct pl_peer *peer);
bool pl_exchange_holds_peer(const struct pl_peer *peer);

/* Frees the requests of exchanges that never took place. The listener is closed; no lock. */
void pl_exchange_forget_early(void);

#endif
