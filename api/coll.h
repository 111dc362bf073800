/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the blocking, nonblocking and persistent collectives share: one worker for each operation, which checks the
 * arguments and then does what the form asks for. Workers: coll_move.c and coll_reduce.c.
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

int pl_do_barrier(struct pl_call *call, MPI_Comm comm, struct pl_form form);
int pl_do_bcast(struct pl_call *call, void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                struct pl_form form);
int pl_do_gather(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, struct pl_form form);
int pl_do_gatherv(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  struct pl_counts recvcounts, struct pl_displs displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  struct pl_form form);
int pl_do_scatter(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, struct pl_form form);
int pl_do_scatterv(struct pl_call *call, const void *sendbuf, struct pl_counts sendcounts, struct pl_displs displs,
                   MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                   MPI_Comm comm, struct pl_form form);
int pl_do_allgather(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, struct pl_form form);
int pl_do_allgatherv(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                     void *recvbuf, struct pl_counts recvcounts, struct pl_displs displs, MPI_Datatype recvtype,
                     MPI_Comm comm, struct pl_form form);
int pl_do_alltoall(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, struct pl_form form);
int pl_do_alltoallv(struct pl_call *call, const void *sendbuf, struct pl_counts sendcounts, struct pl_displs sdispls,
                    MPI_Datatype sendtype, void *recvbuf, struct pl_counts recvcounts, struct pl_displs rdispls,
                    MPI_Datatype recvtype, MPI_Comm comm, struct pl_form form);
int pl_do_alltoallw(struct pl_call *call, const void *sendbuf, struct pl_counts sendcounts, struct pl_displs sdispls,
                    const MPI_Datatype sendtypes[], void *recvbuf, struct pl_counts recvcounts,
                    struct pl_displs rdispls, const MPI_Datatype recvtypes[], MPI_Comm comm, struct pl_form form);

int pl_do_reduce(struct pl_call *call, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, int root, MPI_Comm comm, struct pl_form form);
int pl_do_reduce_scatter(struct pl_call *call, const void *sendbuf, void *recvbuf, struct pl_counts recvcounts,
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, struct pl_form form);
int pl_do_reduce_scatter_block(struct pl_call *call, const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, struct pl_form form);

/* allreduce, scan and exscan, by kind. */
int pl_do_reduction(struct pl_call *call, enum pl_coll_kind kind, const void *sendbuf, void *recvbuf, MPI_Count count,
                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, struct pl_form form);

/* For the workers: does it, if no argument was bad, and leaves. */
int pl_coll_leave(struct pl_call *call, const struct pl_coll *coll, struct pl_form form);

/* A rank, or on an intercommunicator a rank of the remote group, MPI_ROOT or MPI_PROC_NULL. */
void pl_arg_coll_root(struct pl_call *call, const struct pl_comm *comm, int root);

/* MPI_IN_PLACE where it may not be. `why`: "has no meaning on an intercommunicator". */
void pl_arg_not_in_place(struct pl_call *call, const void *buf, const char *name, const char *why);

/* Where a process stands in a rooted operation: it is the root, or it gives to the root or gets from it (on an
 * intracommunicator the root does, too). */
static inline bool pl_coll_is_root(const struct pl_comm *comm, int root)
{
    return pl_comm_is_inter(comm) ? root == MPI_ROOT : root == comm->rank;
}
static inline bool pl_coll_is_other(const struct pl_comm *comm, int root)
{
    return pl_comm_is_inter(comm) ? root >= 0 : true;
}

/* A committed datatype and a buffer of `blocks` times `count` elements of it. */
struct pl_type *pl_arg_blocks(struct pl_call *call, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              int blocks);

/* The datatypes and places of alltoallw's n blocks, of which only those of blocks with data must be right. */
void pl_arg_types(struct pl_call *call, const void *buf, struct pl_counts counts, struct pl_displs displs,
                  const MPI_Datatype types[], int n, const char *name);

/* Two buffers with data in both must not be the same memory: known for sure where both are dense. */
void pl_arg_apart(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, const struct pl_type *sendtype,
                  const void *recvbuf, MPI_Count recvcount, const struct pl_type *recvtype);

#endif
