/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests where memory is short: the request that all complete sends share belongs to no call that fails. */
#include "unit.h"

#include "core/base/memory.h"
#include "core/engine/request.h"

enum { MOST = 3000, LONG = 20000 };

static char out[LONG], in[LONG];
static MPI_Request requests[MOST];

START_TEST(sends)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int pending = 0;
    ck_assert_int_eq(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Group_from_session_pset(session, "mpi://SELF", &group), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_create_from_group(group, "r", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
    MPI_Group_free(&group);
    ck_assert_ptr_nonnull(pl_request_sent());
    pl_memory_fail_at(1);
    while (pending < MOST && MPI_Isend(out, LONG, MPI_CHAR, 0, 1, comm, &requests[pending]) == MPI_SUCCESS)
        pending++;
    ck_assert(pl_memory_failed() && pending < MOST);
    pl_memory_fail_at(0);
    ck_assert_int_eq(pl_request_sent()->obj.refs, 1);
    for (int i = 0; i < pending; i++)
        ck_assert_int_eq(MPI_Recv(in, LONG, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}
END_TEST

UNIT_MAIN("request", sends)
