/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion of requests (MPI-5.0 sections 3.7 to 3.9) and generalized requests (13.2).
 *
 * All Wait and Test functions are made of the same three parts: poll() looks whether a request is done and makes
 * progress when not, finish() takes the outcome and lets go of the request, and the loop between them.
 */
#include "api/call.h"
#include "api/pmpi.h"
#include "core/p2p.h"
#include "core/report.h"
#include "core/schedule.h"
#include "core/status.h"

/* `done` of a generalized request that was freed before it was completed. */
enum { GIVEN_UP = 2 };

/* --- the three parts ------------------------------------------------------------------------------------------------- */

/* The request behind a handle. NULL without an error: there is nothing to wait for (null handle, inactive). */
static inline struct pl_request *active(struct pl_call *call, MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL || call->err)
        return NULL;
    struct pl_request *request = pl_arg_request(call, handle);
    return request && (!request->persistent || request->active) ? request : NULL;
}

/* The same for a handle that this call has looked at before: since then it can only have gone, being there twice. */
static inline struct pl_request *active_still(struct pl_call *call, MPI_Request handle)
{
    struct pl_request *request = (struct pl_request *)handle;
    if (handle == MPI_REQUEST_NULL || atomic_load_explicit(&request->obj.handles, memory_order_relaxed) <= 0)
        return active(call, handle);
    return !request->persistent || request->active ? request : NULL;
}

/* Whose error handler is invoked for a request that failed. */
static void blame(struct pl_call *call, const struct pl_request *request)
{
    if (request->comm && !call->object) {
        call->kind = PL_COMM;
        call->object = request->comm;
    }
}

/* The outcome, as the status. Generalized requests ask the user. */
static int outcome_of(struct pl_request *request, MPI_Status *status)
{
    MPI_Status own;
    if (request->kind != PL_REQ_GENERALIZED) {
        pl_status_set(status, &request->outcome);
        return request->outcome.error ? pl_request_report(request) : MPI_SUCCESS;
    }
    MPI_Status *to = status ? status : &own;
    pl_status_empty(to);
    return request->grequest.query(request->grequest.state, to);
}

/* Lets go of a completed request and of its handle. */
static int release(struct pl_request *request, MPI_Request *handle)
{
    int rc = MPI_SUCCESS;
    if (request->persistent) {
        request->active = false;
        return MPI_SUCCESS;
    }
    if (request->kind == PL_REQ_GENERALIZED)
        rc = request->grequest.free(request->grequest.state);
    pl_request_retire(request);
    *handle = MPI_REQUEST_NULL;
    return rc;
}

static int finish(struct pl_request *request, MPI_Request *handle, MPI_Status *status)
{
    int rc = outcome_of(request, status);
    int freed = release(request, handle);
    return rc ? rc : freed;
}

/* --- one request ------------------------------------------------------------------------------------------------------- */

/* The communicator of a failed request must live until its handler was invoked. */
static int leave_one(struct pl_call *call, struct pl_request *request, MPI_Request *handle, MPI_Status *status)
{
    struct pl_comm *comm = request->comm && request->outcome.error ? pl_object_retain(request->comm) : NULL;
    blame(call, request);
    call->err = finish(request, handle, status);
    int rc = pl_call_leave(call);
    pl_object_release(comm);
    return rc;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Wait);
    pl_arg_output(&call, request, "request");
    struct pl_request *r = call.err ? NULL : active(&call, *request);
    if (!r) {
        if (!call.err)
            pl_status_empty(status);
        return pl_call_leave(&call);
    }
    if (!pl_request_done(r))
        pl_engine_wait(r->engine, r);
    return leave_one(&call, r, request, status);
}

/* In vain: perhaps again and again, and somebody wants to know for what. */
static bool test(struct pl_request *request)
{
    bool done = pl_request_test(request);
    if (!done && request->engine) {
        pl_report_poll(request->engine, request, &(struct pl_wait){ 0 });
        pl_engine_polled(request->engine);
    }
    return done;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Test);
    pl_arg_output(&call, request, "request");
    pl_arg_output(&call, flag, "flag");
    struct pl_request *r = call.err ? NULL : active(&call, *request);
    if (!r) {
        if (!call.err) {
            *flag = 1;
            pl_status_empty(status);
        }
        return pl_call_leave(&call);
    }
    *flag = test(r);
    return *flag ? leave_one(&call, r, request, status) : MPI_SUCCESS;
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Request_get_status);
    pl_arg_output(&call, flag, "flag");
    struct pl_request *r = active(&call, request);
    if (call.err)
        return pl_call_leave(&call);
    *flag = !r || test(r);
    if (!r)
        pl_status_empty(status);
    else if (*flag)
        outcome_of(r, status);
    return MPI_SUCCESS;
}

