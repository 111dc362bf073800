/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes of communicators and windows that are left when their session is finalized: their delete callbacks are not
 * called, since these objects were not freed (MPI-5.0 section 11.3.1). They are called for those that are freed before.
 */
#include "mtest.h"

static int comm_deletes, win_deletes;

static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    comm_deletes++;
    return MPI_SUCCESS;
}

static int delete_win(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)win, (void)keyval, (void)value, (void)extra;
    win_deletes++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int of_comm, of_win;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm freed, left;
    MPI_Win win;
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &of_comm, NULL));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &of_win, NULL));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "attributes_left", MPI_INFO_NULL, MPI_ERRORS_RETURN, &left));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_dup(left, &freed));
    CHECK_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, left, &win));
    CHECK_OK(MPI_Comm_set_attr(left, of_comm, NULL));
    CHECK_OK(MPI_Comm_set_attr(freed, of_comm, NULL));
    CHECK_OK(MPI_Win_set_attr(win, of_win, NULL));
    CHECK_OK(MPI_Comm_free(&freed));
    CHECK(comm_deletes == 1);
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK(comm_deletes == 1 && win_deletes == 0);

    CHECK_OK(MPI_Comm_free_keyval(&of_comm));
    CHECK_OK(MPI_Win_free_keyval(&of_win));
    MTEST_END;
}
