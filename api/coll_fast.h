/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast path of short blocking collectives: a few comparisons accept common arguments, and the collective area is
 * called at once.
 *
 *     if (pl_fast_bcast(&coll, buffer, count, datatype, root, comm, &bytes))
 *         return pl_fast_run(function, &coll, bytes);
 *     return pl_do_bcast(...);
 *
 * The contract of each pl_fast_<operation>(): it accepts a subset of the arguments that its worker pl_do_<operation>()
 * (coll_move.h, coll_reduce.h) accepts. If it accepts them, *coll has what the worker would set, and *bytes is
 * pl_area_bytes() of it, at most PL_AREA_SHORT. Else both are undefined. It records no error: arguments that it does
 * not accept, wrong or only rare, go to the worker, which checks everything and reports. tests/unit/test_coll_fast.c
 * calls both with the same arguments.
 *
 * It accepts an intracommunicator whose area does this kind, predefined datatypes without gaps, buffers that do not
 * overlap, and a predefined operation that is defined for the datatype. Blocks have at least one byte, or any length
 * where the counts are an array. Only reductions accept MPI_IN_PLACE.
 */
#ifndef PLENUM_API_COLL_FAST_H
#define PLENUM_API_COLL_FAST_H

#include "api/coll.h"
#include "core/base/compiler.h"
#include "core/coll/area/collectives.h"

/* Runs what a function below has accepted. Returns what the MPI function returns. */
static inline int pl_fast_run(const char *function, const struct pl_coll *coll, size_t bytes)
{
    int rc = pl_coll_run_in_area(coll, bytes);
    return pl_likely(rc == MPI_SUCCESS) ? MPI_SUCCESS : pl_call_failed(function, coll->comm, rc);
}

/* --- arguments ---------------------------------------------------------------------------------------------------- */

/* An intracommunicator that has done collectives of this kind in its area, and a rank of it. */
static inline bool pl_fast_comm(struct pl_coll *coll, enum pl_coll_kind kind, int root, MPI_Comm comm)
{
    struct pl_comm *known = pl_comm_known(comm);
    coll->kind = kind;
    coll->comm = known;
    coll->root = root;
    return known && known->coll.area.kinds >> kind & 1 && (unsigned)root < (unsigned)known->size && pl_coll_can(known);
}

static inline bool pl_fast_buffer(const void *buf)
{
    return (uintptr_t)buf > (uintptr_t)MPI_IN_PLACE;
}

/* Some data, and short. */
static inline bool pl_fast_data(const struct pl_type *type, MPI_Count count, size_t *bytes)
{
    if (!type || !type->dense || (uint64_t)count > PL_AREA_SHORT)
        return false;
    *bytes = (size_t)count * (size_t)type->size;
    return *bytes - 1 < PL_AREA_SHORT;
}

static inline bool pl_fast_apart(const void *sendbuf, size_t sent, const void *recvbuf, size_t received)
{
    uintptr_t from = (uintptr_t)sendbuf, to = (uintptr_t)recvbuf;
    return from + sent <= to || to + received <= from;
}

/* A block that is sent or received; a root has several, of `bytes` bytes each. */
static inline bool pl_fast_sent(struct pl_coll *coll, const void *buf, MPI_Count count, MPI_Datatype datatype,
                                size_t *bytes)
{
    coll->sendbuf = buf;
    coll->sendcount = count;
    coll->sendtype = pl_type_basic((uintptr_t)datatype);
    return pl_fast_buffer(buf) && pl_fast_data(coll->sendtype, count, bytes);
}

static inline bool pl_fast_received(struct pl_coll *coll, void *buf, MPI_Count count, MPI_Datatype datatype,
                                    size_t *bytes)
{
    coll->recvbuf = buf;
    coll->recvcount = count;
    coll->recvtype = pl_type_basic((uintptr_t)datatype);
    return pl_fast_buffer(buf) && pl_fast_data(coll->recvtype, count, bytes);
}

/* The bytes of one of several blocks, and its address. */
static inline size_t pl_fast_length(struct pl_counts counts, const struct pl_type *type, int rank)
{
    return (size_t)pl_count_at(counts, rank) * (size_t)type->size;
}

