/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bulk messages while they are under way, and the two ways in which their data moves: through a lane, and by the
 * kernel's copy between processes.
 */
#ifndef PLENUM_PLUGINS_SHM_FIFO_H
#define PLENUM_PLUGINS_SHM_FIFO_H

#include "plugins/shm/shm.h"

/* At the sender: kept in the message's own notes. */
struct __attribute__((may_alias)) pl_shm_sending {
    struct pl_list link; /* in peer->offered, then peer->streaming */
    uint64_t token;      /* 0: none */
    uint64_t reply;      /* the receiver's token, once it is granted */
    uint64_t left;       /* bytes still to be put into the lane */
};
_Static_assert(sizeof(struct pl_shm_sending) <= sizeof((struct pl_outgoing *)0)->transport, "it fits into the notes");

static inline struct pl_shm_sending *pl_shm_sending_of(struct pl_outgoing *message)
{
    return (struct pl_shm_sending *)message->transport;
}

static inline struct pl_outgoing *pl_shm_message_of(struct pl_shm_sending *sending)
{
    return PL_CONTAINER(sending, struct pl_outgoing, transport);
}

/* At the receiver. */
struct pl_shm_rndv {
    struct pl_rndv base;
    struct pl_shm_peer *peer;
    struct pl_list link;    /* in peer->granted, inflow or pulling; before: in none, the engine has it */
    uint64_t theirs;        /* the sender's token */
    uint64_t address;       /* of the data in the sender's process; 0: not in one run */
    uint64_t size;          /* bytes that the sender has */
    struct pl_incoming *in; /* NULL: not fetched yet */
    uint64_t wanted, done;  /* bytes */
    uint64_t ours;          /* our token; 0: none */
    uint64_t position;      /* in the lane's stream, of the next byte */
};

/* The bulk is in place, or has failed: tells the engine, and frees it. */
void pl_shm_rndv_finish(struct pl_shm_rndv *rndv, int error);

/* --- fifo.c ------------------------------------------------------------------------------------------------------ */

/* A lane of ours. */
struct pl_shm_fifo_out {
    struct pl_list link;      /* in shm->lanes */
    struct pl_shm_peer *peer; /* whom it leads to; NULL: nobody */
    struct pl_shm_fifo *shared;
    uint64_t filled; /* bytes put in so far */
    uint64_t end;    /* where the data of the last granted message will end */
    uint64_t floor;  /* all before it has been taken out, whatever the reader's counter says */
    struct pl_shm_span span;
};

/* Finds or makes the lane to a peer. */
int pl_shm_fifo_get(struct pl_shm_peer *peer);
/* Reserves the place of the next message in its stream. */
uint64_t pl_shm_fifo_reserve(struct pl_shm_fifo_out *fifo, uint64_t bytes);
/* Goes over to the peer's lane at this offset. */
int pl_shm_fifo_follow(struct pl_shm_peer *peer, uint64_t offset);
void pl_shm_fifo_unfollow(struct pl_shm_peer *peer);
/* Gives the lane to the peer back. `reuse`: it is not read any more. */
void pl_shm_fifo_put(struct pl_shm_peer *peer, bool reuse);
void pl_shm_fifos_close(struct pl_shm *shm);

/* Move some data; return the number of events. */
int pl_shm_fifo_fill(struct pl_shm_peer *peer);
int pl_shm_fifo_drain(struct pl_shm_peer *peer);
/* Would they? */
bool pl_shm_fifo_has_room(const struct pl_shm_peer *peer);
bool pl_shm_fifo_has_data(const struct pl_shm_peer *peer);
/* All that was put in has been taken out. */
bool pl_shm_fifo_flushed(const struct pl_shm_peer *peer);

/* --- cma.c ------------------------------------------------------------------------------------------------------ */

/* May this message be read straight from the sender's memory, and should it, if there is a choice? */
bool pl_shm_cma_possible(const struct pl_shm_rndv *rndv);
bool pl_shm_cma_wanted(const struct pl_shm_rndv *rndv);

enum pl_shm_cma_result { PL_SHM_CMA_ALL, PL_SHM_CMA_MORE, PL_SHM_CMA_REFUSED, PL_SHM_CMA_FAILED };
/* Reads a slice. REFUSED: the kernel does not allow it; what is missing can come another way. */
enum pl_shm_cma_result pl_shm_cma_read(struct pl_shm_rndv *rndv);

#endif
