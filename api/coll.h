/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the workers of collectives share. One worker for each operation (coll_move.h, coll_reduce.h, coll_neighbor.h)
 * checks the arguments of the blocking, nonblocking and persistent function, and then does what the form demands.
 */
#ifndef PLENUM_API_COLL_H
#define PLENUM_API_COLL_H

#include "api/call.h"
#include "core/coll/collective.h"

/* The form of a call: run it, start it, or prepare it to be started. */
struct pl_form {
    enum { PL_FORM_RUN, PL_FORM_START, PL_FORM_PREPARE } kind;
    MPI_Info info;        /* to prepare */
    MPI_Request *request; /* to start or to prepare */
};
#define PL_RUN             ((struct pl_form){ .kind = PL_FORM_RUN })
#define PL_START(request_) ((struct pl_form){ .kind = PL_FORM_START, .request = (request_) })
#define PL_PREPARE(info_, request_)                                                                                    \
    ((struct pl_form){ .kind = PL_FORM_PREPARE, .info = (info_), .request = (request_) })

/* Arrays as the int and as the _c form have them. */
#define PL_COUNTS(array)   ((struct pl_counts){ .narrow = (array) })
#define PL_COUNTS_C(array) ((struct pl_counts){ .wide = (array) })
#define PL_DISPLS(array)   ((struct pl_displs){ .narrow = (array) })
#define PL_DISPLS_C(array) ((struct pl_displs){ .wide = (array) })

/* Does, starts or prepares the collective unless an argument was bad, and leaves. Returns what the MPI function
 * returns. */
int pl_coll_leave(struct pl_call *call, const struct pl_coll *coll, const struct pl_form *form);

/* A rank, or on an intercommunicator a rank of the remote group, MPI_ROOT or MPI_PROC_NULL. */
void pl_arg_coll_root(struct pl_call *call, const struct pl_comm *comm, int root);

/* MPI_ERR_BUFFER for MPI_IN_PLACE. `why` ends the message, as in "has no meaning on an intercommunicator". */
void pl_arg_not_in_place(struct pl_call *call, const void *buf, const char *name, const char *why);

/* Does the process send to the root of a rooted operation, or receive from it? On an intracommunicator the root does,
 * too. */
static inline bool pl_coll_is_other(const struct pl_comm *comm, int root)
{
    return pl_comm_is_inter(comm) ? root >= 0 : true;
}

/* A committed datatype and a buffer of `blocks` times `count` elements of it. */
struct pl_type *pl_arg_blocks(struct pl_call *call, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              int blocks);

/* The datatypes and addresses of alltoallw's n blocks; those of empty blocks are not checked. */
void pl_arg_types(struct pl_call *call, const void *buf, struct pl_counts counts, struct pl_displs displs,
                  const MPI_Datatype types[], int n, const char *name);

/* MPI_ERR_BUFFER when both buffers have data and overlap: exact if both datatypes are dense. */
void pl_arg_apart(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, const struct pl_type *sendtype,
                  const void *recvbuf, MPI_Count recvcount, const struct pl_type *recvtype);

#endif
