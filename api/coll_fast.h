/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short blocking collectives with the usual arguments: a communicator whose board does this kind, basic types without
 * gaps, some data in buffers that do not overlap, an operation that is defined for it. A few comparisons find that
 * out, and the board is next. What they do not find, be it wrong or only rare, is left to the workers of coll.h, which
 * check everything and tell.
 *
 *     struct pl_coll coll;
 *     size_t bytes;
 *     if (pl_fast_comm(&coll, PL_COLL_BCAST, root, comm) && pl_fast_received(...))
 *         return pl_fast_run(function, &coll, bytes);
 *
 * Of the struct pl_coll only that is set at which the board looks.
 */
#ifndef PLENUM_API_COLL_FAST_H
#define PLENUM_API_COLL_FAST_H

#include "api/coll.h"
#include "core/coll/area/collectives.h"

/* An intracommunicator of several ranks, which a collective of this kind has had before, and a rank of it. */
static inline bool pl_fast_comm(struct pl_coll *coll, enum pl_coll_kind kind, int root, MPI_Comm comm)
{
    struct pl_comm *known = pl_comm_known(comm);
    coll->kind = kind;
    coll->comm = known;
    coll->root = root;
    return known && known->coll.area_kinds >> kind & 1 && (unsigned)root < (unsigned)known->size && pl_coll_can(known);
}

static inline bool pl_fast_buffer(const void *buf)
{
    return (uintptr_t)buf > (uintptr_t)MPI_IN_PLACE;
}

/* Some data, and that is short. */
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

/* A block that is sent, or received; at a root these are several, of `bytes` bytes each. */
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

/* A block of those for each rank: its bytes, and where it is. */
static inline size_t pl_fast_length(struct pl_counts counts, const struct pl_type *type, int rank)
{
    return (size_t)pl_count_at(counts, rank) * (size_t)type->size;
}

static inline const void *pl_fast_place(const void *buf, struct pl_displs displs, const struct pl_type *type, int rank)
{
    return (const void *)((uintptr_t)buf + (uintptr_t)pl_displ_at(displs, rank) * (uintptr_t)type->size);
}

/* Blocks of different lengths, one for each of `n` ranks, none of which overlaps some other memory. */
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
        apart &= pl_fast_apart(pl_fast_place(buf, displs, type, i), pl_fast_length(counts, type, i), other, bytes);
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

/* The elements of a reduction, and what is done with them. */
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

/* Does it. `bytes`: as in struct pl_area_call. */
static inline int pl_fast_run(const char *function, const struct pl_coll *coll, size_t bytes)
{
    int rc = pl_coll_run_in_area(coll, bytes);
    return __builtin_expect(rc == MPI_SUCCESS, 1) ? MPI_SUCCESS : pl_call_failed(function, coll->comm, rc);
}

#endif
