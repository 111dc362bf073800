/* SPDX-License-Identifier: BSD-3-Clause */
/* The channel of a partitioned request and its chunks, for partitioned.c. See partitioned.h. */
#ifndef PLENUM_CORE_ENGINE_PARTITIONED_CHUNKS_H
#define PLENUM_CORE_ENGINE_PARTITIONED_CHUNKS_H

#include "core/engine/partitioned.h"

enum { PL_CHANNEL_TAGS = 1 << 30 }; /* tags of chunks, used in turn */

/* The announcement of a sender. */
struct pl_terms {
    uint64_t chunk_bytes;
    int32_t chunks;
    int32_t first_tag; /* of chunk 0; the others follow */
};

/* A receive that waits for its announcement. It outlives a channel that is freed before, so that the announcement does
 * not match the receive of the next channel. */
struct pl_expected {
    struct pl_terms terms;
    struct pl_channel *channel; /* NULL: it is freed */
};

/* The state of a request. The engine's lock protects `ready`, `started`, and everything after it. */
struct pl_channel {
    struct pl_request *request; /* its owner is this channel */
    bool send;
    int partitions;
    bool *ready;                  /* [partitions] of a send */
    _Atomic int *missing;         /* [partitions] of a receive: chunks that have not arrived */
    struct pl_expected *expected; /* receive: until the announcement is there */
    bool started;                 /* an activation is not complete */
    bool known;                   /* the terms are set */
    struct pl_terms terms;
    int refused;               /* receive: the error class with which every activation ends; its chunks are dropped */
    struct pl_request *chunks; /* [terms.chunks] */
    unsigned char *staging; /* data of all chunks, if they are not whole elements of the receiver's type; else NULL */
    struct pl_list link;    /* send: in comm->partitioned.sends; receive: in .channels while chunks are expected */
    int pending;            /* incomplete chunks of this activation */
    int error;              /* the first error of a chunk */
};

/* The outcome of an operation without a peer. */
static const struct pl_outcome pl_channel_nobody = { .source = MPI_PROC_NULL, .tag = MPI_ANY_TAG };

static inline struct pl_channel *pl_channel_of(const struct pl_request *request)
{
    return request->on.owner;
}

/* Makes requests for all chunks, once the terms are known. MPI_ERR_NO_MEM. */
int pl_channel_make_chunks(struct pl_channel *channel);

/* The engine's lock is held in all functions below. */

/* A receive starts: marks all partitions as missing. Chunks are counted once the terms are known. */
void pl_channel_expect(struct pl_channel *channel);

/* Expects the chunks of an activation, and delivers those that have arrived before. */
void pl_channel_receive(struct pl_channel *channel);

/* Sends a partition. */
void pl_channel_send(struct pl_channel *channel, int number);

/* The activation has ended: completes the request. */
void pl_channel_complete(struct pl_channel *channel);

/* For matching: the posted chunk that a message is; NULL: no receive expects it. header->tag < 0. */
struct pl_request *pl_partitioned_find(struct pl_comm *comm, const struct pl_header *header);

#endif
