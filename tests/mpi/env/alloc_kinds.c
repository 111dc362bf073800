/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory allocation kinds that the launcher's user asks for (MPI-5.0 section 11.4.3; mpiexec -memory-alloc-kinds).
 * MPI_INFO_ENV has the request. The World has what was granted; so has a session unless its info says otherwise.
 */
#include "mtest.h"

static void check(MPI_Info info, const char *wanted)
{
    char text[MPI_MAX_INFO_VAL] = "";
    int capacity = sizeof text, flag = 0;
    CHECK_OK(MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &capacity, text, &flag));
    CHECK(flag && strcmp(text, wanted) == 0);
}

int main(int argc, char **argv)
{
    setenv("PLENUM_MEMORY_ALLOC_KINDS", "system,mpi:win_allocate,cuda", 1);
    MTEST_INIT(argc, argv);
    MPI_Info info;
    MPI_Session session;
    check(MPI_INFO_ENV, "system,mpi:win_allocate,cuda");
    CHECK_OK(MPI_Comm_get_info(MPI_COMM_WORLD, &info));
    check(info, "mpi,system,mpi:win_allocate");
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Session_get_info(session, &info));
    check(info, "mpi,system,mpi:win_allocate");
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_finalize(&session));

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_memory_alloc_kinds", "mpi"));
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_get_info(session, &info));
    check(info, "mpi,system");
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
