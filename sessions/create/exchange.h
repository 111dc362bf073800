/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings: processes that know each other's ranks and one key come together through their front doors.
 *
 * One of them, whom all know, is the host. The others send it the key and a gift; when it has the gifts of all it tells
 * everybody the same. Keys are compared whole, so that different meetings never mix; one key may serve again and again,
 * one meeting after the other.
 *
 * A meeting fails for all who wait in it when a member has ended, or when one has lost its patience. Whoever finds that
 * first tells the host, and the host tells the others who is missing. A host that has ended is noticed by each of them.
 *
 * The functions return MPI error classes: MPI_ERR_PROC_ABORTED, MPIX_ERR_TIMEOUT, or what went wrong.
 */
#ifndef PLENUM_SESSIONS_CREATE_EXCHANGE_H
#define PLENUM_SESSIONS_CREATE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/list.h"
#include "mpi-ext.h"

struct pl_engine;
struct pl_group;
struct pl_exchange_request;
struct pl_peer;

/* What is to be set before it opens stands first. All borrowed until it is closed. */
struct pl_exchange {
    const void *key;
    uint32_t key_length;
    const struct pl_group *group;      /* the members, of this job */
    uint32_t members, me, coordinator; /* ranks in it */
    const void *payload;
    size_t payload_length;
    const char *tag;               /* for messages */
    const char *who;               /* for messages: "the group's processes" */
    long patience;                 /* milliseconds to wait; 0: for ever */
    struct pl_exchange *outer;     /* ends this one when it fails; this process is its host. NULL: none */
    const struct pl_group *others; /* whose end ends the meeting too; NULL: nobody */

    /* exchange.c's own; under the door's lock */
    struct pl_list link;
    struct pl_engine *listener;
    struct pl_exchange *inner;                 /* the one whose `outer` this is, while that waits */
    struct pl_exchange_request **participants; /* [members] the host's: who has come */
    uint32_t arrived;
    bool gathered;         /* ... all have, and their gifts are taken: their places are not given to others */
    uint64_t token;        /* a guest's: its name for the meeting */
    struct pl_peer *asked; /* ... at which door it has asked; NULL: not yet */
    unsigned char *answer; /* ... what the host said */
    size_t answer_length;
    bool done;   /* ... it has */
    int parting; /* ... it has given up with this error, and gives the host a last moment to answer */
    long began, look_at, parting_until, failing_since; /* milliseconds */
    int error;                                         /* what ended it; 0: nothing */
    char why[PL_DETAIL_MAX];                           /* ... in words */
};

/* Opens the front door, and receives. */
int pl_exchange_open(struct pl_exchange *exchange);
void pl_exchange_close(struct pl_exchange *exchange);

/* The host's part: waits for all; their gifts (its own too), valid until it is closed; tells everybody. */
int pl_exchange_gather(struct pl_exchange *exchange);
const void *pl_exchange_payload(const struct pl_exchange *exchange, uint32_t member, size_t *length);
int pl_exchange_answer(struct pl_exchange *exchange, const void *data, size_t length);

/* A guest's part: asks, waits, and has what the host told, valid until it is closed. */
int pl_exchange_join(struct pl_exchange *exchange, const void **data, size_t *length);

/* It has failed here for the reason that was recorded last, of class `error`: whoever waits in it is told. */
void pl_exchange_refuse(struct pl_exchange *exchange, int error);

#endif
