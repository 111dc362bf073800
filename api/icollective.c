/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives (MPI-5.0 section 6.12): the blocking ones, started. */
#include "api/coll_move.h"
#include "api/coll_reduce.h"
#include "api/pmpi.h"

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return pl_do_barrier(&(struct pl_call)PL_CALL(MPI_Ibarrier), comm, PL_START(request));
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_bcast(&(struct pl_call)PL_CALL(MPI_Ibcast), buffer, count, datatype, root, comm, PL_START(request));
}

int MPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_bcast(&(struct pl_call)PL_CALL(MPI_Ibcast_c), buffer, count, datatype, root, comm, PL_START(request));
}

int MPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_gather(&(struct pl_call)PL_CALL(MPI_Igather), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                        recvtype, root, comm, PL_START(request));
}

int MPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_gather(&(struct pl_call)PL_CALL(MPI_Igather_c), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                        recvtype, root, comm, PL_START(request));
}

int MPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_gatherv(&(struct pl_call)PL_CALL(MPI_Igatherv), sendbuf, sendcount, sendtype, recvbuf,
                         PL_COUNTS(recvcounts), PL_DISPLS(displs), recvtype, root, comm, PL_START(request));
}

int MPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                   MPI_Comm comm, MPI_Request *request)
{
    return pl_do_gatherv(&(struct pl_call)PL_CALL(MPI_Igatherv_c), sendbuf, sendcount, sendtype, recvbuf,
                         PL_COUNTS_C(recvcounts), PL_DISPLS_C(displs), recvtype, root, comm, PL_START(request));
}

int MPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_scatter(&(struct pl_call)PL_CALL(MPI_Iscatter), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype, root, comm, PL_START(request));
}

int MPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_scatter(&(struct pl_call)PL_CALL(MPI_Iscatter_c), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype, root, comm, PL_START(request));
}

int MPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_scatterv(&(struct pl_call)PL_CALL(MPI_Iscatterv), sendbuf, PL_COUNTS(sendcounts), PL_DISPLS(displs),
                          sendtype, recvbuf, recvcount, recvtype, root, comm, PL_START(request));
}

int MPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request *request)
{
    return pl_do_scatterv(&(struct pl_call)PL_CALL(MPI_Iscatterv_c), sendbuf, PL_COUNTS_C(sendcounts),
                          PL_DISPLS_C(displs), sendtype, recvbuf, recvcount, recvtype, root, comm, PL_START(request));
}

int MPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_allgather(&(struct pl_call)PL_CALL(MPI_Iallgather), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                           recvtype, comm, PL_START(request));
}

int MPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_allgather(&(struct pl_call)PL_CALL(MPI_Iallgather_c), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                           recvtype, comm, PL_START(request));
}

int MPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_allgatherv(&(struct pl_call)PL_CALL(MPI_Iallgatherv), sendbuf, sendcount, sendtype, recvbuf,
                            PL_COUNTS(recvcounts), PL_DISPLS(displs), recvtype, comm, PL_START(request));
}

int MPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    return pl_do_allgatherv(&(struct pl_call)PL_CALL(MPI_Iallgatherv_c), sendbuf, sendcount, sendtype, recvbuf,
                            PL_COUNTS_C(recvcounts), PL_DISPLS_C(displs), recvtype, comm, PL_START(request));
}

int MPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_alltoall(&(struct pl_call)PL_CALL(MPI_Ialltoall), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                          recvtype, comm, PL_START(request));
}

int MPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_alltoall(&(struct pl_call)PL_CALL(MPI_Ialltoall_c), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                          recvtype, comm, PL_START(request));
}

int MPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Request *request)
{
    return pl_do_alltoallv(&(struct pl_call)PL_CALL(MPI_Ialltoallv), sendbuf, PL_COUNTS(sendcounts), PL_DISPLS(sdispls),
                           sendtype, recvbuf, PL_COUNTS(recvcounts), PL_DISPLS(rdispls), recvtype, comm,
                           PL_START(request));
}

int MPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                     void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request *request)
{
    return pl_do_alltoallv(&(struct pl_call)PL_CALL(MPI_Ialltoallv_c), sendbuf, PL_COUNTS_C(sendcounts),
                           PL_DISPLS_C(sdispls), sendtype, recvbuf, PL_COUNTS_C(recvcounts), PL_DISPLS_C(rdispls),
                           recvtype, comm, PL_START(request));
}

int MPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm, MPI_Request *request)
{
    return pl_do_alltoallw(&(struct pl_call)PL_CALL(MPI_Ialltoallw), sendbuf, PL_COUNTS(sendcounts), PL_DISPLS(sdispls),
                           sendtypes, recvbuf, PL_COUNTS(recvcounts), PL_DISPLS(rdispls), recvtypes, comm,
                           PL_START(request));
}

int MPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
    return pl_do_alltoallw(&(struct pl_call)PL_CALL(MPI_Ialltoallw_c), sendbuf, PL_COUNTS_C(sendcounts),
                           PL_DISPLS_C(sdispls), sendtypes, recvbuf, PL_COUNTS_C(recvcounts), PL_DISPLS_C(rdispls),
                           recvtypes, comm, PL_START(request));
}

int MPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm, MPI_Request *request)
{
    return pl_do_reduce(&(struct pl_call)PL_CALL(MPI_Ireduce), sendbuf, recvbuf, count, datatype, op, root, comm,
                        PL_START(request));
}

int MPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                  MPI_Comm comm, MPI_Request *request)
{
    return pl_do_reduce(&(struct pl_call)PL_CALL(MPI_Ireduce_c), sendbuf, recvbuf, count, datatype, op, root, comm,
                        PL_START(request));
}

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Iallreduce), PL_COLL_ALLREDUCE, sendbuf, recvbuf, count,
                           datatype, op, comm, PL_START(request));
}

int MPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm, MPI_Request *request)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Iallreduce_c), PL_COLL_ALLREDUCE, sendbuf, recvbuf, count,
                           datatype, op, comm, PL_START(request));
}

int MPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, MPI_Request *request)
{
    return pl_do_reduce_scatter_block(&(struct pl_call)PL_CALL(MPI_Ireduce_scatter_block), sendbuf, recvbuf, recvcount,
                                      datatype, op, comm, PL_START(request));
}

int MPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_reduce_scatter_block(&(struct pl_call)PL_CALL(MPI_Ireduce_scatter_block_c), sendbuf, recvbuf,
                                      recvcount, datatype, op, comm, PL_START(request));
}

int MPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, MPI_Request *request)
{
    return pl_do_reduce_scatter(&(struct pl_call)PL_CALL(MPI_Ireduce_scatter), sendbuf, recvbuf, PL_COUNTS(recvcounts),
                                datatype, op, comm, PL_START(request));
}

int MPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_reduce_scatter(&(struct pl_call)PL_CALL(MPI_Ireduce_scatter_c), sendbuf, recvbuf,
                                PL_COUNTS_C(recvcounts), datatype, op, comm, PL_START(request));
}

int MPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              MPI_Request *request)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Iscan), PL_COLL_SCAN, sendbuf, recvbuf, count, datatype, op,
                           comm, PL_START(request));
}

int MPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                MPI_Request *request)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Iscan_c), PL_COLL_SCAN, sendbuf, recvbuf, count, datatype, op,
                           comm, PL_START(request));
}

int MPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                MPI_Request *request)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Iexscan), PL_COLL_EXSCAN, sendbuf, recvbuf, count, datatype, op,
                           comm, PL_START(request));
}

int MPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                  MPI_Request *request)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Iexscan_c), PL_COLL_EXSCAN, sendbuf, recvbuf, count, datatype,
                           op, comm, PL_START(request));
}

PL_NAMES_ICOLLECTIVE(PL_PMPI)
