/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point to point: what the public functions, blocking, nonblocking and persistent, have in common.
 * Arguments are checked by the caller. No lock is held by it.
 */
#ifndef PLENUM_CORE_ENGINE_P2P_H
#define PLENUM_CORE_ENGINE_P2P_H

#include "core/engine/comm.h"
#include "core/engine/match.h"
#include "core/engine/request.h"

/* A send or receive of the user that is described and not started. One handle. */
int pl_send_prepare(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type, int dest, int tag,
                    int mode, struct pl_request **request);
int pl_recv_prepare(struct pl_comm *comm, void *buf, MPI_Count count, struct pl_type *type, int source, int tag,
                    struct pl_request **request);

/* Starts it: once for a nonblocking operation, again and again for a persistent one. */
int pl_p2p_start(struct pl_request *request);

/* Start a send or receive that is described in all parts (comm, context, buf, count, datatype, peer_rank, tag, mode).
 * Engine lock held. */
void pl_send_locked(struct pl_request *request);
void pl_recv_locked(struct pl_request *request);

/* The short way of a standard or ready send: one run of data to a peer whose transport takes it at once, without a
 * request. True: done. False: nothing has happened. */
bool pl_send_fast(struct pl_comm *comm, const void *buf, MPI_Count count, const struct pl_type *type, int dest,
                  int tag);

/* The short way of a receive from one source with one tag: takes what is there, or awaits it. False: nothing has
 * happened. */
bool pl_irecv_fast(struct pl_comm *comm, void *buf, MPI_Count count, struct pl_type *type, int source, int tag,
                   struct pl_request **request);

/* The short ways of messages of collectives, with a tag for which no receive from there is posted. A receive takes what
 * is there; where it may wait, it does so for some microseconds. False: nothing has happened. */
bool pl_coll_send_fast(struct pl_comm *comm, const void *buf, MPI_Count count, const struct pl_type *type, int dest,
                       int tag);
bool pl_coll_recv_fast(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type, int source,
                       int tag, bool wait);

/* Both halves at once; one request that completes with the receive's outcome. `replace`: the receive goes into
 * `sendbuf`'s memory after that was copied (recvbuf is the same). */
struct pl_transfer {
    const void *sendbuf;
    void *recvbuf;
    MPI_Count sendcount, recvcount;
    struct pl_type *sendtype, *recvtype;
    int dest, sendtag, source, recvtag;
    bool replace;
};
/* Of such a request that is not complete: its receive, or its send when that is what it waits for. Engine lock held. */
const struct pl_request *pl_sendrecv_part(const struct pl_request *request);

int pl_sendrecv_start(struct pl_comm *comm, const struct pl_transfer *transfer, struct pl_request **request);

/* Looks for a message. `take`: out of the queue, as *message (PL_MESSAGE, one handle). Found: true. One round of
 * progress when it is not there. */
int pl_probe(struct pl_comm *comm, int source, int tag, bool wait, bool *found, struct pl_outcome *outcome,
             struct pl_message **message);

/* Receives a matched message; consumes its handle. */
int pl_mrecv_start(struct pl_message *message, void *buf, MPI_Count count, struct pl_type *type,
                   struct pl_request **request);

/* Tries to cancel; never waits. */
int pl_cancel(struct pl_request *request);

/* Asks the receiver of a send that is not done to give the message back, if it has not matched it: then the send is
 * cancelled, or ends with MPI_ERR_PROC_ABORTED if its communicator is broken. Engine lock held. */
int pl_send_ask_back(struct pl_request *request);

#endif
