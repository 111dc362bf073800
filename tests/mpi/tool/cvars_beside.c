/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Algorithms that are written while sessions live (MPI-5.0 section 15.3.6). A session opened before and one opened
 * after still do collectives together, although one process has closed everything meanwhile and the other has not.
 */
/* ranks: 2 3 */
#include "mtest.h"

static MPI_Session session;

static void open_session(void)
{
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
}

static void reduce(const char *tag)
{
    MPI_Group world;
    MPI_Comm comm;
    int own = 1, sum = 0;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    CHECK_OK(MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Comm_rank(comm, &mtest_rank));
    CHECK_OK(MPI_Comm_size(comm, &mtest_size));
    CHECK_OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == mtest_size);
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(void)
{
    int provided, index, count;
    MPI_T_cvar_handle handle;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_index("coll_allreduce", &index) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS);
    open_session();
    reduce("before");
    CHECK(MPI_T_cvar_write(handle, "recursive_doubling") == MPI_SUCCESS);
    if (mtest_rank == 0) { /* the configuration is read again here, and not elsewhere */
        CHECK_OK(MPI_Session_finalize(&session));
        open_session();
    }
    reduce("after");
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    MTEST_END;
}
