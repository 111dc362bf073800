/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy callback that fails in one process only (MPI-5.0 section 7.4.2): nobody hangs, everybody learns that there is no
 * duplicate, and the parent works as before.
 */
#include "mtest.h"

static int copy(MPI_Comm old, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)old, (void)keyval, (void)extra;
    *flag = 1;
    *(void **)out = in;
    return mtest_rank == mtest_size - 1 ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm parent, child = MPI_COMM_NULL;
    int keyval, rc;
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(parent, keyval, NULL);
    rc = MPI_Comm_dup(parent, &child);
    if (mtest_rank == mtest_size - 1)
        CHECK_CLASS(rc, MPI_ERR_NO_MEM);
    else
        CHECK(rc != MPI_SUCCESS);

    /* Without waiting: who fails knows at once, the others when the request completes. */
    MPI_Request request = MPI_REQUEST_NULL;
    rc = MPI_Comm_idup(parent, &child, &request);
    if (mtest_rank == mtest_size - 1) {
        CHECK_CLASS(rc, MPI_ERR_NO_MEM);
    } else {
        CHECK_OK(rc);
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        CHECK_OK(MPI_Comm_free(&child));
    }
    CHECK_OK(MPI_Barrier(parent));

    MPI_Comm_delete_attr(parent, keyval);
    CHECK_OK(MPI_Comm_dup(parent, &child));
    CHECK_OK(MPI_Barrier(child));
    MPI_Comm_free(&child);
    MPI_Comm_free_keyval(&keyval);
    MPI_Comm_free(&parent);
    MTEST_END;
}