static inline const void *pl_fast_address(const void *buf, struct pl_displs displs, const struct pl_type *type,
                                          int rank)
{
    return (const void *)((uintptr_t)buf + (uintptr_t)pl_displ_at(displs, rank) * (uintptr_t)type->size);
}

/* Blocks of different lengths, one for each of `n` ranks, none of which overlaps the buffer `other`. */
static inline bool pl_fast_blocks(const void *buf, struct pl_counts counts, struct pl_displs displs,
                                  const struct pl_type *type, int n, const void *other, size_t bytes)
{
    MPI_Count all = 0; /* negative if one is */
    bool apart = true;
    if (!pl_fast_buffer(buf) || !type || !type->dense || !(counts.narrow || counts.wide) ||
        !(displs.narrow || displs.wide))
        return false;
    for (int i = 0; i < n; i++) {
        all |= pl_count_at(counts, i);
        apart &= pl_fast_apart(pl_fast_address(buf, displs, type, i), pl_fast_length(counts, type, i), other, bytes);
    }
    return apart && (uint64_t)all <= INT32_MAX;
}

static inline bool pl_fast_sent_each(struct pl_coll *coll, const void *buf, struct pl_counts counts,
                                     struct pl_displs displs, MPI_Datatype datatype, const void *other, size_t bytes)
{
    coll->sendbuf = buf;
    coll->sendcounts = counts;
    coll->senddispls = displs;
    coll->sendtype = pl_type_basic((uintptr_t)datatype);
    return pl_fast_blocks(buf, counts, displs, coll->sendtype, coll->comm->size, other, bytes);
}

static inline bool pl_fast_received_each(struct pl_coll *coll, void *buf, struct pl_counts counts,
                                         struct pl_displs displs, MPI_Datatype datatype, const void *other,
                                         size_t bytes)
{
    coll->recvbuf = buf;
    coll->recvcounts = counts;
    coll->recvdispls = displs;
    coll->recvtype = pl_type_basic((uintptr_t)datatype);
    return pl_fast_blocks(buf, counts, displs, coll->recvtype, coll->comm->size, other, bytes);
}

/* The elements of a reduction, and its operation. */
static inline bool pl_fast_elements(struct pl_coll *coll, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                    size_t *bytes)
{
    coll->recvcount = count;
    coll->recvtype = pl_type_basic((uintptr_t)datatype);
    coll->op = pl_op_basic((uintptr_t)op);
    return coll->op && pl_fast_data(coll->recvtype, count, bytes) && pl_op_loop(coll->op, coll->recvtype);
}

/* Its vectors, at a rank that has both. */
static inline bool pl_fast_vectors(struct pl_coll *coll, const void *sendbuf, size_t sent, void *recvbuf,
                                   size_t received)
{
    coll->sendbuf = sendbuf;
    coll->recvbuf = recvbuf;
    return pl_fast_buffer(recvbuf) &&
           (sendbuf == MPI_IN_PLACE || (pl_fast_buffer(sendbuf) && pl_fast_apart(sendbuf, sent, recvbuf, received)));
}

/* --- operations --------------------------------------------------------------------------------------------------- */

static inline bool pl_fast_barrier(struct pl_coll *coll, MPI_Comm comm, size_t *bytes)
{
    *bytes = 0;
    return pl_fast_comm(coll, PL_COLL_BARRIER, 0, comm);
}

static inline bool pl_fast_bcast(struct pl_coll *coll, void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
                                 MPI_Comm comm, size_t *bytes)
{
    return pl_fast_comm(coll, PL_COLL_BCAST, root, comm) && pl_fast_received(coll, buffer, count, datatype, bytes);
}

static inline bool pl_fast_gather(struct pl_coll *coll, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                  size_t *bytes)
{
    size_t each;
    if (!pl_fast_comm(coll, PL_COLL_GATHER, root, comm) || !pl_fast_sent(coll, sendbuf, sendcount, sendtype, bytes))
        return false;
    return root != coll->comm->rank || (pl_fast_received(coll, recvbuf, recvcount, recvtype, &each) && each == *bytes &&
                                        pl_fast_apart(sendbuf, each, recvbuf, each * (size_t)coll->comm->size));
}

