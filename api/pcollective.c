/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives (MPI-5.0 section 6.13): the blocking ones, prepared for MPI_Start(). */
#include "api/coll_move.h"
#include "api/coll_reduce.h"
#include "api/pmpi.h"

int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_barrier(&(struct pl_call)PL_CALL(MPI_Barrier_init), comm, PL_PREPARE(info, request));
}

int MPI_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                   MPI_Request *request)
{
    return pl_do_bcast(&(struct pl_call)PL_CALL(MPI_Bcast_init), buffer, count, datatype, root, comm,
                       PL_PREPARE(info, request));
}

int MPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request)
{
    return pl_do_bcast(&(struct pl_call)PL_CALL(MPI_Bcast_init_c), buffer, count, datatype, root, comm,
                       PL_PREPARE(info, request));
}

int MPI_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_gather(&(struct pl_call)PL_CALL(MPI_Gather_init), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                        recvtype, root, comm, PL_PREPARE(info, request));
}

int MPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    return pl_do_gather(&(struct pl_call)PL_CALL(MPI_Gather_init_c), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                        recvtype, root, comm, PL_PREPARE(info, request));
}

int MPI_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                     const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request)
{
    return pl_do_gatherv(&(struct pl_call)PL_CALL(MPI_Gatherv_init), sendbuf, sendcount, sendtype, recvbuf,
                         PL_COUNTS(recvcounts), PL_DISPLS(displs), recvtype, root, comm, PL_PREPARE(info, request));
}

int MPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                       const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_gatherv(&(struct pl_call)PL_CALL(MPI_Gatherv_init_c), sendbuf, sendcount, sendtype, recvbuf,
                         PL_COUNTS_C(recvcounts), PL_DISPLS_C(displs), recvtype, root, comm, PL_PREPARE(info, request));
}

int MPI_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_scatter(&(struct pl_call)PL_CALL(MPI_Scatter_init), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype, root, comm, PL_PREPARE(info, request));
}

int MPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request)
{
    return pl_do_scatter(&(struct pl_call)PL_CALL(MPI_Scatter_init_c), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype, root, comm, PL_PREPARE(info, request));
}

int MPI_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                      void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    return pl_do_scatterv(&(struct pl_call)PL_CALL(MPI_Scatterv_init), sendbuf, PL_COUNTS(sendcounts),
                          PL_DISPLS(displs), sendtype, recvbuf, recvcount, recvtype, root, comm,
                          PL_PREPARE(info, request));
}

int MPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                        MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_scatterv(&(struct pl_call)PL_CALL(MPI_Scatterv_init_c), sendbuf, PL_COUNTS_C(sendcounts),
                          PL_DISPLS_C(displs), sendtype, recvbuf, recvcount, recvtype, root, comm,
                          PL_PREPARE(info, request));
}

int MPI_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_allgather(&(struct pl_call)PL_CALL(MPI_Allgather_init), sendbuf, sendcount, sendtype, recvbuf,
                           recvcount, recvtype, comm, PL_PREPARE(info, request));
}

int MPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_allgather(&(struct pl_call)PL_CALL(MPI_Allgather_init_c), sendbuf, sendcount, sendtype, recvbuf,
                           recvcount, recvtype, comm, PL_PREPARE(info, request));
}

int MPI_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                        const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    return pl_do_allgatherv(&(struct pl_call)PL_CALL(MPI_Allgatherv_init), sendbuf, sendcount, sendtype, recvbuf,
                            PL_COUNTS(recvcounts), PL_DISPLS(displs), recvtype, comm, PL_PREPARE(info, request));
}

int MPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
    return pl_do_allgatherv(&(struct pl_call)PL_CALL(MPI_Allgatherv_init_c), sendbuf, sendcount, sendtype, recvbuf,
                            PL_COUNTS_C(recvcounts), PL_DISPLS_C(displs), recvtype, comm, PL_PREPARE(info, request));
}

int MPI_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_alltoall(&(struct pl_call)PL_CALL(MPI_Alltoall_init), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                          recvtype, comm, PL_PREPARE(info, request));
}

int MPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_alltoall(&(struct pl_call)PL_CALL(MPI_Alltoall_init_c), sendbuf, sendcount, sendtype, recvbuf,
                          recvcount, recvtype, comm, PL_PREPARE(info, request));
}

int MPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                       void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
    return pl_do_alltoallv(&(struct pl_call)PL_CALL(MPI_Alltoallv_init), sendbuf, PL_COUNTS(sendcounts),
                           PL_DISPLS(sdispls), sendtype, recvbuf, PL_COUNTS(recvcounts), PL_DISPLS(rdispls), recvtype,
                           comm, PL_PREPARE(info, request));
}

int MPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                         MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_alltoallv(&(struct pl_call)PL_CALL(MPI_Alltoallv_init_c), sendbuf, PL_COUNTS_C(sendcounts),
                           PL_DISPLS_C(sdispls), sendtype, recvbuf, PL_COUNTS_C(recvcounts), PL_DISPLS_C(rdispls),
                           recvtype, comm, PL_PREPARE(info, request));
}

int MPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                       void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_alltoallw(&(struct pl_call)PL_CALL(MPI_Alltoallw_init), sendbuf, PL_COUNTS(sendcounts),
                           PL_DISPLS(sdispls), sendtypes, recvbuf, PL_COUNTS(recvcounts), PL_DISPLS(rdispls), recvtypes,
                           comm, PL_PREPARE(info, request));
}

int MPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                         const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    return pl_do_alltoallw(&(struct pl_call)PL_CALL(MPI_Alltoallw_init_c), sendbuf, PL_COUNTS_C(sendcounts),
                           PL_DISPLS_C(sdispls), sendtypes, recvbuf, PL_COUNTS_C(recvcounts), PL_DISPLS_C(rdispls),
                           recvtypes, comm, PL_PREPARE(info, request));
}

int MPI_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_reduce(&(struct pl_call)PL_CALL(MPI_Reduce_init), sendbuf, recvbuf, count, datatype, op, root, comm,
                        PL_PREPARE(info, request));
}

int MPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_reduce(&(struct pl_call)PL_CALL(MPI_Reduce_init_c), sendbuf, recvbuf, count, datatype, op, root, comm,
                        PL_PREPARE(info, request));
}

int MPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Allreduce_init), PL_COLL_ALLREDUCE, sendbuf, recvbuf, count,
                           datatype, op, comm, PL_PREPARE(info, request));
}

int MPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Allreduce_init_c), PL_COLL_ALLREDUCE, sendbuf, recvbuf, count,
                           datatype, op, comm, PL_PREPARE(info, request));
}

int MPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                                  MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_reduce_scatter_block(&(struct pl_call)PL_CALL(MPI_Reduce_scatter_block_init), sendbuf, recvbuf,
                                      recvcount, datatype, op, comm, PL_PREPARE(info, request));
}

int MPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_reduce_scatter_block(&(struct pl_call)PL_CALL(MPI_Reduce_scatter_block_init_c), sendbuf, recvbuf,
                                      recvcount, datatype, op, comm, PL_PREPARE(info, request));
}

int MPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype,
                            MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_reduce_scatter(&(struct pl_call)PL_CALL(MPI_Reduce_scatter_init), sendbuf, recvbuf,
                                PL_COUNTS(recvcounts), datatype, op, comm, PL_PREPARE(info, request));
}

int MPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_reduce_scatter(&(struct pl_call)PL_CALL(MPI_Reduce_scatter_init_c), sendbuf, recvbuf,
                                PL_COUNTS_C(recvcounts), datatype, op, comm, PL_PREPARE(info, request));
}

int MPI_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                  MPI_Info info, MPI_Request *request)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Scan_init), PL_COLL_SCAN, sendbuf, recvbuf, count, datatype, op,
                           comm, PL_PREPARE(info, request));
}

int MPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Scan_init_c), PL_COLL_SCAN, sendbuf, recvbuf, count, datatype,
                           op, comm, PL_PREPARE(info, request));
}

int MPI_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                    MPI_Info info, MPI_Request *request)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Exscan_init), PL_COLL_EXSCAN, sendbuf, recvbuf, count, datatype,
                           op, comm, PL_PREPARE(info, request));
}

int MPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_reduction(&(struct pl_call)PL_CALL(MPI_Exscan_init_c), PL_COLL_EXSCAN, sendbuf, recvbuf, count,
                           datatype, op, comm, PL_PREPARE(info, request));
}

PL_NAMES_PCOLLECTIVE(PL_PMPI)
