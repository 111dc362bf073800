/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting in an exchange, and what ends it: all members have joined, the answer, the end of a process, the limit. */
#ifndef PLENUM_SESSIONS_CREATE_EXCHANGE_WAIT_H
#define PLENUM_SESSIONS_CREATE_EXCHANGE_WAIT_H

#include "sessions/create/exchange.h"

/* The coordinator waits until all members have joined, a participant joins and waits for the answer. Lock not held. */
int pl_exchange_wait(struct pl_exchange *exchange);

/* The listener's lock is held in all that follow. */

/* The members that have not joined, as a message. */
void pl_exchange_describe_missing(const struct pl_exchange *exchange, char why[PL_DETAIL_MAX]);

/* Has a member ended? */
bool pl_exchange_has_ended(struct pl_exchange *exchange, uint32_t member);

/* Sends nothing more to members that have ended; the listener, when it closes, does not wait for them to take what was
 * sent. */
void pl_exchange_forget_ended(struct pl_exchange *exchange);

/* Of a participant: does the coordinator's listener have its request, and a connection? */
bool pl_exchange_coordinator_listens(const struct pl_exchange *exchange);

#endif
