/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends. A buffer is attached to a communicator, a session or the process; a message uses the first of these
 * that has one. MPI_BUFFER_AUTOMATIC allocates memory as needed.
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
    struct pl_engine *engine; /* in which a wait for the buffer makes progress; NULL: in all */
    const char *label;        /* for messages: "the process" */
};
struct pl_bsend_place pl_bsend_of_comm(struct pl_comm *comm);
struct pl_bsend_place pl_bsend_of_instance(struct pl_instance *instance);
struct pl_bsend_place pl_bsend_of_process(void);

/* MPI_ERR_BUFFER: a buffer is attached already. */
int pl_bsend_attach(struct pl_bsend_place place, void *buffer, MPI_Count size);

/* Blocks until all messages in the buffer are delivered, then detaches it. Nothing attached: NULL and 0. */
int pl_bsend_detach(struct pl_bsend_place place, void **buffer, MPI_Count *size);

/* Waits until those messages are delivered that are in the buffer now; as a request. */
int pl_bsend_flush(struct pl_bsend_place place);
int pl_bsend_iflush(struct pl_bsend_place place, struct pl_request **request);

/* Copies the data into the buffer and sends it from there. MPI_ERR_BUFFER: there is no room. */
int pl_bsend(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type, int dest, int tag);

#endif
