/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective in its three forms, by number; MPI_INT elements, `SPAN` for each rank. */
#ifndef PLENUM_TESTS_COLLECTIVES_H
#define PLENUM_TESTS_COLLECTIVES_H

#include "ulfm.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
enum {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    PLAIN,
    NEIGHBOR_ALLGATHER = PLAIN,
    NEIGHBOR_ALLGATHERV,
    NEIGHBOR_ALLTOALL,
    NEIGHBOR_ALLTOALLV,
    NEIGHBOR_ALLTOALLW,
    ALL
};
enum { SPAN_MOST = 5000 };

static int coll_in[MOST / 2 * SPAN_MOST], coll_out[MOST / 2 * SPAN_MOST];
static int coll_counts[MOST], coll_places[MOST], coll_bytes[MOST];
static MPI_Aint coll_addresses[MOST];
static MPI_Datatype coll_types[MOST];

static inline void coll_prepare(int span)
{
    for (int i = 0; i < MOST; i++) {
        coll_counts[i] = span;
        coll_places[i] = i * span;
        coll_bytes[i] = i * span * (int)sizeof(int);
        coll_addresses[i] = coll_bytes[i];
        coll_types[i] = MPI_INT;
    }
}

/* One function in three forms: the arguments, then the communicator. */
#define COLL(upper, name, ...)                                                                                         \
    case upper:                                                                                                        \
        if (form == BLOCKING)                                                                                          \
            return MPI_##name(__VA_ARGS__, comm);                                                                      \
        if (form == NONBLOCKING)                                                                                       \
            return MPI_I##name##_(__VA_ARGS__, comm, request);                                                         \
        return MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request)

#define MPI_IBcast_                MPI_Ibcast
#define MPI_IGather_               MPI_Igather
#define MPI_IGatherv_              MPI_Igatherv
#define MPI_IScatter_              MPI_Iscatter
#define MPI_IScatterv_             MPI_Iscatterv
#define MPI_IAllgather_            MPI_Iallgather
#define MPI_IAllgatherv_           MPI_Iallgatherv
#define MPI_IAlltoall_             MPI_Ialltoall
#define MPI_IAlltoallv_            MPI_Ialltoallv
#define MPI_IAlltoallw_            MPI_Ialltoallw
#define MPI_IReduce_               MPI_Ireduce
#define MPI_IAllreduce_            MPI_Iallreduce
#define MPI_IReduce_scatter_       MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block_ MPI_Ireduce_scatter_block
#define MPI_IScan_                 MPI_Iscan
#define MPI_IExscan_               MPI_Iexscan
#define MPI_INeighbor_allgather_   MPI_Ineighbor_allgather
#define MPI_INeighbor_allgatherv_  MPI_Ineighbor_allgatherv
#define MPI_INeighbor_alltoall_    MPI_Ineighbor_alltoall
#define MPI_INeighbor_alltoallv_   MPI_Ineighbor_alltoallv
#define MPI_INeighbor_alltoallw_   MPI_Ineighbor_alltoallw

/* Calls number `which`; `request` is set unless the form is blocking. */
static inline int coll_plain(int which, int form, int n, int root, MPI_Comm comm, MPI_Request *request)
{
    int *in = coll_in, *out = coll_out, *counts = coll_counts, *places = coll_places, *bytes = coll_bytes;
    MPI_Datatype *types = coll_types;
    switch (which) {
    case BARRIER:
        return form == BLOCKING      ? MPI_Barrier(comm)
               : form == NONBLOCKING ? MPI_Ibarrier(comm, request)
                                     : MPI_Barrier_init(comm, MPI_INFO_NULL, request);
        COLL(BCAST, Bcast, in, n, MPI_INT, root);
        COLL(GATHER, Gather, out, n, MPI_INT, in, n, MPI_INT, root);
        COLL(GATHERV, Gatherv, out, n, MPI_INT, in, counts, places, MPI_INT, root);
        COLL(SCATTER, Scatter, out, n, MPI_INT, in, n, MPI_INT, root);
        COLL(SCATTERV, Scatterv, out, counts, places, MPI_INT, in, n, MPI_INT, root);
        COLL(ALLGATHER, Allgather, out, n, MPI_INT, in, n, MPI_INT);
        COLL(ALLGATHERV, Allgatherv, out, n, MPI_INT, in, counts, places, MPI_INT);
        COLL(ALLTOALL, Alltoall, out, n, MPI_INT, in, n, MPI_INT);
        COLL(ALLTOALLV, Alltoallv, out, counts, places, MPI_INT, in, counts, places, MPI_INT);
        COLL(ALLTOALLW, Alltoallw, out, counts, bytes, types, in, counts, bytes, types);
        COLL(REDUCE, Reduce, out, in, n, MPI_INT, MPI_SUM, root);
        COLL(ALLREDUCE, Allreduce, out, in, n, MPI_INT, MPI_SUM);
        COLL(REDUCE_SCATTER, Reduce_scatter, out, in, counts, MPI_INT, MPI_SUM);
        COLL(REDUCE_SCATTER_BLOCK, Reduce_scatter_block, out, in, n, MPI_INT, MPI_SUM);
        COLL(SCAN, Scan, out, in, n, MPI_INT, MPI_SUM);
        COLL(EXSCAN, Exscan, out, in, n, MPI_INT, MPI_SUM);
    }
    return MPI_ERR_OTHER;
}

static inline int coll_neighbor(int which, int form, int n, MPI_Comm comm, MPI_Request *request)
{
    int *in = coll_in, *out = coll_out, *counts = coll_counts, *places = coll_places;
    MPI_Aint *bytes = coll_addresses;
    MPI_Datatype *types = coll_types;
    switch (which) {
        COLL(NEIGHBOR_ALLGATHER, Neighbor_allgather, out, n, MPI_INT, in, n, MPI_INT);
        COLL(NEIGHBOR_ALLGATHERV, Neighbor_allgatherv, out, n, MPI_INT, in, counts, places, MPI_INT);
        COLL(NEIGHBOR_ALLTOALL, Neighbor_alltoall, out, n, MPI_INT, in, n, MPI_INT);
        COLL(NEIGHBOR_ALLTOALLV, Neighbor_alltoallv, out, counts, places, MPI_INT, in, counts, places, MPI_INT);
        COLL(NEIGHBOR_ALLTOALLW, Neighbor_alltoallw, out, counts, bytes, types, in, counts, bytes, types);
    }
    return MPI_ERR_OTHER;
}

static inline int coll_start(int which, int form, int n, int root, MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return which < PLAIN ? coll_plain(which, form, n, root, comm, request)
                         : coll_neighbor(which, form, n, comm, request);
}

/* The whole of it: the first error of the call, of its start or of its wait. */
static inline int coll_run(int which, int form, int n, int root, MPI_Comm comm)
{
    MPI_Request request;
    int code = coll_start(which, form, n, root, comm, &request);
    if (form == PERSISTENT && request != MPI_REQUEST_NULL) {
        if (!code)
            code = finished(MPI_Start(&request), &request);
        OK(MPI_Request_free(&request));
    } else if (form == NONBLOCKING && !code) {
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return code;
}

#endif
