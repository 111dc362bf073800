/* SPDX-License-Identifier: BSD-3-Clause */
/* Send and receive in one call (MPI-5.0 section 3.10), with and without replacing the buffer, blocking and not. */
#include "api/call.h"
#include "api/pmpi.h"
#include "core/engine/p2p.h"
#include "core/engine/p2p_blocking.h"

/* The replacing forms have one buffer. */
static const struct pl_arg_names replace_send_names = { "buf", "count", "datatype", "sendtag", NULL };
static const struct pl_arg_names replace_recv_names = { "buf", "count", "datatype", "recvtag", NULL };

static struct pl_comm *mpi_sendrecv_check(struct pl_call *call, struct pl_transfer *t, MPI_Datatype sendtype,
                                          MPI_Datatype recvtype, MPI_Comm comm)
{
    struct pl_comm *c = pl_arg_comm(call, comm);
    call->names = t->replace ? &replace_send_names : &pl_send_names;
    t->sendtype = pl_arg_type(call, sendtype);
    pl_arg_count(call, t->sendcount);
    pl_arg_buffer(call, t->sendbuf, t->sendcount, t->sendtype);
    pl_arg_dest(call, c, t->dest);
    pl_arg_tag(call, t->sendtag);
    call->names = t->replace ? &replace_recv_names : &pl_recv_names;
    t->recvtype = pl_arg_type(call, recvtype);
    pl_arg_count(call, t->recvcount);
    pl_arg_buffer(call, t->recvbuf, t->recvcount, t->recvtype);
    pl_arg_source(call, c, t->source);
    pl_arg_recv_tag(call, c, t->recvtag);
    return c;
}

static int mpi_sendrecv_blocking(struct pl_call *call, struct pl_transfer t, MPI_Datatype sendtype,
                                 MPI_Datatype recvtype, MPI_Comm comm, MPI_Status *status)
{
    struct pl_comm *c = mpi_sendrecv_check(call, &t, sendtype, recvtype, comm);
    if (!call->err)
        call->err = pl_sendrecv(c, &t, status);
    return pl_call_leave(call);
}

static int mpi_sendrecv_nonblocking(struct pl_call *call, struct pl_transfer t, MPI_Datatype sendtype,
                                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pl_comm *c = mpi_sendrecv_check(call, &t, sendtype, recvtype, comm);
    struct pl_request *made;
    pl_arg_output(call, request, "request");
    if (!call->err)
        call->err = pl_sendrecv_start(c, &t, &made);
    if (!call->err)
        *request = pl_object_handle(made);
    return pl_call_leave(call);
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct pl_transfer t = {
        sendbuf, recvbuf, sendcount, recvcount, NULL, NULL, dest, sendtag, source, recvtag, false
    };
    return mpi_sendrecv_blocking(&(struct pl_call)PL_CALL(MPI_Sendrecv), t, sendtype, recvtype, comm, status);
}

int MPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                   void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                   MPI_Status *status)
{
    struct pl_transfer t = {
        sendbuf, recvbuf, sendcount, recvcount, NULL, NULL, dest, sendtag, source, recvtag, false
    };
    return mpi_sendrecv_blocking(&(struct pl_call)PL_CALL(MPI_Sendrecv_c), t, sendtype, recvtype, comm, status);
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status)
{
    struct pl_transfer t = { buf, buf, count, count, NULL, NULL, dest, sendtag, source, recvtag, true };
    return mpi_sendrecv_blocking(&(struct pl_call)PL_CALL(MPI_Sendrecv_replace), t, datatype, datatype, comm, status);
}

int MPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                           int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct pl_transfer t = { buf, buf, count, count, NULL, NULL, dest, sendtag, source, recvtag, true };
    return mpi_sendrecv_blocking(&(struct pl_call)PL_CALL(MPI_Sendrecv_replace_c), t, datatype, datatype, comm, status);
}

int MPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    struct pl_transfer t = {
        sendbuf, recvbuf, sendcount, recvcount, NULL, NULL, dest, sendtag, source, recvtag, false
    };
    return mpi_sendrecv_nonblocking(&(struct pl_call)PL_CALL(MPI_Isendrecv), t, sendtype, recvtype, comm, request);
}

int MPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                    MPI_Request *request)
{
    struct pl_transfer t = {
        sendbuf, recvbuf, sendcount, recvcount, NULL, NULL, dest, sendtag, source, recvtag, false
    };
    return mpi_sendrecv_nonblocking(&(struct pl_call)PL_CALL(MPI_Isendrecv_c), t, sendtype, recvtype, comm, request);
}

int MPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                          MPI_Comm comm, MPI_Request *request)
{
    struct pl_transfer t = { buf, buf, count, count, NULL, NULL, dest, sendtag, source, recvtag, true };
    return mpi_sendrecv_nonblocking(&(struct pl_call)PL_CALL(MPI_Isendrecv_replace), t, datatype, datatype, comm,
                                    request);
}

int MPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                            int recvtag, MPI_Comm comm, MPI_Request *request)
{
    struct pl_transfer t = { buf, buf, count, count, NULL, NULL, dest, sendtag, source, recvtag, true };
    return mpi_sendrecv_nonblocking(&(struct pl_call)PL_CALL(MPI_Isendrecv_replace_c), t, datatype, datatype, comm,
                                    request);
}

PL_NAMES_SENDRECV(PL_PMPI)
