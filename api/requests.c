/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion of many requests at once (MPI-5.0 sections 3.7.5 and 3.7.6).
 *
 * All of these check the whole array (requests_poll), wait for as many requests as they need, and then finish all
 * complete ones.
 */
#include "api/pmpi.h"
#include "api/request_parts.h"
#include "core/base/compiler.h"
#include "core/engine/wait.h"
#include "core/engine/wait_record.h"

/* pl_request_live() for an element. */
static struct pl_request *mpi_requests_live(struct pl_call *call, const MPI_Request requests[], int i)
{
    bool good = !call->err;
    struct pl_request *request = pl_request_live(call, requests[i]);
    if (!request && good && call->err)
        pl_call_element(call, "array_of_requests", i);
    return request;
}

/* Checks all requests and returns the number of complete ones, and of those that are held: functions that finish
 * requests report that as their outcome. Consecutive requests of one engine progress it once. */
static int requests_poll(struct pl_call *call, int count, const MPI_Request requests[], int *live, int *first)
{
    struct pl_engine *moved = NULL;
    int done = 0;
    *live = 0;
    *first = MPI_UNDEFINED;
    for (int i = 0; i < count; i++) {
        struct pl_request *request = mpi_requests_live(call, requests, i);
        if (!request)
            continue;
        (*live)++;
        if (!pl_request_done(request) && request->engine && request->engine != moved) {
            moved = request->engine;
            pl_request_test(request);
        }
        if (pl_request_done(request) || pl_request_seems_held(request)) {
            if (done++ == 0)
                *first = i;
        }
    }
    return done;
}

/* The engine to sleep in: that of the first incomplete request. */
static struct pl_engine *mpi_requests_engine_of(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++) {
        struct pl_request *request = requests[i] == MPI_REQUEST_NULL ? NULL : pl_object_find(PL_REQUEST, requests[i]);
        if (request && request->engine && !pl_request_done(request))
            return request->engine;
    }
    return NULL;
}

static struct pl_waiting requests_waiting(int count, const MPI_Request requests[])
{
    return (struct pl_waiting){
        .what = PL_WHAT_ANY, .tag = PL_ANY, .requests = (struct pl_request *const *)requests, .count = count
    };
}

/* Checks all requests once, for functions that do not wait. */
static int requests_test(struct pl_call *call, int count, const MPI_Request requests[], int *live, int *first)
{
    int done = requests_poll(call, count, requests, live, first);
    if (call->err || done == *live)
        return done;
    struct pl_engine *engine = mpi_requests_engine_of(count, requests);
    const struct pl_waiting what = requests_waiting(count, requests);
    if (engine)
        pl_wait_record_poll(engine, NULL, &(struct pl_wait){ .what = &what });
    pl_engine_polled(engine);
    return done;
}

/* Waits until `enough` requests are complete, or all active ones are, or an argument is bad. */
static int mpi_requests_wait_for(struct pl_call *call, int count, const MPI_Request requests[], int enough, int *live,
                                 int *first)
{
    const struct pl_waiting what = requests_waiting(count, requests);
    struct pl_wait wait = { .what = &what };
    for (int before = -1;;) {
        int done = requests_poll(call, count, requests, live, first);
        if (call->err || done >= enough || done == *live)
            return done;
        if (done != before)
            wait.rounds = 0;
        before = done;
        pl_engine_idle(mpi_requests_engine_of(count, requests), &wait);
    }
}

/* The error fields are written if and only if the call returns MPI_ERR_IN_STATUS: the first failure also sets those
 * before it. */
static void statuses_set_error(MPI_Status statuses[], int index, int rc, bool *failed)
{
    if (rc != MPI_SUCCESS && !*failed)
        for (int i = 0; i < index; i++)
            statuses[i].MPI_ERROR = MPI_SUCCESS;
    *failed |= rc != MPI_SUCCESS;
    if (*failed)
        statuses[index].MPI_ERROR = rc;
}

/* The first of several requests that failed. Its error goes to the error handler; the function itself returns
 * MPI_ERR_IN_STATUS. */
struct failure {
    int code;     /* MPI_SUCCESS: none has failed */
    void *blamed; /* the object whose error handler is invoked; retained; or NULL */
    char why[PL_DETAIL_MAX];
};

static void failure_init(struct failure *first)
{
    first->code = MPI_SUCCESS;
    first->blamed = NULL;
}

static void failure_note(struct failure *first, int code)
{
    int class;
    if (first->code || !code)
        return;
    first->code = code;
    strcpy(first->why, pl_error_detail(&class));
    if (class != code)
        first->why[0] = '\0';
}

