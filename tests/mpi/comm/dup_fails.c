/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy callback that fails in one process only (MPI-5.0 section 7.4.2): no process hangs, every member learns that
 * there is no duplicate, and the parent works as before.
 */
#include "mtest.h"

static int fails_with;

static int copy(MPI_Comm old, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)old, (void)keyval, (void)extra;
    *flag = 1;
    *(void **)out = in;
    return mtest_rank == mtest_size - 1 ? fails_with : MPI_SUCCESS;
}

static void blocking(MPI_Comm parent)
{
    MPI_Comm child = MPI_COMM_NULL;
    int rc = MPI_Comm_dup(parent, &child);
    CHECK(mtest_rank == mtest_size - 1 ? rc == fails_with : rc != MPI_SUCCESS);
    CHECK(child == MPI_COMM_NULL);
}

/* Nonblocking: the failing process knows at once, the others when the request completes. */
static void nonblocking(MPI_Comm parent)
{
    MPI_Comm child = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int rc = MPI_Comm_idup(parent, &child, &request);
    if (mtest_rank == mtest_size - 1) {
        CHECK(rc == fails_with);
        return;
    }
    char text[MPI_MAX_ERROR_STRING];
    int length;
    CHECK_OK(rc);
    rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_OK(MPI_Error_string(rc, text, &length));
    CHECK(rc != MPI_SUCCESS && strstr(text, "failed on another process"));
    CHECK_OK(MPI_Comm_free(&child));
}

int main(int argc, char **argv)
{
    static const int codes[] = { MPI_ERR_NO_MEM, -7, -1 }; /* any number but MPI_SUCCESS is a failure */
    MTEST_INIT(argc, argv);
    MPI_Comm parent, child;
    int keyval;
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(parent, keyval, NULL);
    for (int i = 0; i < 3; i++) {
        fails_with = codes[i];
        blocking(parent);
        nonblocking(parent);
        CHECK_OK(MPI_Barrier(parent));
    }
    MPI_Comm_delete_attr(parent, keyval);
    CHECK_OK(MPI_Comm_dup(parent, &child));
    CHECK_OK(MPI_Barrier(child));
    MPI_Comm_free(&child);
    MPI_Comm_free_keyval(&keyval);
    MPI_Comm_free(&parent);
    MTEST_END;
}
