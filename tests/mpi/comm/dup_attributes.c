/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Duplicates carry the attributes that the copy callbacks allow (MPI-5.0 sections 7.4.2 and 7.7), with the value that
 * the callback returns; freeing deletes them. If a copy callback fails, the duplication fails with its code and gives
 * no communicator. The error handler is inherited.
 */
#include "mtest.h"

static int copies, deletes, fail_copy;

static int copy(MPI_Comm old, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)old, (void)keyval;
    copies++;
    if (fail_copy)
        return MPI_ERR_OTHER;
    *flag = extra != NULL;
    *(void **)out = (char *)in + 1;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    static char memory[8];
    int copied, dropped, plain, found = -1;
    void *value = NULL;
    MPI_Comm parent, child, other;
    MPI_Request request;
    MPI_Errhandler handler;

    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_create_keyval(copy, delete, &copied, memory));
    CHECK_OK(MPI_Comm_create_keyval(copy, delete, &dropped, NULL));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL));
    CHECK_OK(MPI_Comm_set_attr(parent, copied, memory));
    CHECK_OK(MPI_Comm_set_attr(parent, dropped, memory));
    CHECK_OK(MPI_Comm_set_attr(parent, plain, memory));

    for (int way = 0; way < 2; way++) {
        copies = deletes = 0;
        if (way == 0) {
            CHECK_OK(MPI_Comm_dup(parent, &child));
        } else {
            CHECK_OK(MPI_Comm_idup(parent, &child, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        CHECK(copies == 2);
        CHECK_OK(MPI_Comm_get_attr(child, copied, &value, &found));
        CHECK(found && value == memory + 1);
        CHECK_OK(MPI_Comm_get_attr(child, dropped, &value, &found));
        CHECK(!found);
        CHECK_OK(MPI_Comm_get_attr(child, plain, &value, &found));
        CHECK(found && value == memory);
        CHECK_OK(MPI_Comm_get_errhandler(child, &handler));
        CHECK(handler == MPI_ERRORS_RETURN);
        CHECK_OK(MPI_Comm_free(&child));
        CHECK(deletes == 1);
    }

    fail_copy = 1;
    deletes = 0;
    CHECK_CLASS(MPI_Comm_dup(parent, &other), MPI_ERR_OTHER);
    fail_copy = 0;
    CHECK(deletes == 0);
    CHECK_OK(MPI_Barrier(parent)); /* the parent works as before */

    CHECK_OK(MPI_Comm_split(parent, 0, 0, &child)); /* only duplicates have attributes */
    CHECK_OK(MPI_Comm_get_attr(child, plain, &value, &found));
    CHECK(!found);
    MPI_Comm_free(&child);
    MPI_Comm_free(&parent);
    CHECK(deletes == 2);
    MPI_Comm_free_keyval(&copied);
    MPI_Comm_free_keyval(&dropped);
    MPI_Comm_free_keyval(&plain);
    MTEST_END;
}