/* Finishes the first requests, as long as they are sends and receives that have ended well; returns their number. */
static inline int requests_finish_plain(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int finished = 1, i = 0;
    for (; finished > 0 && i < count && requests[i] != MPI_REQUEST_NULL; i += finished) {
        MPI_Status *from = statuses == MPI_STATUSES_IGNORE ? statuses : &statuses[i];
        bool sent = pl_request_is_sent(requests[i]);
        if (sent)
            pl_request_sent_take(&requests[i], from);
        finished = sent ? 1 : pl_request_finish_plain(count - i, &requests[i], from);
    }
    return i;
}

/* Finishes all complete requests. */
static int requests_finish_all(struct pl_call *call, int count, MPI_Request requests[], int indices[],
                               MPI_Status statuses[], struct failure *first)
{
    int given = 0, twice = -1; /* the place of a request that has an earlier one, too */
    bool failed = false;
    for (int i = indices ? 0 : requests_finish_plain(count, requests, statuses); i < count; i++) {
        struct pl_request *request = pl_request_still_live(call, requests[i]);
        MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[indices ? given : i];
        if (!request) {
            if (call->err && twice < 0)
                pl_call_element(call, "array_of_requests", twice = i);
            if (!indices)
                pl_status_empty(status);
            continue;
        }
        bool held = !pl_request_done(request);
        if (held && indices && !pl_request_seems_held(request))
            continue;
        if ((held || request->outcome.error) && !first->blamed && request->comm) {
            pl_request_blame(call, request);
            first->blamed = pl_object_retain(call->object);
        }
        int rc = held ? pl_request_held_record(request) : pl_request_take(request, &requests[i], status);
        failure_note(first, rc);
        if (status)
            statuses_set_error(statuses, indices ? given : i, rc, &failed);
        if (indices)
            indices[given] = i;
        given++;
    }
    return given;
}

static int requests_leave(struct pl_call *call, const struct failure *first)
{
    if (pl_likely(first->code == MPI_SUCCESS))
        return pl_call_leave(call);
    call->err = first->code;
    if (first->why[0])
        pl_fail(first->code, "%s", first->why);
    else
        pl_error_clear();
    pl_call_leave_kept(call, first->blamed);
    return MPI_ERR_IN_STATUS;
}

/* The number of requests before the first one that needs a closer look; *late: the first incomplete one of these. */
static inline int requests_look(int count, const MPI_Request requests[], int *late)
{
    *late = count;
    for (int i = 0; i < count; i++) {
        if (requests[i] == MPI_REQUEST_NULL || pl_request_is_sent(requests[i]))
            continue;
        const struct pl_request *request = (struct pl_request *)pl_arena_find(PL_REQUEST, requests[i]);
        if (!request || atomic_load_explicit(&request->obj.handles, memory_order_acquire) <= 0)
            return i;
        if (!pl_request_done(request) && *late == count)
            *late = i;
    }
    return count;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct pl_call call = PL_CALL(MPI_Waitall);
    struct failure first;
    int late; /* the first incomplete request */
    failure_init(&first);
    pl_arg_requests(&call, count, requests, "count");
    int looked = requests_look(call.err ? 0 : count, requests, &late);
    if (looked < count && !call.err)
        mpi_requests_live(&call, requests, looked); /* says what is wrong with it */
    for (int i = late; i < count && !call.err; i++) {
        struct pl_request *request =
            requests[i] == MPI_REQUEST_NULL ? NULL : (struct pl_request *)requests[i]; /* checked above */
        if (request && !pl_request_done(request) && (!request->is.persistent || request->is.active)) {
            const struct pl_waiting all = requests_waiting(count, requests);
            pl_engine_wait_among(request->engine, request, &all);
        }
    }
    if (!call.err)
        requests_finish_all(&call, count, requests, NULL, statuses, &first);
    return requests_leave(&call, &first);
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct pl_call call = PL_CALL(MPI_Testall);
    struct failure failure;
    int live = 0, first, done = 0;
    failure_init(&failure);
    pl_arg_requests(&call, count, requests, "count");
    pl_arg_output(&call, flag, "flag");
    if (!call.err)
        done = requests_test(&call, count, requests, &live, &first);
    if (!call.err) {
        *flag = done == live;
        if (*flag)
            requests_finish_all(&call, count, requests, NULL, statuses, &failure);
    }
    return requests_leave(&call, &failure);
}

/* Finishes the first complete request, for Waitany and Testany. */
static int requests_finish_one(struct pl_call *call, MPI_Request requests[], int index, MPI_Status *status)
{
    struct pl_request *request = pl_request_live(call, requests[index]);
    if (pl_unlikely(request && !pl_request_done(request)))
        return pl_request_leave_held(call, request);
    return pl_request_leave(call, request, &requests[index], status);
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Waitany);
    int live;
    pl_arg_requests(&call, count, requests, "count");
    pl_arg_output(&call, index, "index");
    if (!call.err)
        mpi_requests_wait_for(&call, count, requests, 1, &live, index);
    if (!call.err && *index != MPI_UNDEFINED)
        return requests_finish_one(&call, requests, *index, status);
    if (!call.err)
        pl_status_empty(status);
    return pl_call_leave(&call);
}