int MPI_Request_free(MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Request_free);
    pl_arg_output(&call, request, "request");
    struct pl_request *r = call.err ? NULL : pl_arg_request(&call, *request);
    if (call.err)
        return pl_call_leave(&call);
    *request = MPI_REQUEST_NULL;
    if (r->kind == PL_REQ_GENERALIZED && atomic_compare_exchange_strong(&r->done, &(int){ 0 }, GIVEN_UP))
        return MPI_SUCCESS; /* the user's MPI_Grequest_complete() still names it, and frees it */
    if (r->kind == PL_REQ_GENERALIZED)
        call.err = r->grequest.free(r->grequest.state);
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
    blame(&call, r);
    if (r->kind == PL_REQ_GENERALIZED)
        call.err = r->grequest.cancel(r->grequest.state, pl_request_done(r));
    else if (r->kind == PL_REQ_SEND || r->kind == PL_REQ_RECV)
        call.err = !r->active                         ? pl_fail(MPI_ERR_REQUEST, "the request is not active")
                   : r->engine && !pl_request_done(r) ? pl_cancel(r)
                                                      : MPI_SUCCESS;
    else if (r->kind != PL_REQ_COMPLETE)
        pl_call_error(&call, MPI_ERR_REQUEST, "only point-to-point and generalized requests can be cancelled");
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

/* --- starting ------------------------------------------------------------------------------------------------------- */

static int start(struct pl_call *call, MPI_Request handle)
{
    struct pl_request *request = pl_arg_request(call, handle);
    if (!request)
        return call->err;
    blame(call, request);
    if (!request->persistent || request->active)
        return pl_fail(MPI_ERR_REQUEST,
                       request->persistent ? "the request is active already" : "the request is not persistent");
    if (request->kind != PL_REQ_COLL && request->kind != PL_REQ_PARTITIONED)
        return pl_p2p_start(request);
    int rc = request->coll.restart(request);
    request->active = rc == MPI_SUCCESS;
    return rc;
}

int MPI_Start(MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Start);
    pl_arg_output(&call, request, "request");
    if (!call.err)
        call.err = start(&call, *request);
    return pl_call_leave(&call);
}

static void check_array(struct pl_call *call, int count, const void *requests)
{
    if (count < 0)
        pl_call_error(call, MPI_ERR_ARG, "count is %d, a number of requests is 0 or more", count);
    if (count > 0)
        pl_arg_output(call, requests, "array_of_requests");
}

int MPI_Startall(int count, MPI_Request requests[])
{
    struct pl_call call = PL_CALL(MPI_Startall);
    check_array(&call, count, requests);
    for (int i = 0; i < count && !call.err; i++)
        call.err = start(&call, requests[i]);
    return pl_call_leave(&call);
}

/* --- arrays ----------------------------------------------------------------------------------------------------------- */

/* One look at all requests; returns how many are done and not yet finished. Engines are moved once each run of requests. */
static int count_done(struct pl_call *call, int count, const MPI_Request requests[], int *live, int *first)
{
    struct pl_engine *moved = NULL;
    int done = 0;
    *live = 0;
    *first = MPI_UNDEFINED;
    for (int i = 0; i < count; i++) {
        struct pl_request *request = active(call, requests[i]);
        if (!request)
            continue;
        (*live)++;
        if (!pl_request_done(request) && request->engine && request->engine != moved) {
            moved = request->engine;
            pl_request_test(request);
        }
        if (pl_request_done(request)) {
            if (done++ == 0)
                *first = i;
        }
    }
    return done;
}

/* The engine to sleep in: that of the first unfinished request. */
static struct pl_engine *engine_of(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++) {
        struct pl_request *request = requests[i] == MPI_REQUEST_NULL ? NULL : pl_object_find(PL_REQUEST, requests[i]);
        if (request && request->engine && !pl_request_done(request))
            return request->engine;
    }
    return NULL;
}

static struct pl_waiting some_of(int count, const MPI_Request requests[])
{
    return (struct pl_waiting){
        .what = PL_WHAT_ANY, .tag = PL_ANY, .requests = (struct pl_request *const *)requests, .count = count
    };
}

/* One look, for those that do not wait. */
static int test_all(struct pl_call *call, int count, const MPI_Request requests[], int *live, int *first)
{
    int done = count_done(call, count, requests, live, first);
    struct pl_engine *engine = !call->err && done < *live ? engine_of(count, requests) : NULL;
    if (engine) {
        const struct pl_waiting what = some_of(count, requests);
        pl_report_poll(engine, NULL, &(struct pl_wait){ .what = &what });
        pl_engine_polled(engine);
    }
    return done;
}

