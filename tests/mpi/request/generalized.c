/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generalized requests (MPI-5.0 section 13.2) are completed by the user and waited for like any other. The query
 * function sets the status except its error. The free function runs once when the request is completed and freed, in
 * either order. The cancel function learns whether the request was complete. Their error codes are those of the call:
 * of the last one that fails, in the status where the call has several, and of MPI_Request_get_status as well.
 */
#include "mtest.h"

struct job {
    int queried, freed, cancelled, complete_at_cancel;
    int tag, query_code, free_code;
};

static int query(void *state, MPI_Status *status)
{
    struct job *job = state;
    job->queried++;
    MPI_Status_set_elements(status, MPI_INT, 7);
    MPI_Status_set_cancelled(status, job->cancelled);
    status->MPI_SOURCE = 3;
    status->MPI_TAG = job->tag;
    return job->query_code;
}

static int release(void *state)
{
    ((struct job *)state)->freed++;
    return ((struct job *)state)->free_code;
}

static int cancel(void *state, int complete)
{
    ((struct job *)state)->cancelled = 1;
    ((struct job *)state)->complete_at_cancel = complete;
    return MPI_SUCCESS;
}

static MPI_Request start(struct job *job)
{
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Grequest_start(query, release, cancel, job, &request));
    CHECK(request != MPI_REQUEST_NULL);
    return request;
}

static void test_then_wait(void)
{
    struct job job = { .tag = 40 };
    MPI_Request request = start(&job), copy = request;
    MPI_Status status;
    int flag = 1, count, cancelled = 1;
    CHECK_OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag && job.queried == 0);
    CHECK_OK(MPI_Grequest_complete(copy));
    CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(flag && status.MPI_TAG == 40 && job.freed == 0);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(status.MPI_SOURCE == 3 && status.MPI_TAG == 40 && count == 7 && !cancelled);
    CHECK(request == MPI_REQUEST_NULL && job.freed == 1);
}

static void freed_before_complete(void)
{
    struct job job = { 0 };
    MPI_Request request = start(&job), copy = request;
    CHECK_OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL && job.freed == 0);
    CHECK_OK(MPI_Grequest_complete(copy));
    CHECK(job.freed == 1 && job.queried == 0);
}

static void freed_after_complete(void)
{
    struct job job = { 0 };
    MPI_Request request = start(&job);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK(job.freed == 1);
}

static void cancelled(void)
{
    struct job job = { .tag = 1 };
    MPI_Request request = start(&job);
    MPI_Status status;
    int flag = 0;
    CHECK_OK(MPI_Cancel(&request));
    CHECK(job.cancelled && !job.complete_at_cancel);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK(job.complete_at_cancel);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
}

/* Among real communication; one without a status still runs its query function. */
static void mixed(void)
{
    struct job job = { .tag = 12 }, quiet = { .tag = 13 };
    int in = -1, out = 5;
    MPI_Request requests[4] = { start(&job), MPI_REQUEST_NULL, start(&quiet), MPI_REQUEST_NULL };
    MPI_Status statuses[4];
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, mtest_rank, 1, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Isend(&out, 1, MPI_INT, mtest_rank, 1, MPI_COMM_WORLD, &requests[3]));
    CHECK_OK(MPI_Grequest_complete(requests[0]));
    CHECK_OK(MPI_Grequest_complete(requests[2]));
    CHECK_OK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
    CHECK(quiet.queried >= 1 && quiet.freed == 1);
    CHECK_OK(MPI_Waitall(4, requests, statuses));
    CHECK(in == 5 && statuses[0].MPI_TAG == 12 && statuses[1].MPI_TAG == 1 && job.freed == 1);
}

static void failing(void)
{
    struct job bad_query = { .query_code = MPI_ERR_OTHER }, bad_free = { .free_code = MPI_ERR_NO_MEM };
    MPI_Request request = start(&bad_query);
    CHECK_OK(MPI_Grequest_complete(request));
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE), length;
    char text[MPI_MAX_ERROR_STRING];
    CHECK_CLASS(code, MPI_ERR_OTHER);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strstr(text, "the query function of the generalized request returned"));
    request = start(&bad_free);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_MEM);
    MPI_Request freed = request = start(&bad_free);
    CHECK_OK(MPI_Request_free(&freed));
    CHECK_CLASS(MPI_Grequest_complete(request), MPI_ERR_NO_MEM); /* it calls the function that fails */
}

/* Both functions fail: the free function is the last one. */
static void failing_twice(void)
{
    struct job bad = { .query_code = MPI_ERR_OTHER, .free_code = MPI_ERR_NO_MEM };
    MPI_Request requests[2] = { start(&bad), MPI_REQUEST_NULL };
    MPI_Status statuses[2];
    int index = -1;
    CHECK_OK(MPI_Grequest_complete(requests[0]));
    CHECK_CLASS(MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE), MPI_ERR_NO_MEM);
    requests[0] = start(&bad);
    CHECK_OK(MPI_Grequest_complete(requests[0]));
    CHECK_CLASS(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK(statuses[0].MPI_ERROR == MPI_ERR_NO_MEM && statuses[1].MPI_ERROR == MPI_SUCCESS);
}

static void failing_when_asked(void)
{
    struct job bad = { .tag = 5, .query_code = MPI_ERR_OTHER }, good = { .tag = 6 };
    MPI_Request requests[2] = { start(&good), start(&bad) };
    MPI_Status statuses[2];
    int flag = 0, count = -1, indices[2];
    CHECK_OK(MPI_Grequest_complete(requests[0]));
    CHECK_OK(MPI_Grequest_complete(requests[1]));
    CHECK_CLASS(MPI_Request_get_status(requests[1], &flag, &statuses[1]), MPI_ERR_OTHER);
    CHECK(flag && statuses[1].MPI_TAG == 5);
    CHECK_CLASS(MPI_Request_get_status_any(1, &requests[1], &indices[0], &flag, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_Request_get_status_all(2, requests, &flag, statuses), MPI_ERR_IN_STATUS);
    CHECK(flag && statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[1].MPI_ERROR == MPI_ERR_OTHER);
    CHECK_CLASS(MPI_Request_get_status_all(2, requests, &flag, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    CHECK_CLASS(MPI_Request_get_status_some(2, requests, &count, indices, statuses), MPI_ERR_IN_STATUS);
    CHECK(count == 2 && statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[1].MPI_ERROR == MPI_ERR_OTHER);
    CHECK(bad.freed == 0 && good.freed == 0);
    CHECK_CLASS(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK(bad.freed == 1 && good.freed == 1);
}

/* One request alone leaves the error field as it was (MPI-5.0 section 3.2.5). */
static void error_field(void)
{
    struct job job = { .tag = 8 };
    MPI_Request request = start(&job);
    MPI_Status status = { .MPI_ERROR = MPI_ERR_TAG };
    int flag = 0;
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(flag && status.MPI_TAG == 8 && status.MPI_ERROR == MPI_ERR_TAG);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(status.MPI_TAG == 8 && status.MPI_ERROR == MPI_ERR_TAG);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    test_then_wait();
    freed_before_complete();
    freed_after_complete();
    cancelled();
    mixed();
    failing();
    failing_twice();
    failing_when_asked();
    error_field();
    MTEST_END;
}
