/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives. Each algorithm is written once, as a schedule (core/coll/schedule.h), in core/collectives/; the blocking, the
 * nonblocking and the persistent form of an operation run the same one. Arguments are checked by the caller.
 */
#ifndef PLENUM_CORE_COLL_COLLECTIVE_H
#define PLENUM_CORE_COLL_COLLECTIVE_H

#include "core/base/counts.h"
#include "core/datatype/datatype.h"
#include "core/datatype/op.h"
#include "core/engine/comm.h"

struct pl_request;

enum pl_coll_kind {
    PL_COLL_BARRIER,
    PL_COLL_BCAST,
    PL_COLL_GATHER,
    PL_COLL_GATHERV,
    PL_COLL_SCATTER,
    PL_COLL_SCATTERV,
    PL_COLL_ALLGATHER,
    PL_COLL_ALLGATHERV,
    PL_COLL_ALLTOALL,
    PL_COLL_ALLTOALLV,
    PL_COLL_ALLTOALLW,
    PL_COLL_REDUCE,
    PL_COLL_ALLREDUCE,
    PL_COLL_REDUCE_SCATTER_BLOCK,
    PL_COLL_REDUCE_SCATTER,
    PL_COLL_SCAN,
    PL_COLL_EXSCAN,
    PL_COLL_KINDS, /* so many have a choice of algorithms; those among neighbors have not */
    PL_COLL_NEIGHBOR_ALLGATHER = PL_COLL_KINDS,
    PL_COLL_NEIGHBOR_ALLGATHERV,
    PL_COLL_NEIGHBOR_ALLTOALL,
    PL_COLL_NEIGHBOR_ALLTOALLV,
    PL_COLL_NEIGHBOR_ALLTOALLW,
};

/*
 * What a collective is asked to do: the arguments of the public function, of which each kind uses its own.
 * MPI_IN_PLACE, and MPI_ROOT and MPI_PROC_NULL as root, are understood as there. bcast uses recvbuf; reductions take
 * the datatype and count as those of receiving. All borrowed until the schedule is made.
 */
struct pl_coll {
    enum pl_coll_kind kind;
    struct pl_comm *comm;
    const void *sendbuf;
    void *recvbuf;
    MPI_Count sendcount, recvcount;
    const struct pl_type *sendtype, *recvtype;
    int root;
    const struct pl_op *op;
    /* For the v and w kinds, [comm size], among neighbors [outdegree] and [indegree]. */
    struct pl_counts sendcounts, recvcounts;
    struct pl_displs senddispls, recvdispls;
    const MPI_Datatype *sendtypes, *recvtypes; /* for alltoallw: committed */
};

/* Blocking: does it. Nonblocking: starts it. Persistent: makes a request that is started by pl_coll_restart().
 * MPI error class; *request has one handle. */
int pl_coll_run(const struct pl_coll *coll);
int pl_coll_start(const struct pl_coll *coll, struct pl_request **request);
int pl_coll_prepare(const struct pl_coll *coll, struct pl_request **request);

/* The short way of a blocking collective whose arguments are right, of a kind in comm->by_board, with at most
 * PL_AREA_SHORT bytes: as struct pl_area_call has them. What this kind does not use need not be set in *coll. MPI
 * error class. */
int pl_coll_run_in_area(const struct pl_coll *coll, size_t bytes);

/* Can there be collectives? MPI_ERR_OTHER when a member of the communicator is known to have other settings for them
 * than this process; MPI_ERR_PROC_ABORTED when one has died, so that others may have given up in the middle. */
int pl_coll_check(const struct pl_comm *comm);
static inline bool pl_coll_can(const struct pl_comm *comm) /* the same without a word */
{
    return __builtin_expect(!comm->coll.unlike && !comm->health.failed, 1);
}

/* For the engine (core/engine/client.h): a member has these settings; a message of a collective was too long. */
void pl_coll_compare(struct pl_comm *comm, int rank, uint32_t settings);
int pl_coll_truncated(const struct pl_request *request);

/* For the library itself, on intracommunicators; pl_allgather() between the groups of an intercommunicator too. */
int pl_barrier(struct pl_comm *comm);
int pl_bcast(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type, int root);
int pl_gather(struct pl_comm *comm, const void *sendbuf, MPI_Count sendcount, const struct pl_type *sendtype,
              void *recvbuf, MPI_Count recvcount, const struct pl_type *recvtype, int root);
int pl_allgather(struct pl_comm *comm, const void *sendbuf, MPI_Count sendcount, const struct pl_type *sendtype,
                 void *recvbuf, MPI_Count recvcount, const struct pl_type *recvtype);
int pl_allreduce(struct pl_comm *comm, const void *sendbuf, void *recvbuf, MPI_Count count, const struct pl_type *type,
                 const struct pl_op *op);

#endif
