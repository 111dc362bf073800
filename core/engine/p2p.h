/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point-to-point operations as requests: started, probed, cancelled. The caller has checked the arguments and, unless
 * said, holds no lock.
 */
#ifndef PLENUM_CORE_ENGINE_P2P_H
#define PLENUM_CORE_ENGINE_P2P_H

#include "core/engine/comm.h"
#include "core/engine/match.h"
#include "core/engine/request.h"

/* Makes a send or receive of the user, with one handle, and does not start it. */
int pl_send_prepare(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type, int dest, int tag,
                    int mode, struct pl_request **request);
int pl_recv_prepare(struct pl_comm *comm, void *buf, MPI_Count count, struct pl_type *type, int source, int tag,
                    struct pl_request **request);

/* Starts it: once for a nonblocking operation, any number of times for a persistent one. */
int pl_p2p_start(struct pl_request *request);

/* Starts a send or receive whose comm, context, buf, count, datatype, peer_rank, tag and mode are set. Engine lock
 * held. */
void pl_send_locked(struct pl_request *request);
void pl_recv_locked(struct pl_request *request);

/*
 * For the library's own messages, in the collectives' queues: no argument checks, no error handlers. The request is
 * hidden; the caller waits for it and releases it.
 */
int pl_coll_isend(struct pl_comm *comm, const void *buf, MPI_Count count, const struct pl_type *type, int dest, int tag,
                  struct pl_request **request);
int pl_coll_irecv(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type, int source, int tag,
                  struct pl_request **request);

/* A send and a receive at once: one request, which completes with the receive's outcome. `replace`: sendbuf is copied,
 * and the receive overwrites it (recvbuf is the same). */
struct pl_transfer {
    const void *sendbuf;
    void *recvbuf;
    MPI_Count sendcount, recvcount;
    struct pl_type *sendtype, *recvtype;
    int dest, sendtag, source, recvtag;
    bool replace;
};
int pl_sendrecv_start(struct pl_comm *comm, const struct pl_transfer *transfer, struct pl_request **request);

/* The half that an incomplete request of this kind waits for: its receive, or its send once that is complete. Engine
 * lock held. */
const struct pl_request *pl_sendrecv_part(const struct pl_request *request);

/* Searches for a message that has arrived; makes one round of progress if there is none, and with `wait` blocks. With
 * `message` not NULL, takes it out of the queue, as an object with one handle. The caller raises an error at once on
 * the communicator, which lives until then. */
int pl_probe(struct pl_comm *comm, int source, int tag, bool wait, bool *found, struct pl_outcome *outcome,
             struct pl_message **message);

/* Starts to receive a matched message; consumes its handle. */
int pl_mrecv_start(struct pl_message *message, void *buf, MPI_Count count, struct pl_type *type,
                   struct pl_request **request);

/* Tries to cancel; never blocks. */
int pl_cancel(struct pl_request *request);

#endif
