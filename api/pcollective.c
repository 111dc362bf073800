/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives: not built. Each function checks its object, and says so through its error handler. */
#include "api/call.h"
#include "api/pmpi.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int MPI_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Allgather_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Allgather_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                        const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Allgatherv_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Allgatherv_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Allreduce_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Allreduce_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Alltoall_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Alltoall_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                       void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Alltoallv_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                         MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Alltoallv_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                       void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Alltoallw_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                         const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Alltoallw_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Barrier_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                   MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Bcast_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Bcast_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                    MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Exscan_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Exscan_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Gather_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Gather_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                     const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Gatherv_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                       const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Gatherv_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Reduce_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Reduce_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                                  MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Reduce_scatter_block_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Reduce_scatter_block_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype,
                            MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Reduce_scatter_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Reduce_scatter_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                  MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Scan_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Scan_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Scatter_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Scatter_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                      void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Scatterv_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                        MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Scatterv_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

PL_NAMES_PCOLLECTIVE(PL_PMPI)