/* Whether a request is complete. Without active requests the status is empty and *flag is 1. */
static bool mpi_requests_any(struct pl_call *call, int count, const MPI_Request requests[], int *index, int *flag,
                             MPI_Status *status)
{
    int live = 0;
    pl_arg_requests(call, count, requests, "count");
    pl_arg_output(call, index, "index");
    pl_arg_output(call, flag, "flag");
    if (!call->err)
        requests_test(call, count, requests, &live, index);
    if (call->err)
        return false;
    *flag = live == 0 || *index != MPI_UNDEFINED;
    if (live == 0)
        pl_status_empty(status);
    return *index != MPI_UNDEFINED;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Testany);
    if (mpi_requests_any(&call, count, requests, index, flag, status))
        return requests_finish_one(&call, requests, *index, status);
    return pl_call_leave(&call);
}

static int mpi_requests_some(struct pl_call *call, bool wait, int count, MPI_Request requests[], int *outcount,
                             int indices[], MPI_Status statuses[])
{
    struct failure failure;
    int live = 0, first;
    failure_init(&failure);
    pl_arg_requests(call, count, requests, "incount");
    pl_arg_output(call, outcount, "outcount");
    if (count > 0)
        pl_arg_output(call, indices, "array_of_indices");
    if (!call->err && wait)
        mpi_requests_wait_for(call, count, requests, 1, &live, &first);
    else if (!call->err)
        requests_test(call, count, requests, &live, &first);
    if (!call->err)
        *outcount = live == 0 ? MPI_UNDEFINED : requests_finish_all(call, count, requests, indices, statuses, &failure);
    return requests_leave(call, &failure);
}

int MPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    return mpi_requests_some(&(struct pl_call)PL_CALL(MPI_Waitsome), true, incount, requests, outcount, indices,
                             statuses);
}

int MPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    return mpi_requests_some(&(struct pl_call)PL_CALL(MPI_Testsome), false, incount, requests, outcount, indices,
                             statuses);
}

/* --- checking without finishing ----------------------------------------------------------------------------------- */

/* Shows a complete request as statuses[at]. */
static void requests_show(struct pl_request *request, MPI_Status statuses[], int at, struct failure *first)
{
    bool failed = first->code != MPI_SUCCESS;
    int rc = pl_request_done(request)
                 ? pl_request_show(request, statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[at])
                 : pl_request_held_record(request);
    if (statuses != MPI_STATUSES_IGNORE)
        statuses_set_error(statuses, at, rc, &failed);
    failure_note(first, rc);
}

int MPI_Request_get_status_any(int count, const MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_Request_get_status_any);
    if (mpi_requests_any(&call, count, requests, index, flag, status)) {
        struct pl_request *request = pl_object_find(PL_REQUEST, requests[*index]);
        if (!pl_request_done(request))
            return pl_request_leave_held(&call, request);
        call.err = pl_request_show(request, status);
    }
    return pl_call_leave(&call);
}

int MPI_Request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct pl_call call = PL_CALL(MPI_Request_get_status_all);
    struct failure failure;
    int live = 0, first, done = 0;
    failure_init(&failure);
    pl_arg_requests(&call, count, requests, "count");
    pl_arg_output(&call, flag, "flag");
    if (!call.err)
        done = requests_test(&call, count, requests, &live, &first);
    if (call.err)
        return pl_call_leave(&call);
    *flag = done == live;
    for (int i = 0; *flag && i < count; i++) {
        struct pl_request *request = pl_request_live(&call, requests[i]);
        if (request)
            requests_show(request, statuses, i, &failure);
        else
            pl_status_empty(statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
    }
    return requests_leave(&call, &failure);
}

int MPI_Request_get_status_some(int incount, const MPI_Request requests[], int *outcount, int indices[],
                                MPI_Status statuses[])
{
    struct pl_call call = PL_CALL(MPI_Request_get_status_some);
    struct failure failure;
    int live = 0, first, given = 0;
    failure_init(&failure);
    pl_arg_requests(&call, incount, requests, "incount");
    pl_arg_output(&call, outcount, "outcount");
    if (incount > 0)
        pl_arg_output(&call, indices, "array_of_indices");
    if (!call.err)
        requests_test(&call, incount, requests, &live, &first);
    if (call.err)
        return pl_call_leave(&call);
    for (int i = 0; i < incount; i++) {
        struct pl_request *request = pl_request_live(&call, requests[i]);
        if (!request || (!pl_request_done(request) && !pl_request_seems_held(request)))
            continue;
        requests_show(request, statuses, given, &failure);
        indices[given++] = i;
    }
    *outcount = live == 0 ? MPI_UNDEFINED : given;
    return requests_leave(&call, &failure);
}

PL_NAMES_REQUESTS(PL_PMPI)