/* Until `enough` are done (or all that live, or an argument is bad). */
static int wait_for(struct pl_call *call, int count, const MPI_Request requests[], int enough, int *live, int *first)
{
    const struct pl_waiting what = some_of(count, requests);
    struct pl_wait wait = { .what = &what };
    for (int before = -1;;) {
        int done = count_done(call, count, requests, live, first);
        if (call->err || done >= enough || done == *live)
            return done;
        if (done != before)
            wait.rounds = 0;
        before = done;
        pl_engine_idle(engine_of(count, requests), &wait);
    }
}

/* The error fields are written if, and only if, the call returns MPI_ERR_IN_STATUS: from the first failure on, and then
 * also those before it. */
static void set_error(MPI_Status statuses[], int index, int rc, bool *failed)
{
    if (rc != MPI_SUCCESS && !*failed)
        for (int i = 0; i < index; i++)
            statuses[i].MPI_ERROR = MPI_SUCCESS;
    *failed |= rc != MPI_SUCCESS;
    if (*failed)
        statuses[index].MPI_ERROR = rc;
}

/* The first of several requests that failed: what its error handler is told, while the function itself returns
 * MPI_ERR_IN_STATUS. */
struct failure {
    int code;             /* MPI_SUCCESS: there is none */
    struct pl_comm *comm; /* retained; NULL: none */
    char why[PL_DETAIL_MAX];
};

static void no_failure(struct failure *first)
{
    first->code = MPI_SUCCESS;
    first->comm = NULL;
}

static void note_failure(struct failure *first, int code)
{
    int class;
    if (first->code || !code)
        return;
    first->code = code;
    strcpy(first->why, pl_error_detail(&class));
    if (class != code)
        first->why[0] = '\0';
}

/* Finishes all that are done. */
static int finish_all(struct pl_call *call, int count, MPI_Request requests[], int indices[], MPI_Status statuses[],
                      struct failure *first)
{
    int given = 0;
    bool failed = false;
    for (int i = 0; i < count; i++) {
        struct pl_request *request = active_still(call, requests[i]);
        MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[indices ? given : i];
        if (!request) {
            if (!indices)
                pl_status_empty(status);
            continue;
        }
        if (!pl_request_done(request))
            continue;
        if (request->outcome.error && !first->comm && request->comm) {
            first->comm = pl_object_retain(request->comm);
            blame(call, request);
        }
        int rc = finish(request, &requests[i], status);
        note_failure(first, rc);
        if (status)
            set_error(statuses, indices ? given : i, rc, &failed);
        if (indices)
            indices[given] = i;
        given++;
    }
    return given;
}

static int leave_all(struct pl_call *call, const struct failure *first)
{
    if (__builtin_expect(first->code == MPI_SUCCESS, 1))
        return pl_call_leave(call);
    call->err = first->code;
    if (first->why[0])
        pl_fail(first->code, "%s", first->why);
    else
        pl_error_clear();
    pl_call_leave(call);
    pl_object_release(first->comm);
    return MPI_ERR_IN_STATUS;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct pl_call call = PL_CALL(MPI_Waitall);
    struct failure first;
    no_failure(&first);
    check_array(&call, count, requests);
    for (int i = 0; i < count && !call.err; i++)
        active(&call, requests[i]);
    for (int i = 0; i < count && !call.err; i++) {
        struct pl_request *request =
            requests[i] == MPI_REQUEST_NULL ? NULL : (struct pl_request *)requests[i]; /* a good one: looked at above */
        if (request && !pl_request_done(request) && (!request->persistent || request->active)) {
            const struct pl_waiting all = some_of(count, requests);
            pl_engine_wait_among(request->engine, request, &all);
        }
    }
    if (!call.err)
        finish_all(&call, count, requests, NULL, statuses, &first);
    return leave_all(&call, &first);
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct pl_call call = PL_CALL(MPI_Testall);
    struct failure failure;
    int live = 0, first, done = 0;
    no_failure(&failure);
    check_array(&call, count, requests);
    pl_arg_output(&call, flag, "flag");
    if (!call.err)
        done = test_all(&call, count, requests, &live, &first);
    if (!call.err) {
        *flag = done == live;
        if (*flag)
            finish_all(&call, count, requests, NULL, statuses, &failure);
    }
    return leave_all(&call, &failure);
}

