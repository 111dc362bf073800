/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One request: completion, starting, cancelling (MPI-5.0 sections 3.7 to 3.9), and generalized requests (13.2).
 * For many at once: requests.c.
 */
#include <stdio.h>

#include "api/pmpi.h"
#include "api/request_parts.h"
#include "core/engine/wait.h"
#include "core/engine/wait_record.h"

/* `done` of a generalized request that was freed before its completion. */
enum { GIVEN_UP = 2 };

/* --- completion --------------------------------------------------------------------------------------------------- */

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Wait);
    if (request && pl_request_is_sent(*request)) {
        pl_request_sent_take(request, status);
        return MPI_SUCCESS;
    }
    pl_arg_output(&call, request, "request");
    struct pl_request *r = call.err ? NULL : pl_request_live(&call, *request);
    if (!r) {
        if (!call.err)
            pl_status_empty(status);
        return pl_call_leave(&call);
    }
    if (!pl_request_done(r)) {
        pl_engine_wait(r->engine, r);
        if (pl_unlikely(!pl_request_done(r)))
            return pl_request_leave_held(&call, r);
    }
    return pl_request_leave(&call, r, request, status);
}

/* Records an unsuccessful test for the job report, since the program may be polling in a loop. */
static bool mpi_request_test(struct pl_request *request)
{
    bool done = pl_request_test(request);
    if (!done && request->engine)
        pl_wait_record_poll(request->engine, request, &(struct pl_wait){ 0 });
    if (!done)
        pl_engine_polled(request->engine);
    return done;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Test);
    pl_arg_output(&call, request, "request");
    pl_arg_output(&call, flag, "flag");
    struct pl_request *r = call.err ? NULL : pl_request_live(&call, *request);
    if (!r) {
        if (!call.err) {
            *flag = 1;
            pl_status_empty(status);
        }
        return pl_call_leave(&call);
    }
    *flag = mpi_request_test(r);
    if (!*flag)
        return pl_unlikely(pl_request_seems_held(r)) ? pl_request_leave_held(&call, r) : MPI_SUCCESS;
    return pl_request_leave(&call, r, request, status);
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Request_get_status);
    pl_arg_output(&call, flag, "flag");
    struct pl_request *r = pl_request_live(&call, request);
    if (call.err)
        return pl_call_leave(&call);
    *flag = !r || mpi_request_test(r);
    if (pl_unlikely(!*flag && pl_request_seems_held(r)))
        return pl_request_leave_held(&call, r);
    if (!r)
        pl_status_empty(status);
    else if (*flag)
        call.err = pl_request_show(r, status);
    return pl_call_leave(&call);
}

/* The program could not tell when they complete, so the standard forbids freeing them while they are active (MPI-5.0
 * sections 4.2, 6.12 and 12.3.5). A program that has seen their end, by MPI_Request_get_status, may free them (section
 * 3.7.6). Those of a session that has ended are not active. */
static void request_refuse_active(struct pl_call *call, const struct pl_request *request)
{
    bool collective = request->kind == PL_REQ_COLL || request->kind == PL_REQ_AGREEMENT;
    if (!request->engine || !(collective || request->kind == PL_REQ_PARTITIONED || request->kind == PL_REQ_RMA))
        return;
    pl_request_blame(call, request);
    if ((!request->is.persistent || request->is.active) && !request->is.seen)
        pl_call_error(call, MPI_ERR_REQUEST, "request is %s operation that is still active; complete it first",
                      collective                    ? "a collective"
                      : request->kind == PL_REQ_RMA ? "a one-sided"
                                                    : "a partitioned");
}

int MPI_Request_free(MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Request_free);
    pl_arg_output(&call, request, "request");
    struct pl_request *r = call.err ? NULL : pl_arg_request(&call, *request);
    if (r)
        request_refuse_active(&call, r);
    if (call.err)
        return pl_call_leave(&call);
    *request = MPI_REQUEST_NULL;
    if (r->kind == PL_REQ_GENERALIZED && atomic_compare_exchange_strong(&r->done, &(int){ 0 }, GIVEN_UP))
        return MPI_SUCCESS; /* the user's MPI_Grequest_complete() frees it */
    if (r->kind == PL_REQ_GENERALIZED)
        call.err = pl_grequest_free(r);
    pl_request_let_go(r);
    return pl_call_leave(&call);
}

