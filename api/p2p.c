/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point-to-point communication (MPI-5.0 chapter 3): sends, receives, their persistent forms, probes.
 * The int and the _c form of a function share one worker. Attached buffers: buffer.c.
 */
#include "core/engine/p2p.h"
#include "api/call.h"
#include "api/pmpi.h"
#include "core/base/compiler.h"
#include "core/engine/p2p_blocking.h"
#include "core/engine/status.h"

/* --- arguments ---------------------------------------------------------------------------------------------------- */

/* The envelope and data of one direction, from arguments to objects. */
struct side {
    struct pl_comm *comm;
    struct pl_type *type;
};

/* The fast path: a few comparisons find that the arguments are a basic type, a data address, a rank and a tag. False:
 * they are others, or wrong; mpi_p2p_sending() or mpi_p2p_receiving() must check them. */
static inline bool mpi_p2p_fast(struct side *side, const void *buf, MPI_Count count, MPI_Datatype datatype, int rank,
                                int tag, MPI_Comm comm)
{
    side->comm = pl_comm_known(comm);
    side->type = pl_type_basic((uintptr_t)datatype);
    bool data = (uintptr_t)buf > (uintptr_t)MPI_IN_PLACE || (!buf && count == 0);
    return pl_likely(side->comm && side->type && data && (uint64_t)count <= INT32_MAX && tag >= 0 &&
                     (unsigned)rank < (unsigned)pl_comm_targets(side->comm));
}

static inline struct side mpi_p2p_sending(struct pl_call *call, const void *buf, MPI_Count count, MPI_Datatype datatype,
                                          int dest, int tag, MPI_Comm comm)
{
    struct side side = { .comm = pl_arg_comm(call, comm) };
    side.type = pl_arg_type(call, datatype);
    pl_arg_count(call, count);
    pl_arg_buffer(call, buf, count, side.type);
    pl_arg_dest(call, side.comm, dest);
    pl_arg_tag(call, tag);
    return side;
}

static inline struct side mpi_p2p_receiving(struct pl_call *call, const void *buf, MPI_Count count,
                                            MPI_Datatype datatype, int source, int tag, MPI_Comm comm)
{
    struct side side = { .comm = pl_arg_comm(call, comm) };
    side.type = pl_arg_type(call, datatype);
    pl_arg_count(call, count);
    pl_arg_buffer(call, buf, count, side.type);
    pl_arg_source(call, side.comm, source);
    pl_arg_recv_tag(call, side.comm, tag);
    return side;
}

/* --- sends: blocking, nonblocking, persistent --------------------------------------------------------------------- */

static PL_NOINLINE int mpi_p2p_send_any(const char *function, int mode, const void *buf, MPI_Count count,
                                        MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    struct pl_call call = { .function = function };
    struct side side = mpi_p2p_sending(&call, buf, count, datatype, dest, tag, comm);
    if (!call.err)
        call.err = pl_send(side.comm, buf, count, side.type, dest, tag, mode);
    return pl_call_leave(&call);
}

static inline int mpi_p2p_send(const char *function, const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                               int tag, MPI_Comm comm)
{
    struct side side;
    if (!mpi_p2p_fast(&side, buf, count, datatype, dest, tag, comm))
        return mpi_p2p_send_any(function, PL_SEND_STANDARD, buf, count, datatype, dest, tag, comm);
    int rc = pl_send_standard(side.comm, buf, count, side.type, dest, tag);
    return pl_likely(rc == MPI_SUCCESS) ? MPI_SUCCESS : pl_call_failed(function, side.comm, rc);
}

static PL_NOINLINE int mpi_p2p_isend_any(const char *function, int mode, const void *buf, MPI_Count count,
                                         MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = { .function = function };
    struct side side = mpi_p2p_sending(&call, buf, count, datatype, dest, tag, comm);
    struct pl_request *made = NULL, *sent;
    pl_arg_output(&call, request, "request");
    bool at_once = !call.err && (mode == PL_SEND_STANDARD || mode == PL_SEND_READY) && dest >= 0;
    if (at_once && (sent = pl_request_sent()) && pl_send_fast(side.comm, buf, count, side.type, dest, tag)) {
        *request = (MPI_Request)sent;
        return MPI_SUCCESS;
    }
    if (!call.err)
        call.err = pl_send_prepare(side.comm, buf, count, side.type, dest, tag, mode, &made);
    if (!call.err)
        call.err = pl_p2p_start(made);
    if (!call.err)
        *request = pl_object_handle(made);
    else if (made)
        pl_handle_drop(made);
    return pl_call_leave(&call);
}

