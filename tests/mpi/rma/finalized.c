/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* All ranks but one finalize while that one still has a window with them: its waits for a target end with an error. */
#include "mtest.h"

/* Under some launchers a process learns only of the end of processes that it has communicated with. */
static void meet(MPI_Win win)
{
    int word = -1, last = mtest_size - 1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win));
    CHECK_OK(MPI_Get(&word, 1, MPI_INT, last, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_unlock(last, win));
    CHECK(word == 70 + last);
}

static void stay(MPI_Win win)
{
    int word = -1, last = mtest_size - 1;
    MPI_Group world, target;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_incl(world, 1, &last, &target));
    CHECK_CLASS(MPI_Win_start(target, 0, win), MPI_ERR_PROC_ABORTED);
    int rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win);
    if (rc == MPI_SUCCESS) { /* through shared memory; the process's own memory goes with it, a little later */
        CHECK_OK(MPI_Get(&word, 1, MPI_INT, last, 0, 1, MPI_INT, win));
        rc = MPI_Win_unlock(last, win);
    }
    CHECK_CLASS(rc, word == 70 + last ? MPI_SUCCESS : MPI_ERR_PROC_ABORTED);
    CHECK(word == -1 || word == 70 + last);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win)); /* this process's own memory is unchanged */
    CHECK_OK(MPI_Get(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK(word == 70);
    CHECK_OK(MPI_Win_post(target, 0, win));
    CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_PROC_ABORTED);
    CHECK_OK(MPI_Group_free(&target));
    CHECK_OK(MPI_Group_free(&world));
}

int main(int argc, char **argv)
{
    static int memory;
    MPI_Win win;
    MTEST_INIT(argc, argv);
    memory = 70 + mtest_rank;
    CHECK_OK(MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* all ranks have set their word */
    if (mtest_rank == 0)
        meet(win);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mtest_rank == 0)
        stay(win);
    MPI_Finalize();
    MTEST_END;
}
