/* SPDX-License-Identifier: BSD-3-Clause */
/* The rendezvous protocol, for messages longer than PLENUM_SHM_EAGER: rndv.c draws it. Data moves through a FIFO
 * (fifo.h) or by the kernel's copy (cma.h). */
#ifndef PLENUM_PLUGINS_SHM_RNDV_H
#define PLENUM_PLUGINS_SHM_RNDV_H

#include "plugins/shm/shm.h"

/* A message at its sender: kept in the `transport` field of the engine's struct. */
struct __attribute__((may_alias)) pl_shm_sending {
    struct pl_list link; /* in peer->rts_sent, then peer->filling */
    uint64_t token;      /* ours, until the CTS arrives; 0: none */
    uint64_t reply;      /* the receiver's token, from the CTS */
    uint64_t remaining;  /* bytes still to be put into the FIFO */
};
_Static_assert(sizeof(struct pl_shm_sending) <= sizeof((struct pl_outgoing *)0)->transport,
               "a sending fits into the message's transport field");

static inline struct pl_shm_sending *pl_shm_sending_of(struct pl_outgoing *message)
{
    return (struct pl_shm_sending *)message->transport;
}

static inline struct pl_outgoing *pl_shm_message_of(struct pl_shm_sending *sending)
{
    return PL_CONTAINER(sending, struct pl_outgoing, transport);
}

/* A message at its receiver. */
struct pl_shm_rndv {
    struct pl_rndv base;
    struct pl_shm_peer *peer;
    struct pl_list link;    /* in peer->cts_sent, draining or copying; in none before fetch() */
    uint64_t sender_token;  /* from the RTS */
    uint64_t address;       /* of the data in the sender's process; 0: the data is not one run */
    uint64_t size;          /* bytes that the sender has */
    struct pl_incoming *in; /* NULL: not fetched yet */
    uint64_t wanted, done;  /* bytes */
    uint64_t token;         /* ours, in the CTS; 0: none */
    uint64_t position;      /* in the FIFO, of the next byte */
};

/* Sends an RTS. PL_PENDING; PL_AGAIN: no space in the ring; MPI_ERR_NO_MEM. */
int pl_shm_rndv_send_rts(struct pl_shm_peer *peer, struct pl_outgoing *message);

/* An RTS has arrived: hands the message to the engine. */
bool pl_shm_rndv_rts_arrived(struct pl_shm_peer *peer, const struct pl_header *header, const struct pl_shm_rts *rts);
/* A CTS, DATA, FIN or NACK has arrived. False: the protocol does not allow it. */
bool pl_shm_rndv_control_arrived(struct pl_shm_peer *peer, enum pl_shm_kind kind, const struct pl_shm_control *control);

/* Slots of pl_transport_ops. */
int pl_shm_rndv_fetch(void *self, struct pl_rndv *rndv, struct pl_incoming *message);
void pl_shm_rndv_drop(void *self, struct pl_rndv *rndv, bool cancelled);
bool pl_shm_rndv_withdraw(struct pl_endpoint *endpoint, struct pl_outgoing *message);

/* Moves some data of this peer's messages. Returns the number of events. */
int pl_shm_rndv_progress(struct pl_shm_peer *peer);
bool pl_shm_rndv_is_active(const struct pl_shm_peer *peer); /* must progress be called? */
bool pl_shm_rndv_is_ready(const struct pl_shm_peer *peer);  /* would it do something now? */

/* The data of a received message is in place, or has failed: tells the engine. Steals `rndv`. */
void pl_shm_rndv_finish(struct pl_shm_rndv *rndv, int error);

/* Gives up all messages to the peer, without a report. */
void pl_shm_rndv_give_up(struct pl_shm_peer *peer);
/* Ends all messages to and from a leaving peer, with the error of its end. Returns their number. */
int pl_shm_rndv_fail_all(struct pl_shm_peer *peer);
/* Frees the messages that are being received, without a report. */
void pl_shm_rndv_forget(struct pl_shm_peer *peer);

#endif