static inline int mpi_p2p_isend(const char *function, const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                                int tag, MPI_Comm comm, MPI_Request *request)
{
    struct side side;
    struct pl_request *sent;
    if (!request || !mpi_p2p_fast(&side, buf, count, datatype, dest, tag, comm) || !(sent = pl_request_sent()) ||
        !pl_send_fast(side.comm, buf, count, side.type, dest, tag))
        return mpi_p2p_isend_any(function, PL_SEND_STANDARD, buf, count, datatype, dest, tag, comm, request);
    *request = (MPI_Request)sent;
    return MPI_SUCCESS;
}

static int mpi_p2p_send_init(struct pl_call *call, int mode, const void *buf, MPI_Count count, MPI_Datatype datatype,
                             int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct side side = mpi_p2p_sending(call, buf, count, datatype, dest, tag, comm);
    struct pl_request *made;
    pl_arg_output(call, request, "request");
    if (!call->err)
        call->err = pl_send_prepare(side.comm, buf, count, side.type, dest, tag, mode, &made);
    if (!call->err) {
        made->is.persistent = true;
        *request = pl_object_handle(made);
    }
    return pl_call_leave(call);
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return mpi_p2p_send(__func__, buf, count, datatype, dest, tag, comm);
}

int MPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return mpi_p2p_send(__func__, buf, count, datatype, dest, tag, comm);
}

int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return mpi_p2p_send_any(__func__, PL_SEND_SYNC, buf, count, datatype, dest, tag, comm);
}

int MPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return mpi_p2p_send_any(__func__, PL_SEND_SYNC, buf, count, datatype, dest, tag, comm);
}

int MPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return mpi_p2p_send_any(__func__, PL_SEND_READY, buf, count, datatype, dest, tag, comm);
}

int MPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return mpi_p2p_send_any(__func__, PL_SEND_READY, buf, count, datatype, dest, tag, comm);
}

int MPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return mpi_p2p_send_any(__func__, PL_SEND_BUFFERED, buf, count, datatype, dest, tag, comm);
}

int MPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return mpi_p2p_send_any(__func__, PL_SEND_BUFFERED, buf, count, datatype, dest, tag, comm);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return mpi_p2p_isend(__func__, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return mpi_p2p_isend(__func__, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return mpi_p2p_isend_any(__func__, PL_SEND_SYNC, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    return mpi_p2p_isend_any(__func__, PL_SEND_SYNC, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return mpi_p2p_isend_any(__func__, PL_SEND_READY, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    return mpi_p2p_isend_any(__func__, PL_SEND_READY, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return mpi_p2p_isend_any(__func__, PL_SEND_BUFFERED, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    return mpi_p2p_isend_any(__func__, PL_SEND_BUFFERED, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    return mpi_p2p_send_init(&(struct pl_call)PL_CALL(MPI_Send_init), PL_SEND_STANDARD, buf, count, datatype, dest, tag,
                             comm, request);
}

int MPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Request *request)
{
    return mpi_p2p_send_init(&(struct pl_call)PL_CALL(MPI_Send_init_c), PL_SEND_STANDARD, buf, count, datatype, dest,
                             tag, comm, request);
}

int MPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
    return mpi_p2p_send_init(&(struct pl_call)PL_CALL(MPI_Ssend_init), PL_SEND_SYNC, buf, count, datatype, dest, tag,
                             comm, request);
}

int MPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request *request)
{
    return mpi_p2p_send_init(&(struct pl_call)PL_CALL(MPI_Ssend_init_c), PL_SEND_SYNC, buf, count, datatype, dest, tag,
                             comm, request);
}

int MPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
    return mpi_p2p_send_init(&(struct pl_call)PL_CALL(MPI_Rsend_init), PL_SEND_READY, buf, count, datatype, dest, tag,
                             comm, request);
}

int MPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request *request)
{
    return mpi_p2p_send_init(&(struct pl_call)PL_CALL(MPI_Rsend_init_c), PL_SEND_READY, buf, count, datatype, dest, tag,
                             comm, request);
}

int MPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
    return mpi_p2p_send_init(&(struct pl_call)PL_CALL(MPI_Bsend_init), PL_SEND_BUFFERED, buf, count, datatype, dest,
                             tag, comm, request);
}

int MPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request *request)
{
    return mpi_p2p_send_init(&(struct pl_call)PL_CALL(MPI_Bsend_init_c), PL_SEND_BUFFERED, buf, count, datatype, dest,
                             tag, comm, request);
}