static inline bool pl_fast_gatherv(struct pl_coll *coll, const void *sendbuf, MPI_Count sendcount,
                                   MPI_Datatype sendtype, void *recvbuf, struct pl_counts recvcounts,
                                   struct pl_displs displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                   size_t *bytes)
{
    size_t own;
    *bytes = 0;
    if (!pl_fast_comm(coll, PL_COLL_GATHERV, root, comm) || !pl_fast_sent(coll, sendbuf, sendcount, sendtype, &own))
        return false;
    return root != coll->comm->rank ||
           (pl_fast_received_each(coll, recvbuf, recvcounts, displs, recvtype, sendbuf, own) &&
            own <= pl_fast_length(recvcounts, coll->recvtype, root));
}

static inline bool pl_fast_scatter(struct pl_coll *coll, const void *sendbuf, MPI_Count sendcount,
                                   MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   int root, MPI_Comm comm, size_t *bytes)
{
    size_t each;
    if (!pl_fast_comm(coll, PL_COLL_SCATTER, root, comm) ||
        !pl_fast_received(coll, recvbuf, recvcount, recvtype, bytes))
        return false;
    return root != coll->comm->rank || (pl_fast_sent(coll, sendbuf, sendcount, sendtype, &each) && each == *bytes &&
                                        pl_fast_apart(sendbuf, each * (size_t)coll->comm->size, recvbuf, each));
}

static inline bool pl_fast_scatterv(struct pl_coll *coll, const void *sendbuf, struct pl_counts sendcounts,
                                    struct pl_displs displs, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                                    MPI_Datatype recvtype, int root, MPI_Comm comm, size_t *bytes)
{
    size_t own;
    *bytes = 0;
    if (!pl_fast_comm(coll, PL_COLL_SCATTERV, root, comm) ||
        !pl_fast_received(coll, recvbuf, recvcount, recvtype, &own))
        return false;
    return root != coll->comm->rank || (pl_fast_sent_each(coll, sendbuf, sendcounts, displs, sendtype, recvbuf, own) &&
                                        pl_fast_length(sendcounts, coll->sendtype, root) <= own);
}

/* A rank sends one block, or (`to_each`) one to each rank; it receives one from each. */
static inline bool pl_fast_exchange(struct pl_coll *coll, const void *sendbuf, MPI_Count sendcount,
                                    MPI_Datatype sendtype, bool to_each, void *recvbuf, MPI_Count recvcount,
                                    MPI_Datatype recvtype, size_t *bytes)
{
    size_t sent, size = (size_t)coll->comm->size;
    return pl_fast_received(coll, recvbuf, recvcount, recvtype, bytes) &&
           pl_fast_sent(coll, sendbuf, sendcount, sendtype, &sent) && sent == *bytes &&
           pl_fast_apart(sendbuf, to_each ? sent * size : sent, recvbuf, sent * size);
}

static inline bool pl_fast_allgather(struct pl_coll *coll, const void *sendbuf, MPI_Count sendcount,
                                     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                     MPI_Comm comm, size_t *bytes)
{
    return pl_fast_comm(coll, PL_COLL_ALLGATHER, 0, comm) &&
           pl_fast_exchange(coll, sendbuf, sendcount, sendtype, false, recvbuf, recvcount, recvtype, bytes);
}

static inline bool pl_fast_allgatherv(struct pl_coll *coll, const void *sendbuf, MPI_Count sendcount,
                                      MPI_Datatype sendtype, void *recvbuf, struct pl_counts recvcounts,
                                      struct pl_displs displs, MPI_Datatype recvtype, MPI_Comm comm, size_t *bytes)
{
    size_t own, longest = 0;
    if (!pl_fast_comm(coll, PL_COLL_ALLGATHERV, 0, comm) || !pl_fast_sent(coll, sendbuf, sendcount, sendtype, &own) ||
        !pl_fast_received_each(coll, recvbuf, recvcounts, displs, recvtype, sendbuf, own) ||
        own > pl_fast_length(recvcounts, coll->recvtype, coll->comm->rank))
        return false;
    for (int i = 0; i < coll->comm->size; i++) {
        size_t length = pl_fast_length(recvcounts, coll->recvtype, i);
        longest = length > longest ? length : longest;
    }
    *bytes = longest;
    return longest <= PL_AREA_SHORT;
}

