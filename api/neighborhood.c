/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighborhood collectives (MPI-5.0 sections 8.6 to 8.9): blocking, nonblocking, persistent. Workers:
 * coll_neighbor.h. */
#include "api/coll_neighbor.h"
#include "api/pmpi.h"

int MPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_neighbor_allgather(&(struct pl_call)PL_CALL(MPI_Ineighbor_allgather), sendbuf, sendcount, sendtype,
                                    recvbuf, recvcount, recvtype, comm, PL_START(request));
}

int MPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_neighbor_allgather(&(struct pl_call)PL_CALL(MPI_Ineighbor_allgather_c), sendbuf, sendcount, sendtype,
                                    recvbuf, recvcount, recvtype, comm, PL_START(request));
}

int MPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    return pl_do_neighbor_allgatherv(&(struct pl_call)PL_CALL(MPI_Ineighbor_allgatherv), sendbuf, sendcount, sendtype,
                                     recvbuf, PL_COUNTS(recvcounts), PL_DISPLS(displs), recvtype, comm,
                                     PL_START(request));
}

int MPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request *request)
{
    return pl_do_neighbor_allgatherv(&(struct pl_call)PL_CALL(MPI_Ineighbor_allgatherv_c), sendbuf, sendcount, sendtype,
                                     recvbuf, PL_COUNTS_C(recvcounts), PL_DISPLS_C(displs), recvtype, comm,
                                     PL_START(request));
}

int MPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_neighbor_alltoall(&(struct pl_call)PL_CALL(MPI_Ineighbor_alltoall), sendbuf, sendcount, sendtype,
                                   recvbuf, recvcount, recvtype, comm, PL_START(request));
}

int MPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_neighbor_alltoall(&(struct pl_call)PL_CALL(MPI_Ineighbor_alltoall_c), sendbuf, sendcount, sendtype,
                                   recvbuf, recvcount, recvtype, comm, PL_START(request));
}

int MPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Request *request)
{
    return pl_do_neighbor_alltoallv(&(struct pl_call)PL_CALL(MPI_Ineighbor_alltoallv), sendbuf, PL_COUNTS(sendcounts),
                                    PL_DISPLS(sdispls), sendtype, recvbuf, PL_COUNTS(recvcounts), PL_DISPLS(rdispls),
                                    recvtype, comm, PL_START(request));
}

int MPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                              MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return pl_do_neighbor_alltoallv(&(struct pl_call)PL_CALL(MPI_Ineighbor_alltoallv_c), sendbuf,
                                    PL_COUNTS_C(sendcounts), PL_DISPLS_C(sdispls), sendtype, recvbuf,
                                    PL_COUNTS_C(recvcounts), PL_DISPLS_C(rdispls), recvtype, comm, PL_START(request));
}

int MPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                            MPI_Request *request)
{
    return pl_do_neighbor_alltoallw(&(struct pl_call)PL_CALL(MPI_Ineighbor_alltoallw), sendbuf, PL_COUNTS(sendcounts),
                                    PL_DISPLS_C(sdispls), sendtypes, recvbuf, PL_COUNTS(recvcounts),
                                    PL_DISPLS_C(rdispls), recvtypes, comm, PL_START(request));
}

int MPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                              const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                              MPI_Request *request)
{
    return pl_do_neighbor_alltoallw(&(struct pl_call)PL_CALL(MPI_Ineighbor_alltoallw_c), sendbuf,
                                    PL_COUNTS_C(sendcounts), PL_DISPLS_C(sdispls), sendtypes, recvbuf,
                                    PL_COUNTS_C(recvcounts), PL_DISPLS_C(rdispls), recvtypes, comm, PL_START(request));
}

int MPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm)
{
    return pl_do_neighbor_allgather(&(struct pl_call)PL_CALL(MPI_Neighbor_allgather), sendbuf, sendcount, sendtype,
                                    recvbuf, recvcount, recvtype, comm, PL_RUN);
}

int MPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return pl_do_neighbor_allgather(&(struct pl_call)PL_CALL(MPI_Neighbor_allgather_c), sendbuf, sendcount, sendtype,
                                    recvbuf, recvcount, recvtype, comm, PL_RUN);
}

int MPI_Neighbor_allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                                MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_neighbor_allgather(&(struct pl_call)PL_CALL(MPI_Neighbor_allgather_init), sendbuf, sendcount, sendtype,
                                    recvbuf, recvcount, recvtype, comm, PL_PREPARE(info, request));
}

int MPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
    return pl_do_neighbor_allgather(&(struct pl_call)PL_CALL(MPI_Neighbor_allgather_init_c), sendbuf, sendcount,
                                    sendtype, recvbuf, recvcount, recvtype, comm, PL_PREPARE(info, request));
}

int MPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return pl_do_neighbor_allgatherv(&(struct pl_call)PL_CALL(MPI_Neighbor_allgatherv), sendbuf, sendcount, sendtype,
                                     recvbuf, PL_COUNTS(recvcounts), PL_DISPLS(displs), recvtype, comm, PL_RUN);
}

int MPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                              MPI_Comm comm)
{
    return pl_do_neighbor_allgatherv(&(struct pl_call)PL_CALL(MPI_Neighbor_allgatherv_c), sendbuf, sendcount, sendtype,
                                     recvbuf, PL_COUNTS_C(recvcounts), PL_DISPLS_C(displs), recvtype, comm, PL_RUN);
}

int MPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request *request)
{
    return pl_do_neighbor_allgatherv(&(struct pl_call)PL_CALL(MPI_Neighbor_allgatherv_init), sendbuf, sendcount,
                                     sendtype, recvbuf, PL_COUNTS(recvcounts), PL_DISPLS(displs), recvtype, comm,
                                     PL_PREPARE(info, request));
}

int MPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_neighbor_allgatherv(&(struct pl_call)PL_CALL(MPI_Neighbor_allgatherv_init_c), sendbuf, sendcount,
                                     sendtype, recvbuf, PL_COUNTS_C(recvcounts), PL_DISPLS_C(displs), recvtype, comm,
                                     PL_PREPARE(info, request));
}

int MPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm)
{
    return pl_do_neighbor_alltoall(&(struct pl_call)PL_CALL(MPI_Neighbor_alltoall), sendbuf, sendcount, sendtype,
                                   recvbuf, recvcount, recvtype, comm, PL_RUN);
}

int MPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return pl_do_neighbor_alltoall(&(struct pl_call)PL_CALL(MPI_Neighbor_alltoall_c), sendbuf, sendcount, sendtype,
                                   recvbuf, recvcount, recvtype, comm, PL_RUN);
}

int MPI_Neighbor_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_neighbor_alltoall(&(struct pl_call)PL_CALL(MPI_Neighbor_alltoall_init), sendbuf, sendcount, sendtype,
                                   recvbuf, recvcount, recvtype, comm, PL_PREPARE(info, request));
}

int MPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request *request)
{
    return pl_do_neighbor_alltoall(&(struct pl_call)PL_CALL(MPI_Neighbor_alltoall_init_c), sendbuf, sendcount, sendtype,
                                   recvbuf, recvcount, recvtype, comm, PL_PREPARE(info, request));
}

int MPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                           void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                           MPI_Comm comm)
{
    return pl_do_neighbor_alltoallv(&(struct pl_call)PL_CALL(MPI_Neighbor_alltoallv), sendbuf, PL_COUNTS(sendcounts),
                                    PL_DISPLS(sdispls), sendtype, recvbuf, PL_COUNTS(recvcounts), PL_DISPLS(rdispls),
                                    recvtype, comm, PL_RUN);
}

int MPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                             const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return pl_do_neighbor_alltoallv(&(struct pl_call)PL_CALL(MPI_Neighbor_alltoallv_c), sendbuf,
                                    PL_COUNTS_C(sendcounts), PL_DISPLS_C(sdispls), sendtype, recvbuf,
                                    PL_COUNTS_C(recvcounts), PL_DISPLS_C(rdispls), recvtype, comm, PL_RUN);
}

int MPI_Neighbor_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                                void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                                MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return pl_do_neighbor_alltoallv(&(struct pl_call)PL_CALL(MPI_Neighbor_alltoallv_init), sendbuf,
                                    PL_COUNTS(sendcounts), PL_DISPLS(sdispls), sendtype, recvbuf, PL_COUNTS(recvcounts),
                                    PL_DISPLS(rdispls), recvtype, comm, PL_PREPARE(info, request));
}

int MPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                  MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                                  const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
    return pl_do_neighbor_alltoallv(&(struct pl_call)PL_CALL(MPI_Neighbor_alltoallv_init_c), sendbuf,
                                    PL_COUNTS_C(sendcounts), PL_DISPLS_C(sdispls), sendtype, recvbuf,
                                    PL_COUNTS_C(recvcounts), PL_DISPLS_C(rdispls), recvtype, comm,
                                    PL_PREPARE(info, request));
}

int MPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                           const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return pl_do_neighbor_alltoallw(&(struct pl_call)PL_CALL(MPI_Neighbor_alltoallw), sendbuf, PL_COUNTS(sendcounts),
                                    PL_DISPLS_C(sdispls), sendtypes, recvbuf, PL_COUNTS(recvcounts),
                                    PL_DISPLS_C(rdispls), recvtypes, comm, PL_RUN);
}

int MPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return pl_do_neighbor_alltoallw(&(struct pl_call)PL_CALL(MPI_Neighbor_alltoallw_c), sendbuf,
                                    PL_COUNTS_C(sendcounts), PL_DISPLS_C(sdispls), sendtypes, recvbuf,
                                    PL_COUNTS_C(recvcounts), PL_DISPLS_C(rdispls), recvtypes, comm, PL_RUN);
}

int MPI_Neighbor_alltoallw_init(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                                const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                MPI_Request *request)
{
    return pl_do_neighbor_alltoallw(&(struct pl_call)PL_CALL(MPI_Neighbor_alltoallw_init), sendbuf,
                                    PL_COUNTS(sendcounts), PL_DISPLS_C(sdispls), sendtypes, recvbuf,
                                    PL_COUNTS(recvcounts), PL_DISPLS_C(rdispls), recvtypes, comm,
                                    PL_PREPARE(info, request));
}

int MPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                  const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                                  const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                  MPI_Info info, MPI_Request *request)
{
    return pl_do_neighbor_alltoallw(&(struct pl_call)PL_CALL(MPI_Neighbor_alltoallw_init_c), sendbuf,
                                    PL_COUNTS_C(sendcounts), PL_DISPLS_C(sdispls), sendtypes, recvbuf,
                                    PL_COUNTS_C(recvcounts), PL_DISPLS_C(rdispls), recvtypes, comm,
                                    PL_PREPARE(info, request));
}

PL_NAMES_NEIGHBORHOOD(PL_PMPI)
