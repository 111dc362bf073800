/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The initial error handlers (MPI-5.0 section 9.3): the fatal one for communicators and sessions, MPI_ERRORS_RETURN for
 * files, which inherit that of MPI_FILE_NULL. A predefined handler that a getter returned may be freed, and remains
 * valid. A handler gets the code that the function returns, and lives as long as it is attached to an object. A handler
 * given to a constructor belongs to the new object, and gets the errors of the construction.
 */
#include "mtest.h"

static int calls, told;
static MPI_Comm told_comm;

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    calls++;
    told = *code;
    told_comm = *comm;
}

static void on_session(MPI_Session *session, int *code, ...)
{
    (void)session;
    calls++;
    told = *code;
}

static void on_file(MPI_File *file, int *code, ...)
{
    calls++;
    told = *code;
    CHECK(*file == MPI_FILE_NULL);
}

static void defaults(void)
{
    MPI_Errhandler got;
    MPI_Session session;
    MPI_Comm copy;
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK(got == MPI_ERRHANDLER_NULL);
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_OK(MPI_Comm_get_errhandler(copy, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Session_get_errhandler(session, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Errhandler_free(&got));
}

static void files(void)
{
    MPI_Errhandler mine, got;
    MPI_Offset size;
    int rc;
    CHECK(MPI_File_get_size(MPI_FILE_NULL, &size) != MPI_SUCCESS); /* and it is returned */
    CHECK_OK(MPI_File_create_errhandler(on_file, &mine));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, mine));
    CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == mine);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Errhandler_free(&mine));
    calls = 0;
    rc = MPI_File_get_size(MPI_FILE_NULL, &size);
    CHECK(calls == 1 && rc == told && rc != MPI_SUCCESS);
    CHECK_OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO));
    CHECK(calls == 2 && told == MPI_ERR_IO);
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
}

static void told_what_is_returned(void)
{
    MPI_Errhandler mine;
    MPI_Comm copy, freed;
    int rc, code;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &copy));
    CHECK_OK(MPI_Comm_create_errhandler(on_comm, &mine));
    CHECK_OK(MPI_Comm_set_errhandler(copy, mine));
    CHECK_OK(MPI_Errhandler_free(&mine)); /* it goes on working */
    calls = 0;
    rc = MPI_Send(NULL, -1, MPI_INT, 0, 0, copy);
    CHECK(calls == 1 && told == rc && told_comm == copy);
    CHECK_CLASS(rc, MPI_ERR_COUNT);
    CHECK_OK(MPI_Add_error_code(MPI_ERR_OTHER, &code));
    CHECK_OK(MPI_Comm_call_errhandler(copy, code)); /* the handler returns: success */
    CHECK(calls == 2 && told == code);
    freed = copy;
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Barrier(freed), MPI_ERR_COMM); /* no object left: the handler of MPI_COMM_SELF */
    CHECK(calls == 2);
}

static void constructors(void)
{
    MPI_Errhandler of_session, of_comm, got;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info;
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    char tag[MPI_MAX_STRINGTAG_LEN + 1];
    int rc;
    CHECK_OK(MPI_Session_create_errhandler(on_session, &of_session));
    CHECK_OK(MPI_Comm_create_errhandler(on_comm, &of_comm));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_thread_support_level", "MPI_THREAD_NONE"));
    calls = 0;
    rc = MPI_Session_init(info, of_session, &session);
    CHECK(calls == 1 && rc == told && rc != MPI_SUCCESS && session == MPI_SESSION_NULL);
    CHECK_OK(MPI_Info_free(&info));

    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, of_session, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    memset(tag, 'a', sizeof tag - 1);
    tag[sizeof tag - 1] = '\0';
    calls = 0;
    rc = MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, of_comm, &comm);
    CHECK(calls == 1 && rc == told && rc != MPI_SUCCESS && comm == MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_create_from_group(group, "short", MPI_INFO_NULL, of_comm, &comm));
    CHECK_OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == of_comm);
    CHECK_OK(MPI_Errhandler_free(&got));
    rc = MPI_Send(NULL, -1, MPI_INT, 0, 0, comm);
    CHECK(calls == 2 && told == rc && told_comm == comm);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPI_Errhandler_free(&of_session));
    CHECK_OK(MPI_Errhandler_free(&of_comm));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    defaults();
    files();
    told_what_is_returned();
    constructors();
    MTEST_END;
}
