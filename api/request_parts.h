/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by api/request.c (one request) and api/requests.c (many): the request behind a handle, and how a completed
 * request is finished, that is, its outcome is returned and it is released.
 */
#ifndef PLENUM_API_REQUEST_PARTS_H
#define PLENUM_API_REQUEST_PARTS_H

#include "api/call.h"
#include "core/engine/comm_failures.h"
#include "core/engine/p2p.h"
#include "core/engine/status.h"

/* The request behind a handle. NULL without an error: the call has nothing to wait for (null handle, inactive). */
static inline struct pl_request *pl_request_live(struct pl_call *call, MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL || call->err)
        return NULL;
    struct pl_request *request = pl_arg_request(call, handle);
    return request && (!request->is.persistent || request->is.active) ? request : NULL;
}

/* The same for a handle that this call has checked before. Since then it can only have been freed, if it is in the
 * array twice. */
static inline struct pl_request *pl_request_still_live(struct pl_call *call, MPI_Request handle)
{
    struct pl_request *request = (struct pl_request *)handle;
    if (handle == MPI_REQUEST_NULL || atomic_load_explicit(&request->obj.handles, memory_order_relaxed) <= 0)
        return pl_request_live(call, handle);
    return !request->is.persistent || request->is.active ? request : NULL;
}

/* Selects the error handler for a failed request: that of its window or its communicator. */
static inline void pl_request_blame(struct pl_call *call, const struct pl_request *request)
{
    if (request->comm && !call->object) {
        bool window = request->kind == PL_REQ_RMA && request->comm->win;
        call->kind = window ? PL_WIN : PL_COMM;
        call->object = window ? (void *)request->comm->win : request->comm;
    }
}

/* What a function of a generalized request returned. */
static inline int pl_grequest_result(int code, const char *function)
{
    if (code == MPI_SUCCESS)
        return code;
    return pl_fail(code, "the %s function of the generalized request returned %d", function, code);
}

static inline int pl_grequest_free(struct pl_request *request)
{
    return pl_grequest_result(request->grequest.free(request->grequest.state), "free");
}

/* The outcome, as the status; MPI_ERROR stays. The query function of a generalized request fills it in. */
static inline int pl_request_outcome(struct pl_request *request, MPI_Status *status)
{
    if (request->kind != PL_REQ_GENERALIZED) {
        pl_status_set(status, &request->outcome);
        return request->outcome.error ? pl_request_report(request) : MPI_SUCCESS;
    }
    MPI_Status own = { .MPI_ERROR = MPI_SUCCESS }, *to = status ? status : &own;
    pl_status_set(to, &(struct pl_outcome){ .source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG });
    return pl_grequest_result(request->grequest.query(request->grequest.state, to), "query");
}

/* The outcome of a request that is complete and stays: so does its error, until it is completed. Returns the code of a
 * generalized request's query function. */
static inline int pl_request_show(struct pl_request *request, MPI_Status *status)
{
    atomic_store_explicit(&request->is.seen, true, memory_order_relaxed);
    int rc = pl_request_outcome(request, status);
    return request->kind == PL_REQ_GENERALIZED ? rc : MPI_SUCCESS;
}

/* Releases a completed request and its handle. */
static inline int pl_request_end(struct pl_request *request, MPI_Request *handle)
{
    int rc = MPI_SUCCESS;
    if (request->is.persistent) {
        request->is.active = false;
        atomic_store_explicit(&request->is.seen, false, memory_order_relaxed);
        return MPI_SUCCESS;
    }
    if (request->kind == PL_REQ_GENERALIZED)
        rc = pl_grequest_free(request);
    pl_request_retire(request);
    *handle = MPI_REQUEST_NULL;
    return rc;
}

/* The same for a send that completed immediately. */
static inline void pl_request_sent_take(MPI_Request *handle, MPI_Status *status)
{
    pl_status_set(status, &(struct pl_outcome)PL_OUTCOME_OF_NOBODY);
    *handle = MPI_REQUEST_NULL;
}

/* If both functions of a generalized request fail, the code is the later one's (MPI-5.0 section 13.2). */
static inline int pl_request_take(struct pl_request *request, MPI_Request *handle, MPI_Status *status)
{
    if (pl_request_is_sent(*handle)) {
        pl_request_sent_take(handle, status);
        return MPI_SUCCESS;
    }
    int rc = pl_request_outcome(request, status);
    int freed = pl_request_end(request, handle);
    return freed ? freed : rc;
}

/* The object of a failed request must live until its error handler has been invoked. */
static inline int pl_request_leave(struct pl_call *call, struct pl_request *request, MPI_Request *handle,
                                   MPI_Status *status)
{
    pl_request_blame(call, request);
    void *blamed = call->object && request->outcome.error ? pl_object_retain(call->object) : NULL;
    call->err = pl_request_take(request, handle, status);
    return pl_call_leave_kept(call, blamed);
}

/* The end of a call that has found the request held because of a lost member: it stays as it is. */
static inline int pl_request_leave_held(struct pl_call *call, const struct pl_request *request)
{
    pl_request_blame(call, request);
    call->err = pl_request_held_record(request);
    return pl_call_leave(call);
}

static inline void pl_arg_requests(struct pl_call *call, int count, const void *requests, const char *count_name)
{
    if (count < 0)
        pl_call_error(call, MPI_ERR_ARG, "%s is %d; it must not be negative", count_name, count);
    if (count > 0)
        pl_arg_output(call, requests, "array_of_requests");
}

#endif