/* --- receives ----------------------------------------------------------------------------------------------------- */

static PL_NOINLINE int mpi_p2p_recv_any(const char *function, void *buf, MPI_Count count, MPI_Datatype datatype,
                                        int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct pl_call call = { .function = function };
    struct side side = mpi_p2p_receiving(&call, buf, count, datatype, source, tag, comm);
    if (!call.err)
        call.err = pl_recv(side.comm, buf, count, side.type, source, tag, status);
    return pl_call_leave(&call);
}

static inline int mpi_p2p_recv(const char *function, void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                               int tag, MPI_Comm comm, MPI_Status *status)
{
    struct side side;
    if (!mpi_p2p_fast(&side, buf, count, datatype, source, tag, comm))
        return mpi_p2p_recv_any(function, buf, count, datatype, source, tag, comm, status);
    int rc = pl_recv(side.comm, buf, count, side.type, source, tag, status);
    return pl_likely(rc == MPI_SUCCESS) ? MPI_SUCCESS : pl_call_failed(function, side.comm, rc);
}

static PL_NOINLINE int mpi_p2p_irecv_any(const char *function, void *buf, MPI_Count count, MPI_Datatype datatype,
                                         int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct pl_call call = { .function = function };
    struct side side = mpi_p2p_receiving(&call, buf, count, datatype, source, tag, comm);
    struct pl_request *made = NULL;
    pl_arg_output(&call, request, "request");
    if (!call.err)
        call.err = pl_recv_prepare(side.comm, buf, count, side.type, source, tag, &made);
    if (!call.err)
        call.err = pl_p2p_start(made);
    if (!call.err)
        *request = (MPI_Request)made;
    else if (made)
        pl_handle_drop(made);
    return pl_call_leave(&call);
}

static inline int mpi_p2p_irecv(const char *function, void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                                int tag, MPI_Comm comm, MPI_Request *request)
{
    struct side side;
    struct pl_request *made;
    if (!request || !mpi_p2p_fast(&side, buf, count, datatype, source, tag, comm) ||
        !pl_irecv_fast(side.comm, buf, count, side.type, source, tag, &made))
        return mpi_p2p_irecv_any(function, buf, count, datatype, source, tag, comm, request);
    *request = (MPI_Request)made;
    return MPI_SUCCESS;
}

static int mpi_p2p_recv_init(struct pl_call *call, void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                             int tag, MPI_Comm comm, MPI_Request *request)
{
    struct side side = mpi_p2p_receiving(call, buf, count, datatype, source, tag, comm);
    struct pl_request *made;
    pl_arg_output(call, request, "request");
    if (!call->err)
        call->err = pl_recv_prepare(side.comm, buf, count, side.type, source, tag, &made);
    if (!call->err) {
        made->is.persistent = true;
        *request = pl_object_handle(made);
    }
    return pl_call_leave(call);
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return mpi_p2p_recv(__func__, buf, count, datatype, source, tag, comm, status);
}

int MPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Status *status)
{
    return mpi_p2p_recv(__func__, buf, count, datatype, source, tag, comm, status);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return mpi_p2p_irecv(__func__, buf, count, datatype, source, tag, comm, request);
}

int MPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return mpi_p2p_irecv(__func__, buf, count, datatype, source, tag, comm, request);
}

int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return mpi_p2p_recv_init(&(struct pl_call)PL_CALL(MPI_Recv_init), buf, count, datatype, source, tag, comm, request);
}

int MPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                    MPI_Request *request)
{
    return mpi_p2p_recv_init(&(struct pl_call)PL_CALL(MPI_Recv_init_c), buf, count, datatype, source, tag, comm,
                             request);
}

PL_NAMES_P2P(PL_PMPI)
