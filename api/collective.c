/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking collectives (MPI-5.0 chapter 6). Arguments and work: coll_move.c, coll_reduce.c; but most calls are short
 * and have the usual arguments, which a few comparisons find right, and go to the board at once: coll_fast.h.
 */
#include "api/coll_fast.h"
#include "api/pmpi.h"

/* Such a call is wrong, or rare: its worker has to look. */
#define WORK(worker, ...) worker(&(struct pl_call){ .function = function }, __VA_ARGS__, PL_RUN)

/* --- barrier, broadcast ------------------------------------------------------------------------------------------ */

int MPI_Barrier(MPI_Comm comm)
{
    const char *function = __func__;
    struct pl_coll coll;
    if (pl_fast_comm(&coll, PL_COLL_BARRIER, 0, comm))
        return pl_fast_run(function, &coll, 0);
    return WORK(pl_do_barrier, comm);
}

static inline int mpi_coll_bcast(const char *function, void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
                                 MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_comm(&coll, PL_COLL_BCAST, root, comm) && pl_fast_received(&coll, buffer, count, datatype, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return WORK(pl_do_bcast, buffer, count, datatype, root, comm);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return mpi_coll_bcast(__func__, buffer, count, datatype, root, comm);
}

int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return mpi_coll_bcast(__func__, buffer, count, datatype, root, comm);
}

/* --- gather and scatter ------------------------------------------------------------------------------------------- */

