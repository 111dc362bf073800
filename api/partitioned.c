/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned communication (MPI-5.0 chapter 4): a message that is sent, and may be used, in parts. */
#include "core/engine/partitioned.h"
#include "api/call.h"
#include "api/pmpi.h"

/* --- making ---------------------------------------------------------------------------------------------------- */

static int mpi_partitioned_init(struct pl_call *call, bool send, void *buf, int partitions, MPI_Count count,
                                MPI_Datatype datatype, int peer, int tag, MPI_Comm comm, MPI_Info info,
                                MPI_Request *request)
{
    struct pl_comm *c = pl_arg_comm(call, comm);
    struct pl_type *type = pl_arg_type(call, datatype);
    struct pl_request *made;
    MPI_Count all = 0;
    if (partitions < 0)
        pl_call_error(call, MPI_ERR_ARG, "partitions is %d; it must not be negative", partitions);
    pl_arg_count(call, count);
    if (!call->err && __builtin_mul_overflow(count, (MPI_Count)partitions, &all))
        pl_call_error(call, MPI_ERR_COUNT,
                      "count is %lld in each of %d partitions; the product must fit into MPI_Count", (long long)count,
                      partitions);
    pl_arg_buffer(call, buf, all, type);
    pl_arg_dest(call, c, peer);
    pl_arg_tag(call, tag);
    pl_arg_info_or_null(call, info);
    pl_arg_output(call, request, "request");
    if (!call->err)
        call->err = send ? pl_psend_create(c, buf, partitions, count, type, peer, tag, &made)
                         : pl_precv_create(c, buf, partitions, count, type, peer, tag, &made);
    if (!call->err)
        *request = pl_object_handle(made);
    return pl_call_leave(call);
}

int MPI_Psend_init(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return mpi_partitioned_init(&(struct pl_call)PL_CALL(MPI_Psend_init), true, (void *)buf, partitions, count,
                                datatype, dest, tag, comm, info, request);
}

int MPI_Precv_init(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return mpi_partitioned_init(&(struct pl_call)PL_CALL(MPI_Precv_init), false, buf, partitions, count, datatype,
                                source, tag, comm, info, request);
}

/*
 * The standard has no large form of the two, since their count is an MPI_Count already. Earlier versions of mpi.h
 * declared one; programs compiled with them find these names.
 */
#define PL_FORMER_NAMES(X) X(MPI_Psend_init_c, MPI_Psend_init) X(MPI_Precv_init_c, MPI_Precv_init)
#define PL_FORMER_NAME(former, name)                                                                                   \
    extern __typeof__(name) former __attribute__((weak, alias(#name), visibility("default")));                         \
    extern __typeof__(name) P##former __attribute__((alias(#name), visibility("default")));
PL_FORMER_NAMES(PL_FORMER_NAME)

/* --- ready ----------------------------------------------------------------------------------------------------- */

/* Errors of a request go to its communicator's handler. */
static void mpi_partitioned_blame(struct pl_call *call, const struct pl_request *request)
{
    call->kind = request->comm ? PL_COMM : 0;
    call->object = request->comm;
}

static struct pl_request *arg_psend(struct pl_call *call, MPI_Request handle)
{
    struct pl_request *request = pl_arg_request(call, handle);
    if (!request)
        return NULL;
    mpi_partitioned_blame(call, request);
    if (!pl_is_psend(request))
        pl_call_error(call, MPI_ERR_REQUEST, "request was not made by MPI_Psend_init");
    else if (!request->is.active)
        pl_call_error(call, MPI_ERR_REQUEST, "request is not active; call MPI_Start first");
    return request;
}

static void arg_partition(struct pl_call *call, const struct pl_request *request, int partition)
{
    if (!call->err && (partition < 0 || partition >= pl_partitions(request)))
        pl_call_error(call, MPI_ERR_ARG, "partition %d is not among the %d of this request", partition,
                      pl_partitions(request));
}

int MPI_Pready(int partition, MPI_Request request)
{
    struct pl_call call = PL_CALL(MPI_Pready);
    struct pl_request *r = arg_psend(&call, request);
    arg_partition(&call, r, partition);
    if (!call.err)
        call.err = pl_pready(r, partition, partition);
    return pl_call_leave(&call);
}

int MPI_Pready_range(int partition_low, int partition_high, MPI_Request request)
{
    struct pl_call call = PL_CALL(MPI_Pready_range);
    struct pl_request *r = arg_psend(&call, request);
    arg_partition(&call, r, partition_low);
    arg_partition(&call, r, partition_high);
    if (partition_low > partition_high)
        pl_call_error(&call, MPI_ERR_ARG, "the range goes from %d down to %d", partition_low, partition_high);
    if (!call.err)
        call.err = pl_pready(r, partition_low, partition_high);
    return pl_call_leave(&call);
}

int MPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request)
{
    struct pl_call call = PL_CALL(MPI_Pready_list);
    struct pl_request *r = arg_psend(&call, request);
    if (length < 0)
        pl_call_error(&call, MPI_ERR_ARG, "length is %d; it must not be negative", length);
    if (length > 0)
        pl_arg_output(&call, array_of_partitions, "array_of_partitions");
    for (int i = 0; i < length && !call.err; i++) {
        arg_partition(&call, r, array_of_partitions[i]);
        if (call.err)
            pl_call_element(&call, "array_of_partitions", i);
    }
    for (int i = 0; i < length && !call.err; i++) {
        call.err = pl_pready(r, array_of_partitions[i], array_of_partitions[i]);
        if (call.err)
            pl_call_element(&call, "array_of_partitions", i);
    }
    return pl_call_leave(&call);
}

/* --- arrived --------------------------------------------------------------------------------------------------- */

int MPI_Parrived(MPI_Request request, int partition, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Parrived);
    pl_arg_output(&call, flag, "flag");
    if (!call.err && request == MPI_REQUEST_NULL) {
        *flag = 1;
        return pl_call_leave(&call);
    }
    struct pl_request *r = pl_arg_request(&call, request);
    if (r) {
        mpi_partitioned_blame(&call, r);
        if (!pl_is_precv(r))
            pl_call_error(&call, MPI_ERR_REQUEST, "request was not made by MPI_Precv_init");
        arg_partition(&call, r, partition);
    }
    if (!call.err)
        *flag = pl_parrived(r, partition);
    return pl_call_leave(&call);
}

PL_NAMES_PARTITIONED(PL_PMPI)
