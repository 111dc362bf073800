/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends. A buffer is attached to a communicator, to a session, or to the process; a message takes the first of
 * these that its communicator has. MPI_BUFFER_AUTOMATIC allocates as needed.
 */
#ifndef PLENUM_CORE_ENGINE_BSEND_H
#define PLENUM_CORE_ENGINE_BSEND_H

#include "core/engine/comm.h"
#include "core/engine/request.h"

struct pl_bsend;

/* Where a buffer may be attached. Its lock protects the pointer. */
struct pl_bsend_place {
    struct pl_bsend **slot;
    struct pl_lock *lock;
    struct pl_engine *engine; /* where waiting for it makes progress; NULL: the World's */
    const char *label;        /* for messages: "the process" */
};
struct pl_bsend_place pl_bsend_of_comm(struct pl_comm *comm);
struct pl_bsend_place pl_bsend_of_instance(struct pl_instance *instance);
struct pl_bsend_place pl_bsend_of_process(void);

int pl_bsend_attach(struct pl_bsend_place place, void *buffer, MPI_Count size);

/* Waits until all messages in the buffer are delivered, then gives it back. Nothing attached: NULL and 0. */
int pl_bsend_detach(struct pl_bsend_place place, void **buffer, MPI_Count *size);
int pl_bsend_flush(struct pl_bsend_place place);
int pl_bsend_iflush(struct pl_bsend_place place, struct pl_request **request);

/* Copies the data into the buffer and sends it from there. MPI_ERR_BUFFER when there is no room. */
int pl_bsend(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type, int dest, int tag);

#endif
