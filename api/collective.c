/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collectives (MPI-5.0 chapter 6): the fast path (coll_fast.h), else the worker. What both forms of an
 * operation share is inlined into each: a call would cost 7 to 17 instructions. */
#include "api/coll_fast.h"
#include "api/coll_move.h"
#include "api/coll_reduce.h"
#include "api/pmpi.h"

/* --- barrier, broadcast ------------------------------------------------------------------------------------------ */

int MPI_Barrier(MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_barrier(&coll, comm, &bytes))
        return pl_fast_run(__func__, &coll, bytes);
    return pl_do_barrier(&(struct pl_call)PL_CALL(MPI_Barrier), comm, PL_RUN);
}

static inline __attribute__((always_inline)) int mpi_coll_bcast(const char *function, void *buffer, MPI_Count count,
                                                                MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_bcast(&coll, buffer, count, datatype, root, comm, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return pl_do_bcast(&(struct pl_call){ .function = function }, buffer, count, datatype, root, comm, PL_RUN);
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

static inline __attribute__((always_inline)) int mpi_coll_gather(const char *function, const void *sendbuf,
                                                                 MPI_Count sendcount, MPI_Datatype sendtype,
                                                                 void *recvbuf, MPI_Count recvcount,
                                                                 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_gather(&coll, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return pl_do_gather(&(struct pl_call){ .function = function }, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                        recvtype, root, comm, PL_RUN);
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

static inline __attribute__((always_inline)) int mpi_coll_gatherv(const char *function, const void *sendbuf,
                                                                  MPI_Count sendcount, MPI_Datatype sendtype,
                                                                  void *recvbuf, struct pl_counts recvcounts,
                                                                  struct pl_displs displs, MPI_Datatype recvtype,
                                                                  int root, MPI_Comm comm)
{
    struct pl_coll coll = { 0 };
    size_t bytes;
    if (pl_fast_gatherv(&coll, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return pl_do_gatherv(&(struct pl_call){ .function = function }, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                         displs, recvtype, root, comm, PL_RUN);
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

static inline __attribute__((always_inline)) int mpi_coll_scatter(const char *function, const void *sendbuf,
                                                                  MPI_Count sendcount, MPI_Datatype sendtype,
                                                                  void *recvbuf, MPI_Count recvcount,
                                                                  MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_scatter(&coll, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return pl_do_scatter(&(struct pl_call){ .function = function }, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype, root, comm, PL_RUN);
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

static inline __attribute__((always_inline)) int mpi_coll_scatterv(const char *function, const void *sendbuf,
                                                                   struct pl_counts sendcounts, struct pl_displs displs,
                                                                   MPI_Datatype sendtype, void *recvbuf,
                                                                   MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                                                   MPI_Comm comm)
{
    struct pl_coll coll = { 0 };
    size_t bytes;
    if (pl_fast_scatterv(&coll, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
                         &bytes))
        return pl_fast_run(function, &coll, bytes);
    return pl_do_scatterv(&(struct pl_call){ .function = function }, sendbuf, sendcounts, displs, sendtype, recvbuf,
                          recvcount, recvtype, root, comm, PL_RUN);
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

static inline __attribute__((always_inline)) int mpi_coll_allgather(const char *function, const void *sendbuf,
                                                                    MPI_Count sendcount, MPI_Datatype sendtype,
                                                                    void *recvbuf, MPI_Count recvcount,
                                                                    MPI_Datatype recvtype, MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_allgather(&coll, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return pl_do_allgather(&(struct pl_call){ .function = function }, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                           recvtype, comm, PL_RUN);
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

static inline __attribute__((always_inline)) int mpi_coll_allgatherv(const char *function, const void *sendbuf,
                                                                     MPI_Count sendcount, MPI_Datatype sendtype,
                                                                     void *recvbuf, struct pl_counts recvcounts,
                                                                     struct pl_displs displs, MPI_Datatype recvtype,
                                                                     MPI_Comm comm)
{
    struct pl_coll coll = { 0 };
    size_t bytes;
    if (pl_fast_allgatherv(&coll, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return pl_do_allgatherv(&(struct pl_call){ .function = function }, sendbuf, sendcount, sendtype, recvbuf,
                            recvcounts, displs, recvtype, comm, PL_RUN);
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

static inline __attribute__((always_inline)) int mpi_coll_alltoall(const char *function, const void *sendbuf,
                                                                   MPI_Count sendcount, MPI_Datatype sendtype,
                                                                   void *recvbuf, MPI_Count recvcount,
                                                                   MPI_Datatype recvtype, MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_alltoall(&coll, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return pl_do_alltoall(&(struct pl_call){ .function = function }, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                          recvtype, comm, PL_RUN);
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

static inline __attribute__((always_inline)) int mpi_coll_alltoallv(const char *function, const void *sendbuf,
                                                                    struct pl_counts sendcounts,
                                                                    struct pl_displs sdispls, MPI_Datatype sendtype,
                                                                    void *recvbuf, struct pl_counts recvcounts,
                                                                    struct pl_displs rdispls, MPI_Datatype recvtype,
                                                                    MPI_Comm comm)
{
    struct pl_coll coll = { 0 };
    size_t bytes;
    if (pl_fast_alltoallv(&coll, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                          &bytes))
        return pl_fast_run(function, &coll, bytes);
    return pl_do_alltoallv(&(struct pl_call){ .function = function }, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                           recvcounts, rdispls, recvtype, comm, PL_RUN);
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

static inline __attribute__((always_inline)) int mpi_coll_reduce(const char *function, const void *sendbuf,
                                                                 void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                                                                 MPI_Op op, int root, MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_reduce(&coll, sendbuf, recvbuf, count, datatype, op, root, comm, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return pl_do_reduce(&(struct pl_call){ .function = function }, sendbuf, recvbuf, count, datatype, op, root, comm,
                        PL_RUN);
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
static inline __attribute__((always_inline)) int mpi_coll_reduction(const char *function, enum pl_coll_kind kind,
                                                                    const void *sendbuf, void *recvbuf, MPI_Count count,
                                                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_reduction(&coll, kind, sendbuf, recvbuf, count, datatype, op, comm, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return pl_do_reduction(&(struct pl_call){ .function = function }, kind, sendbuf, recvbuf, count, datatype, op, comm,
                           PL_RUN);
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

static inline __attribute__((always_inline)) int mpi_coll_reduce_scatter_block(const char *function,
                                                                               const void *sendbuf, void *recvbuf,
                                                                               MPI_Count recvcount,
                                                                               MPI_Datatype datatype, MPI_Op op,
                                                                               MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_reduce_scatter_block(&coll, sendbuf, recvbuf, recvcount, datatype, op, comm, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return pl_do_reduce_scatter_block(&(struct pl_call){ .function = function }, sendbuf, recvbuf, recvcount, datatype,
                                      op, comm, PL_RUN);
}

int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm)
{
    return mpi_coll_reduce_scatter_block(__func__, sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int MPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm)
{
    return mpi_coll_reduce_scatter_block(__func__, sendbuf, recvbuf, recvcount, datatype, op, comm);
}

static inline __attribute__((always_inline)) int mpi_coll_reduce_scatter(const char *function, const void *sendbuf,
                                                                         void *recvbuf, struct pl_counts recvcounts,
                                                                         MPI_Datatype datatype, MPI_Op op,
                                                                         MPI_Comm comm)
{
    struct pl_coll coll;
    size_t bytes;
    if (pl_fast_reduce_scatter(&coll, sendbuf, recvbuf, recvcounts, datatype, op, comm, &bytes))
        return pl_fast_run(function, &coll, bytes);
    return pl_do_reduce_scatter(&(struct pl_call){ .function = function }, sendbuf, recvbuf, recvcounts, datatype, op,
                                comm, PL_RUN);
}

int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm)
{
    return mpi_coll_reduce_scatter(__func__, sendbuf, recvbuf, PL_COUNTS(recvcounts), datatype, op, comm);
}

int MPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm)
{
    return mpi_coll_reduce_scatter(__func__, sendbuf, recvbuf, PL_COUNTS_C(recvcounts), datatype, op, comm);
}

PL_NAMES_COLLECTIVE(PL_PMPI)
