/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The listener: an engine of the process itself, at an address that other processes derive from the rank alone.
 * Exchanges (sessions/create/exchange.h) and ports (sessions/port/port.h) send their messages through it.
 *
 * The first use opens it; it closes with the last instance. Whatever arrives at it, and everything that the messages
 * change, is protected by the lock of its engine: pl_engine_enter(), pl_engine_leave().
 */
#ifndef PLENUM_SESSIONS_CREATE_LISTENER_H
#define PLENUM_SESSIONS_CREATE_LISTENER_H

#include "core/engine/engine.h"

struct pl_wait;

/* What a message between listeners is about; its tag. */
enum pl_listener_message {
    /* Exchanges: sessions/create/exchange_message.c has the formats. */
    PL_EXCHANGE_JOIN = 1, /* a participant joins; the token names its request */
    PL_EXCHANGE_ANSWER,   /* to the request of that token: what the coordinator answers, or why the exchange failed */
    PL_EXCHANGE_LEAVE,    /* the participant of that token gives up */
    PL_EXCHANGE_REFUSAL,  /* a member that never joined will not come */

    /* Ports: sessions/port/calls.c has the formats. */
    PL_PORT_CALL,    /* a connecting root calls a port; the token names the call */
    PL_PORT_PROPOSE, /* to the call of that token: the accepting root's proposal, or why the port refuses */
    PL_PORT_CONFIRM, /* the call of that token is connected */
    PL_PORT_HANG_UP, /* the caller of that token has given up, or there is no such call */
};

/* What uses the listener: one row for each protocol, in sessions/listener_clients.c. */
struct pl_listener_client {
    enum pl_listener_message first, last; /* its messages */
    /* A message has come. Lock held. */
    void (*arrived)(struct pl_engine *listener, const struct pl_origin *from, const struct pl_header *header,
                    const void *data);
    /* A message, of an unknown kind, was lost for lack of memory. Lock held. NULL: nothing to do */
    void (*starved)(const char *why);
    void (*forget)(const struct pl_peer *peer);  /* the listener is about to free a peer. Lock held */
    bool (*holds)(const struct pl_peer *peer);   /* does the client use it? Lock held */
    void (*closing)(struct pl_engine *listener); /* before the listener closes; lock not held. NULL: nothing to do */
    void (*closed)(void);                        /* after it: frees what is left. NULL: nothing to do */
};
enum { PL_LISTENER_CLIENTS = 2 };
extern const struct pl_listener_client pl_listener_clients[PL_LISTENER_CLIENTS];

/* Opens the listener unless it is open. */
int pl_listener_open(struct pl_engine **listener);

/* The same, and writes its card into PL_CARD_MAX bytes. */
int pl_listener_card(unsigned char card[PL_CARD_MAX], size_t *length);

/* The listener of a rank of the job, as a peer. PL_AGAIN: it is not open yet. Lock held. */
int pl_listener_peer(struct pl_engine *listener, int rank, struct pl_peer **peer);

/* Frees a peer whose listener has closed, and which no client has any longer. Lock held. */
void pl_listener_forget(struct pl_engine *listener, struct pl_peer *peer);

/* Sends a message. Lock held. */
int pl_listener_send(struct pl_engine *listener, struct pl_peer *peer, enum pl_listener_message message, uint64_t token,
                     const void *data, size_t size);

/* Wakes the threads that wait at the listener. Lock held. */
void pl_listener_wake(struct pl_engine *listener);

/* Between unsuccessful rounds of progress: drives the other engines, spins, yields, sleeps. Lock not held. */
void pl_listener_idle(struct pl_engine *listener, struct pl_wait *wait);

#endif
