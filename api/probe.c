/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes and matched receives (MPI-5.0 section 3.8). */
#include "api/call.h"
#include "api/pmpi.h"
#include "core/engine/p2p.h"
#include "core/engine/status.h"

static const struct pl_outcome nobody = { .source = MPI_PROC_NULL, .tag = MPI_ANY_TAG };

/* All four probes: waiting or not, extracting the message or not. */
static int mpi_probe_do(struct pl_call *call, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                        MPI_Status *status)
{
    struct pl_comm *c = pl_arg_comm(call, comm);
    struct pl_outcome outcome = nobody;
    struct pl_message *taken = NULL;
    bool found = true;
    pl_arg_source(call, c, source);
    pl_arg_recv_tag(call, c, tag);
    if (!call->err && source != MPI_PROC_NULL)
        call->err = pl_probe(c, source, tag, flag == NULL, &found, &outcome, message ? &taken : NULL);
    if (call->err)
        return pl_call_leave(call);
    if (flag)
        *flag = found;
    if (message)
        *message = source == MPI_PROC_NULL ? MPI_MESSAGE_NO_PROC : taken ? pl_object_handle(taken) : MPI_MESSAGE_NULL;
    if (found)
        pl_status_set(status, &outcome);
    return MPI_SUCCESS;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return mpi_probe_do(&(struct pl_call)PL_CALL(MPI_Probe), source, tag, comm, NULL, NULL, status);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Iprobe);
    pl_arg_output(&call, flag, "flag");
    return call.err ? pl_call_leave(&call) : mpi_probe_do(&call, source, tag, comm, flag, NULL, status);
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Mprobe);
    pl_arg_output(&call, message, "message");
    return call.err ? pl_call_leave(&call) : mpi_probe_do(&call, source, tag, comm, NULL, message, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Improbe);
    pl_arg_output(&call, flag, "flag");
    pl_arg_output(&call, message, "message");
    return call.err ? pl_call_leave(&call) : mpi_probe_do(&call, source, tag, comm, flag, message, status);
}

/* From a message handle to a started receive. MPI_MESSAGE_NO_PROC gives a complete request. *failed: a message whose
 * session has ended, or NULL. The caller must drop it after raising the error: there is no other way to free it. */
static struct pl_request *mpi_probe_start(struct pl_call *call, void *buf, MPI_Count count, MPI_Datatype datatype,
                                          MPI_Message *message, struct pl_message **failed)
{
    *failed = NULL;
    struct pl_type *type = pl_arg_type(call, datatype);
    struct pl_request *request = NULL;
    pl_arg_count(call, count);
    pl_arg_buffer(call, buf, count, type);
    pl_arg_output(call, message, "message");
    if (call->err)
        return NULL;
    if (*message == MPI_MESSAGE_NO_PROC) {
        request = pl_request_create(PL_REQ_COMPLETE, NULL, NULL, false);
        if (!request) {
            call->err = MPI_ERR_NO_MEM;
            return NULL;
        }
        request->outcome = nobody;
        request->is.active = true;
        atomic_store(&request->done, 1);
    } else {
        struct pl_message *m = pl_object_get(PL_MESSAGE, *message, "message");
        call->err = m ? MPI_SUCCESS : MPI_ERR_REQUEST;
        if (call->err)
            return NULL;
        call->kind = PL_COMM;
        call->object = m->comm;
        call->err = pl_mrecv_start(m, buf, count, type, &request);
        *failed = call->err && m->comm->health.orphan ? m : NULL;
        if (call->err && !*failed)
            return NULL;
    }
    *message = MPI_MESSAGE_NULL;
    return request;
}

/* Until now the request, or the message, has kept the communicator whose error handler is invoked. Both may be NULL. */
static int mpi_probe_leave(struct pl_call *call, struct pl_request *ended, struct pl_message *failed)
{
    void *comm = call->err && call->object ? pl_object_retain(call->object) : NULL;
    if (ended)
        pl_handle_drop(ended);
    if (failed)
        pl_handle_drop(failed);
    return pl_call_leave_kept(call, comm);
}

static int mpi_probe_mrecv(struct pl_call *call, void *buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Message *message, MPI_Status *status)
{
    struct pl_message *failed;
    struct pl_request *request = mpi_probe_start(call, buf, count, datatype, message, &failed);
    if (!call->err) {
        call->err = pl_request_wait(request);
        pl_status_set(status, &request->outcome);
    }
    return mpi_probe_leave(call, request, failed);
}

static int mpi_probe_imrecv(struct pl_call *call, void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Message *message, MPI_Request *request)
{
    pl_arg_output(call, request, "request");
    struct pl_message *failed;
    struct pl_request *made = mpi_probe_start(call, buf, count, datatype, message, &failed);
    if (!call->err)
        *request = pl_object_handle(made);
    return mpi_probe_leave(call, NULL, failed);
}

int MPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    return mpi_probe_mrecv(&(struct pl_call)PL_CALL(MPI_Mrecv), buf, count, datatype, message, status);
}

int MPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    return mpi_probe_mrecv(&(struct pl_call)PL_CALL(MPI_Mrecv_c), buf, count, datatype, message, status);
}

int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
    return mpi_probe_imrecv(&(struct pl_call)PL_CALL(MPI_Imrecv), buf, count, datatype, message, request);
}

int MPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
    return mpi_probe_imrecv(&(struct pl_call)PL_CALL(MPI_Imrecv_c), buf, count, datatype, message, request);
}

PL_NAMES_PROBE(PL_PMPI)
