/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands behind a partitioned request; shared by partitioned.c and partitioned_pieces.c. Idea: partitioned.h. */
#ifndef PLENUM_CORE_ENGINE_PARTITIONED_PIECES_H
#define PLENUM_CORE_ENGINE_PARTITIONED_PIECES_H

#include "core/engine/partitioned.h"

enum { PL_CHANNEL_TAGS = 1 << 30 }; /* of pieces, used in turn */

/* What a sender announces. */
struct pl_terms {
    uint64_t piece_bytes;
    int32_t pieces;
    int32_t first_tag; /* of piece 0; the others follow */
};

/* The receive that waits for an announcement. It outlives its channel if that is freed before, so that the announcement
 * meets the call that it belongs to and not the next one. */
struct pl_expected {
    struct pl_terms terms;
    struct pl_channel *channel; /* NULL: it is gone */
};

/* Behind a request. `started` and everything after it: by the engine's lock. */
struct pl_channel {
    struct pl_request *request; /* whose owner this is */
    bool send;
    int partitions;
    bool *ready;                  /* [partitions] of a send: by the engine's lock too */
    _Atomic int *missing;         /* [partitions] of a receive: pieces that it waits for */
    struct pl_expected *expected; /* receive: until the announcement is there */
    bool started;                 /* an activation is not complete */
    bool known;                   /* the terms are settled */
    struct pl_terms terms;
    int refused; /* receive: the error class with which every activation ends; its pieces are thrown away */
    struct pl_request *pieces; /* [terms.pieces] */
    unsigned char *staging; /* data of all pieces, when they do not consist of whole elements of the receiver's type */
    struct pl_list link;    /* receive: in comm->channels while pieces are expected */
    int pending;            /* pieces of this activation that are not complete */
    int error;              /* the first among them */
};

/* The outcome of a request that nobody answers. */
static const struct pl_outcome pl_channel_nobody = { .source = MPI_PROC_NULL, .tag = MPI_ANY_TAG };

static inline struct pl_channel *pl_channel_of(const struct pl_request *request)
{
    return request->on.owner;
}

/* Requests for all pieces, when the terms are known. */
int pl_channel_make_pieces(struct pl_channel *channel);

/* All with the engine's lock held. */

/* A receive begins: nothing is there. Pieces are counted once the terms are known. */
void pl_channel_expect(struct pl_channel *channel);

/* Expects the pieces of an activation; takes at once those that have come before. */
void pl_channel_receive(struct pl_channel *channel);

/* Sends a partition. */
void pl_channel_send(struct pl_channel *channel, int number);

/* The activation is over: completes the request. */
void pl_channel_complete(struct pl_channel *channel);

/* For matching: the piece that a message is, out of its queue; NULL: no receive expects it. header->tag < 0. */
struct pl_request *pl_partitioned_take(struct pl_comm *comm, const struct pl_header *header);

#endif
