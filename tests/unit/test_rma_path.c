/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of RMA paths: which slots go together (path.h), and the path of a process to its own memory. */
#include "unit.h"

#include "core/rma/path_direct.h"
#include "core/rma/window.h"

START_TEST(tables)
{
    const struct pl_rma_path *const paths[] = { &pl_rma_path_direct, &pl_rma_path_cma, &pl_rma_path_message };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct pl_rma_path *path = paths[i];
        ck_assert(path->name && path->put && path->get && path->accumulate && path->lock && path->unlock);
        ck_assert_int_eq(!path->request_flush, !path->wait_flush);
        ck_assert_int_eq(path->by_target, path->wait_flush != NULL); /* what the target executes must be awaited */
        ck_assert_int_eq(path->by_target, path->try_lock == NULL);   /* the others have its control block mapped */
        ck_assert(!path->mapped || (!path->drain && !path->request_flush && !path->wait_local));
    }
}
END_TEST

START_TEST(own_memory)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Win handle;
    int memory = 0, value = 7;
    ck_assert_int_eq(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Group_from_session_pset(session, "mpi://SELF", &group), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_create_from_group(group, "path", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Group_free(&group), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, comm, &handle), MPI_SUCCESS);
    const struct pl_win *win = (struct pl_win *)handle;
    ck_assert_str_eq(win->targets[0].path->name, "direct");
    UNIT_CHECK(win->targets[0].memory == (char *)&memory);
    UNIT_CHECK(!win->paths.by_target && !win->paths.deferred);
    ck_assert_int_eq(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, handle), MPI_SUCCESS);
    ck_assert_int_eq(win->targets[0].locked, MPI_LOCK_EXCLUSIVE);
    ck_assert_int_eq(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, handle), MPI_SUCCESS);
    ck_assert_int_eq(memory, 7);
    ck_assert_int_eq(MPI_Win_unlock(0, handle), MPI_SUCCESS);
    ck_assert_int_eq(win->targets[0].locked, 0);
    ck_assert_int_eq(atomic_load(&pl_win_own_ctl(win)->lock), 0);
    ck_assert_int_eq(MPI_Win_free(&handle), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_free(&comm), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Session_finalize(&session), MPI_SUCCESS);
}
END_TEST

UNIT_MAIN("rma_path", tables, own_memory)
