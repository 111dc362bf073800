/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers for buffered sends (MPI-5.0 section 3.6): of the process, of a communicator, of a session. */
#include <limits.h>

#include "api/call.h"
#include "api/pmpi.h"
#include "core/engine/bsend.h"

static struct pl_bsend_place of_process(struct pl_call *call)
{
    (void)call;
    return pl_bsend_of_process();
}

static struct pl_bsend_place of_comm(struct pl_call *call, MPI_Comm comm)
{
    struct pl_comm *c = pl_arg_comm(call, comm);
    return c ? pl_bsend_of_comm(c) : (struct pl_bsend_place){ 0 };
}

static struct pl_bsend_place of_session(struct pl_call *call, MPI_Session session)
{
    struct pl_instance *s = pl_arg_session(call, session);
    return s ? pl_bsend_of_instance(s) : (struct pl_bsend_place){ 0 };
}

static int mpi_buffer_attach(struct pl_call *call, struct pl_bsend_place place, void *buffer, MPI_Count size)
{
    bool automatic = buffer == MPI_BUFFER_AUTOMATIC;
    if (!automatic && size < 0)
        pl_call_error(call, MPI_ERR_ARG, "size is %lld; it must not be negative", (long long)size);
    if (!automatic && size > 0)
        pl_arg_output(call, buffer, "buffer");
    if (!call->err)
        call->err = pl_bsend_attach(place, buffer, automatic ? 0 : size);
    return pl_call_leave(call);
}

/* `address` receives the buffer's address: it is a void ** in disguise. */
static int mpi_buffer_detach(struct pl_call *call, struct pl_bsend_place place, void *address, int *narrow,
                             MPI_Count *wide)
{
    MPI_Count size = 0;
    pl_arg_output(call, address, "buffer_addr");
    pl_arg_output(call, narrow ? (void *)narrow : (void *)wide, "size");
    if (!call->err)
        call->err = pl_bsend_detach(place, address, &size);
    if (!call->err && narrow)
        *narrow = size <= INT_MAX ? (int)size : MPI_UNDEFINED;
    if (!call->err && wide)
        *wide = size;
    return pl_call_leave(call);
}

static int mpi_buffer_flush(struct pl_call *call, struct pl_bsend_place place)
{
    if (!call->err)
        call->err = pl_bsend_flush(place);
    return pl_call_leave(call);
}

static int mpi_buffer_iflush(struct pl_call *call, struct pl_bsend_place place, MPI_Request *request)
{
    struct pl_request *made;
    pl_arg_output(call, request, "request");
    if (!call->err)
        call->err = pl_bsend_iflush(place, &made);
    if (!call->err)
        *request = pl_object_handle(made);
    return pl_call_leave(call);
}

int MPI_Buffer_attach(void *buffer, int size)
{
    struct pl_call call = PL_CALL(MPI_Buffer_attach);
    return mpi_buffer_attach(&call, of_process(&call), buffer, size);
}

int MPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
    struct pl_call call = PL_CALL(MPI_Buffer_attach_c);
    return mpi_buffer_attach(&call, of_process(&call), buffer, size);
}

int MPI_Buffer_detach(void *buffer_addr, int *size)
{
    struct pl_call call = PL_CALL(MPI_Buffer_detach);
    return mpi_buffer_detach(&call, of_process(&call), buffer_addr, size, NULL);
}

int MPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
    struct pl_call call = PL_CALL(MPI_Buffer_detach_c);
    return mpi_buffer_detach(&call, of_process(&call), buffer_addr, NULL, size);
}

int MPI_Buffer_flush(void)
{
    struct pl_call call = PL_CALL(MPI_Buffer_flush);
    return mpi_buffer_flush(&call, of_process(&call));
}

int MPI_Buffer_iflush(MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Buffer_iflush);
    return mpi_buffer_iflush(&call, of_process(&call), request);
}

int MPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size)
{
    struct pl_call call = PL_CALL(MPI_Comm_attach_buffer);
    return mpi_buffer_attach(&call, of_comm(&call, comm), buffer, size);
}

int MPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size)
{
    struct pl_call call = PL_CALL(MPI_Comm_attach_buffer_c);
    return mpi_buffer_attach(&call, of_comm(&call, comm), buffer, size);
}

int MPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size)
{
    struct pl_call call = PL_CALL(MPI_Comm_detach_buffer);
    return mpi_buffer_detach(&call, of_comm(&call, comm), buffer_addr, size, NULL);
}

int MPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size)
{
    struct pl_call call = PL_CALL(MPI_Comm_detach_buffer_c);
    return mpi_buffer_detach(&call, of_comm(&call, comm), buffer_addr, NULL, size);
}

int MPI_Comm_flush_buffer(MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Comm_flush_buffer);
    return mpi_buffer_flush(&call, of_comm(&call, comm));
}

int MPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Comm_iflush_buffer);
    return mpi_buffer_iflush(&call, of_comm(&call, comm), request);
}

int MPI_Session_attach_buffer(MPI_Session session, void *buffer, int size)
{
    struct pl_call call = PL_CALL(MPI_Session_attach_buffer);
    return mpi_buffer_attach(&call, of_session(&call, session), buffer, size);
}

int MPI_Session_attach_buffer_c(MPI_Session session, void *buffer, MPI_Count size)
{
    struct pl_call call = PL_CALL(MPI_Session_attach_buffer_c);
    return mpi_buffer_attach(&call, of_session(&call, session), buffer, size);
}

int MPI_Session_detach_buffer(MPI_Session session, void *buffer_addr, int *size)
{
    struct pl_call call = PL_CALL(MPI_Session_detach_buffer);
    return mpi_buffer_detach(&call, of_session(&call, session), buffer_addr, size, NULL);
}

int MPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr, MPI_Count *size)
{
    struct pl_call call = PL_CALL(MPI_Session_detach_buffer_c);
    return mpi_buffer_detach(&call, of_session(&call, session), buffer_addr, NULL, size);
}

int MPI_Session_flush_buffer(MPI_Session session)
{
    struct pl_call call = PL_CALL(MPI_Session_flush_buffer);
    return mpi_buffer_flush(&call, of_session(&call, session));
}

int MPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Session_iflush_buffer);
    return mpi_buffer_iflush(&call, of_session(&call, session), request);
}

PL_NAMES_BUFFER(PL_PMPI)
