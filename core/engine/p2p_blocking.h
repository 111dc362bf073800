/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking sends and receives, and the fast paths of all. Arguments are checked by the caller, which holds no lock.
 *
 * A fast path does everything or nothing: false means that nothing has happened, and the caller takes the general path.
 */
#ifndef PLENUM_CORE_ENGINE_P2P_BLOCKING_H
#define PLENUM_CORE_ENGINE_P2P_BLOCKING_H

#include "core/engine/comm.h"
#include "core/engine/p2p.h"
#include "core/engine/request.h"

/* Point to point, as the user asks for it. `mode`: enum pl_send_mode. The caller raises an error at once on the
 * communicator, which lives until then (pl_errhandler_keep()). */
int pl_send(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type, int dest, int tag, int mode);
int pl_send_standard(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type, int dest, int tag);
int pl_recv(struct pl_comm *comm, void *buf, MPI_Count count, struct pl_type *type, int source, int tag,
            MPI_Status *status);
int pl_sendrecv(struct pl_comm *comm, const struct pl_transfer *transfer, MPI_Status *status);

/* The fast path of a standard or ready send: one run of data to a peer whose transport takes it at once, without a
 * request. */
bool pl_send_fast(struct pl_comm *comm, const void *buf, MPI_Count count, const struct pl_type *type, int dest,
                  int tag);

/* The fast path of a receive from one source with one tag: receives what is there, or posts the receive. */
bool pl_irecv_fast(struct pl_comm *comm, void *buf, MPI_Count count, struct pl_type *type, int source, int tag,
                   struct pl_request **request);

/* The fast paths of messages of collectives, with a tag for which no receive from that rank is posted. A receive takes
 * what is there, and returns its bytes; with `wait` it polls for some microseconds. Negative: it takes nothing. */
bool pl_coll_send_fast(struct pl_comm *comm, const void *buf, MPI_Count count, const struct pl_type *type, int dest,
                       int tag);
ptrdiff_t pl_coll_recv_fast(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type, int source,
                            int tag, bool wait);

#endif
