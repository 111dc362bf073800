/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables through which the engine calls the rooms above it: collectives, topologies, one-sided communication. The
 * engine includes no header of these rooms; core/kinds.c fills in the tables.
 *
 * A slot may be NULL: nothing follows. Slots marked "locked" are called with the engine's lock held and must not block.
 */
#ifndef PLENUM_CORE_ENGINE_CLIENT_H
#define PLENUM_CORE_ENGINE_CLIENT_H

#include "core/engine/request.h"
#include "core/engine/transport.h"
#include "core/job/report.h"

struct pl_comm;
struct pl_engine;
struct pl_waiting;

/* What a kind of message means to the room that sends it. */
struct pl_message_ops {
    /* Handles a message that is not matched with a receive, and consumes `rndv`. `comm` NULL: this process has no
     * communicator with that id. NULL: such messages are counted as dropped. Locked. */
    void (*arrived)(struct pl_engine *engine, struct pl_comm *comm, const struct pl_origin *from,
                    const struct pl_header *header, const void *data, struct pl_rndv *rndv);

    /* May messages of this kind be sent in the communicator? Asked when a receiver's address has become known. An MPI
     * error class, recorded, ends the send. Locked. */
    int (*check)(const struct pl_comm *comm);

    /* Records why a message did not fit the receive that it matched, and returns the error class. */
    int (*truncated)(const struct pl_request *request);

    /* For the job report: what a thread that waits for such a message waits for, if not for a send or a receive; and
     * what stands for the message's tag. Locked. */
    enum pl_item_what what;
    int (*tag)(const struct pl_request *request);
};
extern const struct pl_message_ops pl_message_ops[PL_MSG_KINDS];

/* What differs between kinds of requests. */
struct pl_request_ops {
    /* Records the detail of a failed operation, and returns the error class. */
    int (*report)(const struct pl_request *request, int error);

    /* Empties a completed request, so that its communicator can keep it for the next operation. NULL: requests of this
     * kind are not kept. */
    void (*recycle)(struct pl_request *request);

    /* For the job report: what a thread that waits for the request waits for, and with which rank. Locked. */
    enum pl_item_what what;
    void (*describe)(const struct pl_request *request, struct pl_job_item *item);
};
extern const struct pl_request_ops pl_request_ops[PL_REQ_KINDS];

/* A room that keeps state in engines and communicators. */
struct pl_engine_client {
    const char *name; /* of its entry in address cards */

    /* What this process has configured, as a word that its cards carry; 0: the card has no entry. */
    uint32_t (*settings)(void);

    /* A rank's peer has become known, and has these settings. Locked. */
    void (*resolved)(struct pl_comm *comm, int rank, uint32_t settings);

    /* A thread waits for long: for this request, or for `what`; both NULL: it polls. Ends what the room knows will not
     * come. Locked. */
    void (*awaited)(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *what);

    /* A member of the communicator has died, or a message from one was dropped for lack of memory: ends what only
     * that room knows. Locked. */
    void (*failed)(struct pl_comm *comm);

    /* Another member of the communicator has failed (comm_failures.h). Locked. */
    void (*member_failed)(struct pl_comm *comm);

    /* The instance closes while the user holds the communicator: before its receives are cancelled. */
    void (*closing)(struct pl_comm *comm);

    /* ... and after the engine has forgotten it. */
    void (*orphaned)(struct pl_comm *comm);

    /* The communicator is freed: releases what the room keeps in it. Also called after orphaned(). */
    void (*destroyed)(struct pl_comm *comm);
};
enum { PL_ENGINE_CLIENTS = 6 };
extern const struct pl_engine_client pl_engine_clients[PL_ENGINE_CLIENTS];

#endif