/* Finishes the first that is done, for Waitany and Testany. */
static int finish_one(struct pl_call *call, MPI_Request requests[], int index, MPI_Status *status)
{
    struct pl_request *request = active(call, requests[index]);
    return leave_one(call, request, &requests[index], status);
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Waitany);
    int live;
    check_array(&call, count, requests);
    pl_arg_output(&call, index, "index");
    if (!call.err)
        wait_for(&call, count, requests, 1, &live, index);
    if (!call.err && *index != MPI_UNDEFINED)
        return finish_one(&call, requests, *index, status);
    if (!call.err)
        pl_status_empty(status);
    return pl_call_leave(&call);
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Testany);
    int live = 0;
    check_array(&call, count, requests);
    pl_arg_output(&call, index, "index");
    pl_arg_output(&call, flag, "flag");
    if (!call.err)
        test_all(&call, count, requests, &live, index);
    if (call.err)
        return pl_call_leave(&call);
    *flag = live == 0 || *index != MPI_UNDEFINED;
    if (*index != MPI_UNDEFINED)
        return finish_one(&call, requests, *index, status);
    if (*flag)
        pl_status_empty(status);
    return MPI_SUCCESS;
}

static int some(struct pl_call *call, bool wait, int count, MPI_Request requests[], int *outcount, int indices[],
                MPI_Status statuses[])
{
    struct failure failure;
    int live = 0, first;
    no_failure(&failure);
    check_array(call, count, requests);
    pl_arg_output(call, outcount, "outcount");
    if (count > 0)
        pl_arg_output(call, indices, "array_of_indices");
    if (!call->err && wait)
        wait_for(call, count, requests, 1, &live, &first);
    else if (!call->err)
        test_all(call, count, requests, &live, &first);
    if (!call->err)
        *outcount = live == 0 ? MPI_UNDEFINED : finish_all(call, count, requests, indices, statuses, &failure);
    return leave_all(call, &failure);
}

int MPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    return some(&(struct pl_call)PL_CALL(MPI_Waitsome), true, incount, requests, outcount, indices, statuses);
}

int MPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    return some(&(struct pl_call)PL_CALL(MPI_Testsome), false, incount, requests, outcount, indices, statuses);
}

/* --- looking without finishing ---------------------------------------------------------------------------------------- */

int MPI_Request_get_status_any(int count, const MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Request_get_status_any);
    int live = 0;
    check_array(&call, count, requests);
    pl_arg_output(&call, index, "index");
    pl_arg_output(&call, flag, "flag");
    if (!call.err)
        test_all(&call, count, requests, &live, index);
    if (call.err)
        return pl_call_leave(&call);
    *flag = live == 0 || *index != MPI_UNDEFINED;
    if (*index != MPI_UNDEFINED)
        outcome_of(pl_object_find(PL_REQUEST, requests[*index]), status);
    else if (*flag)
        pl_status_empty(status);
    return MPI_SUCCESS;
}

int MPI_Request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct pl_call call = PL_CALL(MPI_Request_get_status_all);
    int live = 0, first, done = 0;
    check_array(&call, count, requests);
    pl_arg_output(&call, flag, "flag");
    if (!call.err)
        done = test_all(&call, count, requests, &live, &first);
    if (call.err)
        return pl_call_leave(&call);
    *flag = done == live;
    for (int i = 0; *flag && i < count && statuses != MPI_STATUSES_IGNORE; i++) {
        struct pl_request *request = active(&call, requests[i]);
        if (request)
            outcome_of(request, &statuses[i]);
        else
            pl_status_empty(&statuses[i]);
    }
    return MPI_SUCCESS;
}

int MPI_Request_get_status_some(int incount, const MPI_Request requests[], int *outcount, int indices[],
                                MPI_Status statuses[])
{
    struct pl_call call = PL_CALL(MPI_Request_get_status_some);
    int live = 0, first, given = 0;
    check_array(&call, incount, requests);
    pl_arg_output(&call, outcount, "outcount");
    if (incount > 0)
        pl_arg_output(&call, indices, "array_of_indices");
    if (!call.err)
        test_all(&call, incount, requests, &live, &first);
    if (call.err)
        return pl_call_leave(&call);
    for (int i = 0; i < incount; i++) {
        struct pl_request *request = active(&call, requests[i]);
        if (!request || !pl_request_done(request))
            continue;
        if (statuses != MPI_STATUSES_IGNORE)
            outcome_of(request, &statuses[given]);
        indices[given++] = i;
    }
    *outcount = live == 0 ? MPI_UNDEFINED : given;
    return MPI_SUCCESS;
}

/* --- generalized requests ------------------------------------------------------------------------------------------------ */

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
        made->active = true;
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
        call.err = r->grequest.free(r->grequest.state);
        pl_handle_drop(r);
    }
    return pl_call_leave(&call);
}

PL_NAMES_REQUEST(PL_PMPI)