static inline bool pl_fast_alltoall(struct pl_coll *coll, const void *sendbuf, MPI_Count sendcount,
                                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                    MPI_Comm comm, size_t *bytes)
{
    return pl_fast_comm(coll, PL_COLL_ALLTOALL, 0, comm) &&
           pl_fast_exchange(coll, sendbuf, sendcount, sendtype, true, recvbuf, recvcount, recvtype, bytes);
}

static inline bool pl_fast_alltoallv(struct pl_coll *coll, const void *sendbuf, struct pl_counts sendcounts,
                                     struct pl_displs sdispls, MPI_Datatype sendtype, void *recvbuf,
                                     struct pl_counts recvcounts, struct pl_displs rdispls, MPI_Datatype recvtype,
                                     MPI_Comm comm, size_t *bytes)
{
    *bytes = 0;
    if (!pl_fast_comm(coll, PL_COLL_ALLTOALLV, 0, comm) ||
        !pl_fast_sent_each(coll, sendbuf, sendcounts, sdispls, sendtype, NULL, 0) ||
        !pl_fast_received_each(coll, recvbuf, recvcounts, rdispls, recvtype, NULL, 0))
        return false;
    int own = coll->comm->rank;
    size_t sent = pl_fast_length(sendcounts, coll->sendtype, own),
           received = pl_fast_length(recvcounts, coll->recvtype, own);
    return sent <= received && pl_fast_apart(pl_fast_address(sendbuf, sdispls, coll->sendtype, own), sent,
                                             pl_fast_address(recvbuf, rdispls, coll->recvtype, own), received);
}

static inline bool pl_fast_reduce(struct pl_coll *coll, const void *sendbuf, void *recvbuf, MPI_Count count,
                                  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, size_t *bytes)
{
    if (!pl_fast_comm(coll, PL_COLL_REDUCE, root, comm) || !pl_fast_elements(coll, count, datatype, op, bytes))
        return false;
    return root == coll->comm->rank ? pl_fast_vectors(coll, sendbuf, *bytes, recvbuf, *bytes)
                                    : pl_fast_buffer(coll->sendbuf = sendbuf);
}

/* allreduce, scan and exscan, by kind. */
static inline bool pl_fast_reduction(struct pl_coll *coll, enum pl_coll_kind kind, const void *sendbuf, void *recvbuf,
                                     MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, size_t *bytes)
{
    return pl_fast_comm(coll, kind, 0, comm) && pl_fast_elements(coll, count, datatype, op, bytes) &&
           pl_fast_vectors(coll, sendbuf, *bytes, recvbuf, *bytes);
}

static inline bool pl_fast_reduce_scatter_block(struct pl_coll *coll, const void *sendbuf, void *recvbuf,
                                                MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                                size_t *bytes)
{
    return pl_fast_comm(coll, PL_COLL_REDUCE_SCATTER_BLOCK, 0, comm) &&
           pl_fast_elements(coll, recvcount, datatype, op, bytes) &&
           pl_fast_vectors(coll, sendbuf, *bytes * (size_t)coll->comm->size, recvbuf, *bytes);
}

/* Only blocks of one length. */
static inline bool pl_fast_equal_counts(struct pl_coll *coll, struct pl_counts counts)
{
    bool equal = counts.narrow || counts.wide;
    coll->recvcounts = counts;
    for (int i = 1; equal && i < coll->comm->size; i++)
        equal = pl_count_at(counts, i) == pl_count_at(counts, 0);
    return equal;
}

static inline bool pl_fast_reduce_scatter(struct pl_coll *coll, const void *sendbuf, void *recvbuf,
                                          struct pl_counts recvcounts, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                          size_t *bytes)
{
    return pl_fast_comm(coll, PL_COLL_REDUCE_SCATTER, 0, comm) && pl_fast_equal_counts(coll, recvcounts) &&
           pl_fast_elements(coll, pl_count_at(recvcounts, 0), datatype, op, bytes) &&
           pl_fast_vectors(coll, sendbuf, *bytes * (size_t)coll->comm->size, recvbuf, *bytes);
}

#endif
