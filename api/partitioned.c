/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned communication: not built. Each function checks its object, and says so through its error handler. */
#include "api/call.h"
#include "api/pmpi.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int MPI_Parrived(MPI_Request request, int partition, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Parrived);

    pl_arg_request(&call, request);
    return pl_call_unsupported(&call);
}

int MPI_Pready(int partition, MPI_Request request)
{
    struct pl_call call = PL_CALL(MPI_Pready);

    pl_arg_request(&call, request);
    return pl_call_unsupported(&call);
}

int MPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request)
{
    struct pl_call call = PL_CALL(MPI_Pready_list);

    pl_arg_request(&call, request);
    return pl_call_unsupported(&call);
}

int MPI_Pready_range(int partition_low, int partition_high, MPI_Request request)
{
    struct pl_call call = PL_CALL(MPI_Pready_range);

    pl_arg_request(&call, request);
    return pl_call_unsupported(&call);
}

int MPI_Precv_init(void *buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Precv_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Precv_init_c(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Precv_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Psend_init(const void *buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Psend_init);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Psend_init_c(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Psend_init_c);

    pl_arg_comm(&call, comm);
    return pl_call_unsupported(&call);
}

PL_NAMES_PARTITIONED(PL_PMPI)