int MPI_Cancel(MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Cancel);
    pl_arg_output(&call, request, "request");
    struct pl_request *r = call.err ? NULL : pl_arg_request(&call, *request);
    if (call.err)
        return pl_call_leave(&call);
    pl_request_blame(&call, r);
    if (r->kind == PL_REQ_GENERALIZED)
        call.err = pl_grequest_result(r->grequest.cancel(r->grequest.state, pl_request_done(r)), "cancel");
    else if (r->kind == PL_REQ_SEND || r->kind == PL_REQ_RECV)
        call.err = !r->is.active                      ? pl_fail(MPI_ERR_REQUEST, "the request is not active")
                   : r->engine && !pl_request_done(r) ? pl_cancel(r)
                                                      : MPI_SUCCESS;
    else if (r->kind != PL_REQ_COMPLETE)
        pl_call_error(&call, MPI_ERR_REQUEST, "only sends, receives and generalized requests can be cancelled");
    return pl_call_leave(&call);
}

int MPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Test_cancelled);
    pl_arg_output(&call, status, "status");
    pl_arg_output(&call, flag, "flag");
    if (!call.err)
        *flag = pl_status_cancelled(status);
    return pl_call_leave(&call);
}

/* --- starting ----------------------------------------------------------------------------------------------------- */

/* NULL: it cannot be started, and call->err says why. */
static struct pl_request *mpi_request_startable(struct pl_call *call, MPI_Request handle)
{
    struct pl_request *request = pl_arg_request(call, handle);
    if (!request || (request->is.persistent && !request->is.active))
        return request;
    pl_request_blame(call, request);
    pl_call_error(call, MPI_ERR_REQUEST,
                  request->is.persistent ? "the request is already active" : "the request is not persistent");
    return NULL;
}

static void mpi_request_start(struct pl_call *call, MPI_Request handle)
{
    struct pl_request *request = mpi_request_startable(call, handle);
    if (!request)
        return;
    if (request->kind != PL_REQ_COLL && request->kind != PL_REQ_PARTITIONED) {
        call->err = pl_p2p_start(request);
    } else {
        call->err = request->coll.restart(request);
        request->is.active = call->err == MPI_SUCCESS;
    }
    if (call->err)
        pl_request_blame(call, request);
}

int MPI_Start(MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Start);
    pl_arg_output(&call, request, "request");
    if (!call.err)
        mpi_request_start(&call, *request);
    return pl_call_leave(&call);
}

/* With a wrong argument none is started. One that fails to start keeps none of the others from it: peers wait for them,
 * and the user completes all that are active. */
int MPI_Startall(int count, MPI_Request requests[])
{
    struct pl_call call = PL_CALL(MPI_Startall);
    char why[PL_DETAIL_MAX];
    pl_arg_requests(&call, count, requests, "count");
    for (int i = 0; i < count && !call.err; i++)
        if (!mpi_request_startable(&call, requests[i]))
            pl_call_element(&call, "array_of_requests", i);
    if (call.err)
        return pl_call_leave(&call);
    for (int i = 0; i < count; i++) {
        struct pl_call one = PL_CALL(MPI_Startall);
        mpi_request_start(&one, requests[i]);
        if (one.err && !call.err) {
            call = one;
            pl_call_element(&call, "array_of_requests", i);
            snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
        }
    }
    if (call.err)
        pl_fail(call.err, "%s", why);
    return pl_call_leave(&call);
}

/* --- generalized requests ----------------------------------------------------------------------------------------- */

int MPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                       MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Grequest_start);
    pl_arg_output(&call, (const void *)(uintptr_t)query_fn, "query_fn");
    pl_arg_output(&call, (const void *)(uintptr_t)free_fn, "free_fn");
    pl_arg_output(&call, (const void *)(uintptr_t)cancel_fn, "cancel_fn");
    pl_arg_output(&call, request, "request");
    struct pl_request *made = call.err ? NULL : pl_request_create(PL_REQ_GENERALIZED, NULL, NULL, false);
    if (!call.err && !made)
        call.err = MPI_ERR_NO_MEM;
    if (!call.err) {
        made->grequest.query = query_fn;
        made->grequest.free = free_fn;
        made->grequest.cancel = cancel_fn;
        made->grequest.state = extra_state;
        made->is.active = true;
        *request = pl_object_handle(made);
    }
    return pl_call_leave(&call);
}

int MPI_Grequest_complete(MPI_Request request)
{
    struct pl_call call = PL_CALL(MPI_Grequest_complete);
    struct pl_request *r = pl_arg_request(&call, request);
    if (!call.err && r->kind != PL_REQ_GENERALIZED)
        pl_call_error(&call, MPI_ERR_REQUEST, "request is not a generalized request");
    if (call.err)
        return pl_call_leave(&call);
    if (atomic_exchange(&r->done, 1) == GIVEN_UP) {
        call.err = pl_grequest_free(r);
        pl_handle_drop(r);
    }
    return pl_call_leave(&call);
}

PL_NAMES_REQUEST(PL_PMPI)
