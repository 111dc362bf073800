/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighborhood collectives: not built. Each function checks its object, and says so through its error handler. */
#include "api/call.h"
#include "api/pmpi.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int MPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ineighbor_allgather);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ineighbor_allgather_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ineighbor_allgatherv);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ineighbor_allgatherv_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ineighbor_alltoall);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ineighbor_alltoall_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ineighbor_alltoallv);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                              MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ineighbor_alltoallv_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                            MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ineighbor_alltoallw);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                              const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                              MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ineighbor_alltoallw_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_allgather);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_allgather_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                                MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_allgather_init);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_allgather_init_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_allgatherv);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                              MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_allgatherv_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_allgatherv_init);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_allgatherv_init_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_alltoall);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_alltoall_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_alltoall_init);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_alltoall_init_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                           void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                           MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_alltoallv);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                             const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_alltoallv_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                                void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                                MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_alltoallv_init);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                  MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                                  const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_alltoallv_init_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                           const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_alltoallw);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_alltoallw_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_alltoallw_init(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                                const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_alltoallw_init);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                  const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                                  const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                  MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Neighbor_alltoallw_init_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

PL_NAMES_NEIGHBORHOOD(PL_PMPI)
