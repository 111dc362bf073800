/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collectives (MPI-5.0 chapter 6). Arguments and work: coll_move.c, coll_reduce.c. */
#include "api/coll.h"
#include "api/pmpi.h"

int MPI_Barrier(MPI_Comm comm)
{
    return pl_do_barrier(&(struct pl_call)PL_CALL(MPI_Barrier), comm, PL_RUN);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return pl_do_bcast(&(struct pl_call)PL_CALL(MPI_Bcast), buffer, count, datatype, root, comm, PL_RUN);
}

int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return pl_do_bcast(&(struct pl_call)PL_CALL(MPI_Bcast_c), buffer, count, datatype, root, comm, PL_RUN);
}

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return pl_do_gather(&(struct pl_call)PL_CALL(MPI_Gather), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                        recvtype, root, comm, PL_RUN);
}

int MPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return pl_do_gather(&(struct pl_call)PL_CALL(MPI_Gather_c), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                        recvtype, root, comm, PL_RUN);
}

int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return pl_do_gatherv(&(struct pl_call)PL_CALL(MPI_Gatherv), sendbuf, sendcount, sendtype, recvbuf,
                         PL_COUNTS(recvcounts), PL_DISPLS(displs), recvtype, root, comm, PL_RUN);
}

int MPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return pl_do_gatherv(&(struct pl_call)PL_CALL(MPI_Gatherv_c), sendbuf, sendcount, sendtype, recvbuf,
                         PL_COUNTS_C(recvcounts), PL_DISPLS_C(displs), recvtype, root, comm, PL_RUN);
}

int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return pl_do_scatter(&(struct pl_call)PL_CALL(MPI_Scatter), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype, root, comm, PL_RUN);
}

int MPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return pl_do_scatter(&(struct pl_call)PL_CALL(MPI_Scatter_c), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype, root, comm, PL_RUN);
}

int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return pl_do_scatterv(&(struct pl_call)PL_CALL(MPI_Scatterv), sendbuf, PL_COUNTS(sendcounts), PL_DISPLS(displs),
                          sendtype, recvbuf, recvcount, recvtype, root, comm, PL_RUN);
}

int MPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
                   void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return pl_do_scatterv(&(struct pl_call)PL_CALL(MPI_Scatterv_c), sendbuf, PL_COUNTS_C(sendcounts),
                          PL_DISPLS_C(displs), sendtype, recvbuf, recvcount, recvtype, root, comm, PL_RUN);
}

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    return pl_do_allgather(&(struct pl_call)PL_CALL(MPI_Allgather), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                           recvtype, comm, PL_RUN);
}

int MPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm)
{
    return pl_do_allgather(&(struct pl_call)PL_CALL(MPI_Allgather_c), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                           recvtype, comm, PL_RUN);
}

int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return pl_do_allgatherv(&(struct pl_call)PL_CALL(MPI_Allgatherv), sendbuf, sendcount, sendtype, recvbuf,
                            PL_COUNTS(recvcounts), PL_DISPLS(displs), recvtype, comm, PL_RUN);
}

int MPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return pl_do_allgatherv(&(struct pl_call)PL_CALL(MPI_Allgatherv_c), sendbuf, sendcount, sendtype, recvbuf,
                            PL_COUNTS_C(recvcounts), PL_DISPLS_C(displs), recvtype, comm, PL_RUN);
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm)
{
    return pl_do_alltoall(&(struct pl_call)PL_CALL(MPI_Alltoall), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                          recvtype, comm, PL_RUN);
}

int MPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm)
{
    return pl_do_alltoall(&(struct pl_call)PL_CALL(MPI_Alltoall_c), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                          recvtype, comm, PL_RUN);
}

int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                  void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return pl_do_alltoallv(&(struct pl_call)PL_CALL(MPI_Alltoallv), sendbuf, PL_COUNTS(sendcounts), PL_DISPLS(sdispls),
                           sendtype, recvbuf, PL_COUNTS(recvcounts), PL_DISPLS(rdispls), recvtype, comm, PL_RUN);
}

int MPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                    MPI_Comm comm)
{
    return pl_do_alltoallv(&(struct pl_call)PL_CALL(MPI_Alltoallv_c), sendbuf, PL_COUNTS_C(sendcounts),
                           PL_DISPLS_C(sdispls), sendtype, recvbuf, PL_COUNTS_C(recvcounts), PL_DISPLS_C(rdispls),
                           recvtype, comm, PL_RUN);
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

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    return pl_do_reduce(&(struct pl_call)PL_CALL(MPI_Reduce), sendbuf, recvbuf, count, datatype, op, root, comm,
                        PL_RUN);
}

int MPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                 MPI_Comm comm)
{
    return pl_do_reduce(&(struct pl_call)PL_CALL(MPI_Reduce_c), sendbuf, recvbuf, count, datatype, op, root, comm,
                        PL_RUN);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Allreduce), PL_COLL_ALLREDUCE, sendbuf, recvbuf, count,
                           datatype, op, comm, PL_RUN);
}

int MPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Allreduce_c), PL_COLL_ALLREDUCE, sendbuf, recvbuf, count,
                           datatype, op, comm, PL_RUN);
}

int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm)
{
    return pl_do_reduce_scatter_block(&(struct pl_call)PL_CALL(MPI_Reduce_scatter_block), sendbuf, recvbuf, recvcount,
                                      datatype, op, comm, PL_RUN);
}

int MPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm)
{
    return pl_do_reduce_scatter_block(&(struct pl_call)PL_CALL(MPI_Reduce_scatter_block_c), sendbuf, recvbuf, recvcount,
                                      datatype, op, comm, PL_RUN);
}

int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm)
{
    return pl_do_reduce_scatter(&(struct pl_call)PL_CALL(MPI_Reduce_scatter), sendbuf, recvbuf, PL_COUNTS(recvcounts),
                                datatype, op, comm, PL_RUN);
}

int MPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm)
{
    return pl_do_reduce_scatter(&(struct pl_call)PL_CALL(MPI_Reduce_scatter_c), sendbuf, recvbuf,
                                PL_COUNTS_C(recvcounts), datatype, op, comm, PL_RUN);
}

int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Scan), PL_COLL_SCAN, sendbuf, recvbuf, count, datatype, op,
                           comm, PL_RUN);
}

int MPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Scan_c), PL_COLL_SCAN, sendbuf, recvbuf, count, datatype, op,
                           comm, PL_RUN);
}

int MPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Exscan), PL_COLL_EXSCAN, sendbuf, recvbuf, count, datatype, op,
                           comm, PL_RUN);
}

int MPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Exscan_c), PL_COLL_EXSCAN, sendbuf, recvbuf, count, datatype,
                           op, comm, PL_RUN);
}

PL_NAMES_COLLECTIVE(PL_PMPI)
