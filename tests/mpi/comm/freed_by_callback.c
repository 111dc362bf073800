/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delete callbacks that end what is being ended: they free their communicator, finalize its session, or call
 * MPI_Finalize. The first two succeed, inside and outside; the last is an error, and the outer call goes on.
 */
#include "mtest.h"

static MPI_Session session;
static int calls;

static int free_own(MPI_Comm comm, int keyval, void *value, void *extra)
{
    MPI_Comm own = comm;
    (void)keyval, (void)value, (void)extra;
    calls++;
    CHECK_OK(MPI_Comm_free(&own));
    CHECK(own == MPI_COMM_NULL);
    return MPI_SUCCESS;
}

static int finalize_session(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    calls++;
    CHECK_OK(MPI_Session_finalize(&session));
    return MPI_SUCCESS;
}

static int finalize_world(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    calls++;
    CHECK_CLASS(MPI_Finalize(), MPI_ERR_OTHER);
    return MPI_SUCCESS;
}

static void attach(MPI_Comm comm, MPI_Comm_delete_attr_function *callback)
{
    int keyval;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, callback, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(comm, keyval, NULL));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Group group;
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    attach(comm, free_own);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(comm == MPI_COMM_NULL && calls == 1);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    attach(comm, free_own);
    CHECK_OK(MPI_Comm_disconnect(&comm));
    CHECK(comm == MPI_COMM_NULL && calls == 2);

    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "freed_by_callback", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    attach(comm, finalize_session);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(comm == MPI_COMM_NULL && session == MPI_SESSION_NULL && calls == 3);

    attach(MPI_COMM_SELF, finalize_world);
    CHECK_OK(MPI_Finalize());
    CHECK(calls == 4);
    MTEST_END;
}
