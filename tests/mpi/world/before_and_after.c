/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions allowed before MPI_Init and after MPI_Finalize (MPI-5.0 section 11.4.1) work there: versions, the flags,
 * info objects, error classes and strings, error handlers, session initialization. The World Model is initialized only
 * once.
 */
#include "mtest.h"

static void ignore(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void always_allowed(int initialized, int finalized)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING], value[16];
    int version, subversion, length, flag = -1, class, code, size = sizeof value;
    MPI_Info info, copy;
    MPI_Errhandler handler;
    MPI_Session session;

    CHECK_OK(MPI_Get_version(&version, &subversion));
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    CHECK_OK(MPI_Get_library_version(text, &length));
    CHECK(length > 0 && (int)strlen(text) == length);
    CHECK_OK(MPI_Initialized(&flag));
    CHECK(flag == initialized);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK(flag == finalized);

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "key", "value"));
    CHECK_OK(MPI_Info_dup(info, &copy));
    CHECK_OK(MPI_Info_get_string(copy, "key", &size, value, &flag));
    CHECK(flag && strcmp(value, "value") == 0);
    CHECK_OK(MPI_Info_free(&copy));
    CHECK_OK(MPI_Info_free(&info));

    CHECK_OK(MPI_Error_class(MPI_ERR_RANK, &class));
    CHECK(class == MPI_ERR_RANK);
    CHECK_OK(MPI_Error_string(MPI_ERR_RANK, text, &length));
    CHECK(length > 0);
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK_OK(MPI_Add_error_string(code, "ours"));
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, "ours") == 0);
    CHECK_OK(MPI_Comm_create_errhandler(ignore, &handler));
    CHECK_OK(MPI_Errhandler_free(&handler));

    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(int argc, char **argv)
{
    always_allowed(0, 0);
    MTEST_INIT(argc, argv);
    always_allowed(1, 0);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Init(&argc, &argv) != MPI_SUCCESS);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Finalize());
    always_allowed(1, 1);
    MTEST_END;
}
