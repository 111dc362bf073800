/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives: not built. Each function checks its object, and says so through its error handler. */
#include "api/call.h"
#include "api/pmpi.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int MPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iallgather);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iallgather_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iallgatherv);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iallgatherv_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iallreduce);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iallreduce_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ialltoall);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ialltoall_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ialltoallv);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                     void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ialltoallv_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ialltoallw);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ialltoallw_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ibarrier);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ibcast);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ibcast_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iexscan);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                  MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iexscan_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Igather);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Igather_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Igatherv);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                   MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Igatherv_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ireduce);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                  MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ireduce_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ireduce_scatter);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ireduce_scatter_block);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ireduce_scatter_block_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Ireduce_scatter_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iscan);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iscan_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iscatter);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iscatter_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iscatterv);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Iscatterv_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

PL_NAMES_ICOLLECTIVE(PL_PMPI)