static inline int mpi_coll_gather(const char *function, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes, room;
    if (pl_fast_comm(&coll, PL_COLL_GATHER, root, comm) && pl_fast_sent(&coll, sendbuf, sendcount, sendtype, &bytes) &&
        (root != coll.comm->rank || (pl_fast_received(&coll, recvbuf, recvcount, recvtype, &room) && room == bytes &&
                                     pl_fast_apart(sendbuf, bytes, recvbuf, bytes * (size_t)coll.comm->size))))
        return pl_fast_run(function, &coll, bytes);
    return WORK(pl_do_gather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return mpi_coll_gather(__func__, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return mpi_coll_gather(__func__, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

static inline int mpi_coll_gatherv(const char *function, const void *sendbuf, MPI_Count sendcount,
                                   MPI_Datatype sendtype, void *recvbuf, struct pl_counts recvcounts,
                                   struct pl_displs displs, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct pl_coll coll = { 0 };
    size_t bytes;
    if (pl_fast_comm(&coll, PL_COLL_GATHERV, root, comm) && pl_fast_sent(&coll, sendbuf, sendcount, sendtype, &bytes) &&
        (root != coll.comm->rank ||
         (pl_fast_received_each(&coll, recvbuf, recvcounts, displs, recvtype, sendbuf, bytes) &&
          bytes <= pl_fast_length(recvcounts, coll.recvtype, root))))
        return pl_fast_run(function, &coll, 0);
    return WORK(pl_do_gatherv, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}

int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return mpi_coll_gatherv(__func__, sendbuf, sendcount, sendtype, recvbuf, PL_COUNTS(recvcounts), PL_DISPLS(displs),
                            recvtype, root, comm);
}

int MPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return mpi_coll_gatherv(__func__, sendbuf, sendcount, sendtype, recvbuf, PL_COUNTS_C(recvcounts),
                            PL_DISPLS_C(displs), recvtype, root, comm);
}

static inline int mpi_coll_scatter(const char *function, const void *sendbuf, MPI_Count sendcount,
                                   MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   int root, MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes, sent;
    if (pl_fast_comm(&coll, PL_COLL_SCATTER, root, comm) &&
        pl_fast_received(&coll, recvbuf, recvcount, recvtype, &bytes) &&
        (root != coll.comm->rank || (pl_fast_sent(&coll, sendbuf, sendcount, sendtype, &sent) && sent == bytes &&
                                     pl_fast_apart(sendbuf, bytes * (size_t)coll.comm->size, recvbuf, bytes))))
        return pl_fast_run(function, &coll, bytes);
    return WORK(pl_do_scatter, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return mpi_coll_scatter(__func__, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return mpi_coll_scatter(__func__, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

static inline int mpi_coll_scatterv(const char *function, const void *sendbuf, struct pl_counts sendcounts,
                                    struct pl_displs displs, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                                    MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct pl_coll coll = { 0 };
    size_t bytes;
    if (pl_fast_comm(&coll, PL_COLL_SCATTERV, root, comm) &&
        pl_fast_received(&coll, recvbuf, recvcount, recvtype, &bytes) &&
        (root != coll.comm->rank || (pl_fast_sent_each(&coll, sendbuf, sendcounts, displs, sendtype, recvbuf, bytes) &&
                                     pl_fast_length(sendcounts, coll.sendtype, root) <= bytes)))
        return pl_fast_run(function, &coll, 0);
    return WORK(pl_do_scatterv, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return mpi_coll_scatterv(__func__, sendbuf, PL_COUNTS(sendcounts), PL_DISPLS(displs), sendtype, recvbuf, recvcount,
                             recvtype, root, comm);
}

int MPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
                   void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return mpi_coll_scatterv(__func__, sendbuf, PL_COUNTS_C(sendcounts), PL_DISPLS_C(displs), sendtype, recvbuf,
                             recvcount, recvtype, root, comm);
}

/* --- all to all --------------------------------------------------------------------------------------------------- */

/* Each sends so many blocks; all get one from each. */
static inline bool fast_exchange(struct pl_coll *coll, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 bool to_each, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, size_t *bytes)
{
    size_t sent, size = (size_t)coll->comm->size;
    return pl_fast_received(coll, recvbuf, recvcount, recvtype, bytes) &&
           pl_fast_sent(coll, sendbuf, sendcount, sendtype, &sent) && sent == *bytes &&
           pl_fast_apart(sendbuf, to_each ? sent * size : sent, recvbuf, sent * size);
}

static inline int mpi_coll_allgather(const char *function, const void *sendbuf, MPI_Count sendcount,
                                     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                     MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_comm(&coll, PL_COLL_ALLGATHER, 0, comm) &&
        fast_exchange(&coll, sendbuf, sendcount, sendtype, false, recvbuf, recvcount, recvtype, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return WORK(pl_do_allgather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    return mpi_coll_allgather(__func__, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm)
{
    return mpi_coll_allgather(__func__, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

static inline int mpi_coll_allgatherv(const char *function, const void *sendbuf, MPI_Count sendcount,
                                      MPI_Datatype sendtype, void *recvbuf, struct pl_counts recvcounts,
                                      struct pl_displs displs, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct pl_coll coll = { 0 };
    size_t bytes, longest = 0;
    if (pl_fast_comm(&coll, PL_COLL_ALLGATHERV, 0, comm) && pl_fast_sent(&coll, sendbuf, sendcount, sendtype, &bytes) &&
        pl_fast_received_each(&coll, recvbuf, recvcounts, displs, recvtype, sendbuf, bytes) &&
        bytes <= pl_fast_length(recvcounts, coll.recvtype, coll.comm->rank)) {
        for (int i = 0; i < coll.comm->size; i++) {
            size_t length = pl_fast_length(recvcounts, coll.recvtype, i);
            longest = length > longest ? length : longest;
        }
        if (longest <= PL_AREA_SHORT)
            return pl_fast_run(function, &coll, longest);
    }
    return WORK(pl_do_allgatherv, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}

int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return mpi_coll_allgatherv(__func__, sendbuf, sendcount, sendtype, recvbuf, PL_COUNTS(recvcounts),
                               PL_DISPLS(displs), recvtype, comm);
}

int MPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return mpi_coll_allgatherv(__func__, sendbuf, sendcount, sendtype, recvbuf, PL_COUNTS_C(recvcounts),
                               PL_DISPLS_C(displs), recvtype, comm);
}

static inline int mpi_coll_alltoall(const char *function, const void *sendbuf, MPI_Count sendcount,
                                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                    MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_comm(&coll, PL_COLL_ALLTOALL, 0, comm) &&
        fast_exchange(&coll, sendbuf, sendcount, sendtype, true, recvbuf, recvcount, recvtype, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return WORK(pl_do_alltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm)
{
    return mpi_coll_alltoall(__func__, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm)
{
    return mpi_coll_alltoall(__func__, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

static inline int mpi_coll_alltoallv(const char *function, const void *sendbuf, struct pl_counts sendcounts,
                                     struct pl_displs sdispls, MPI_Datatype sendtype, void *recvbuf,
                                     struct pl_counts recvcounts, struct pl_displs rdispls, MPI_Datatype recvtype,
                                     MPI_Comm comm)
{
    struct pl_coll coll = { 0 };
    if (pl_fast_comm(&coll, PL_COLL_ALLTOALLV, 0, comm) &&
        pl_fast_sent_each(&coll, sendbuf, sendcounts, sdispls, sendtype, NULL, 0) &&
        pl_fast_received_each(&coll, recvbuf, recvcounts, rdispls, recvtype, NULL, 0)) {
        int own = coll.comm->rank;
        size_t sent = pl_fast_length(sendcounts, coll.sendtype, own),
               room = pl_fast_length(recvcounts, coll.recvtype, own);
        if (sent <= room && pl_fast_apart(pl_fast_place(sendbuf, sdispls, coll.sendtype, own), sent,
                                          pl_fast_place(recvbuf, rdispls, coll.recvtype, own), room))
            return pl_fast_run(function, &coll, 0);
    }
    return WORK(pl_do_alltoallv, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                  void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return mpi_coll_alltoallv(__func__, sendbuf, PL_COUNTS(sendcounts), PL_DISPLS(sdispls), sendtype, recvbuf,
                              PL_COUNTS(recvcounts), PL_DISPLS(rdispls), recvtype, comm);
}

int MPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                    MPI_Comm comm)
{
    return mpi_coll_alltoallv(__func__, sendbuf, PL_COUNTS_C(sendcounts), PL_DISPLS_C(sdispls), sendtype, recvbuf,
                              PL_COUNTS_C(recvcounts), PL_DISPLS_C(rdispls), recvtype, comm);
}

int MPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                  void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                  MPI_Comm comm)
{
    return pl_do_alltoallw(&(struct pl_call)PL_CALL(MPI_Alltoallw), sendbuf, PL_COUNTS(sendcounts), PL_DISPLS(sdispls),
                           sendtypes, recvbuf, PL_COUNTS(recvcounts), PL_DISPLS(rdispls), recvtypes, comm, PL_RUN);
}

int MPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return pl_do_alltoallw(&(struct pl_call)PL_CALL(MPI_Alltoallw_c), sendbuf, PL_COUNTS_C(sendcounts),
                           PL_DISPLS_C(sdispls), sendtypes, recvbuf, PL_COUNTS_C(recvcounts), PL_DISPLS_C(rdispls),
                           recvtypes, comm, PL_RUN);
}

/* --- reductions --------------------------------------------------------------------------------------------------- */

static inline int mpi_coll_reduce(const char *function, const void *sendbuf, void *recvbuf, MPI_Count count,
                                  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_comm(&coll, PL_COLL_REDUCE, root, comm) && pl_fast_elements(&coll, count, datatype, op, &bytes) &&
        (root == coll.comm->rank ? pl_fast_vectors(&coll, sendbuf, bytes, recvbuf, bytes)
                                 : pl_fast_buffer(coll.sendbuf = sendbuf)))
        return pl_fast_run(function, &coll, bytes);
    return WORK(pl_do_reduce, sendbuf, recvbuf, count, datatype, op, root, comm);
}

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    return mpi_coll_reduce(__func__, sendbuf, recvbuf, count, datatype, op, root, comm);
}

int MPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                 MPI_Comm comm)
{
    return mpi_coll_reduce(__func__, sendbuf, recvbuf, count, datatype, op, root, comm);
}

/* allreduce, scan and exscan, by kind. */
static inline int mpi_coll_reduction(const char *function, enum pl_coll_kind kind, const void *sendbuf, void *recvbuf,
                                     MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_comm(&coll, kind, 0, comm) && pl_fast_elements(&coll, count, datatype, op, &bytes) &&
        pl_fast_vectors(&coll, sendbuf, bytes, recvbuf, bytes))
        return pl_fast_run(function, &coll, bytes);
    return WORK(pl_do_reduction, kind, sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return mpi_coll_reduction(__func__, PL_COLL_ALLREDUCE, sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm)
{
    return mpi_coll_reduction(__func__, PL_COLL_ALLREDUCE, sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return mpi_coll_reduction(__func__, PL_COLL_SCAN, sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return mpi_coll_reduction(__func__, PL_COLL_SCAN, sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return mpi_coll_reduction(__func__, PL_COLL_EXSCAN, sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return mpi_coll_reduction(__func__, PL_COLL_EXSCAN, sendbuf, recvbuf, count, datatype, op, comm);
}

static inline int reduce_scatter_block(const char *function, const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_comm(&coll, PL_COLL_REDUCE_SCATTER_BLOCK, 0, comm) &&
        pl_fast_elements(&coll, recvcount, datatype, op, &bytes) &&
        pl_fast_vectors(&coll, sendbuf, bytes * (size_t)coll.comm->size, recvbuf, bytes))
        return pl_fast_run(function, &coll, bytes);
    return WORK(pl_do_reduce_scatter_block, sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm)
{
    return reduce_scatter_block(__func__, sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int MPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm)
{
    return reduce_scatter_block(__func__, sendbuf, recvbuf, recvcount, datatype, op, comm);
}

/* Usual are blocks of one length. */
static inline bool fast_counts(struct pl_coll *coll, struct pl_counts counts)
{
    bool alike = counts.narrow || counts.wide;
    coll->recvcounts = counts;
    for (int i = 1; alike && i < coll->comm->size; i++)
        alike = pl_count_at(counts, i) == pl_count_at(counts, 0);
    return alike;
}

static inline int reduce_scatter(const char *function, const void *sendbuf, void *recvbuf, struct pl_counts recvcounts,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_comm(&coll, PL_COLL_REDUCE_SCATTER, 0, comm) && fast_counts(&coll, recvcounts) &&
        pl_fast_elements(&coll, pl_count_at(recvcounts, 0), datatype, op, &bytes) &&
        pl_fast_vectors(&coll, sendbuf, bytes * (size_t)coll.comm->size, recvbuf, bytes))
        return pl_fast_run(function, &coll, bytes);
    return WORK(pl_do_reduce_scatter, sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm)
{
    return reduce_scatter(__func__, sendbuf, recvbuf, PL_COUNTS(recvcounts), datatype, op, comm);
}

int MPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm)
{
    return reduce_scatter(__func__, sendbuf, recvbuf, PL_COUNTS_C(recvcounts), datatype, op, comm);
}

PL_NAMES_COLLECTIVE(PL_PMPI)
