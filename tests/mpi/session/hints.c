/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The info of sessions and what is derived from it (MPI-5.0 sections 11.3.1 and 11.4.3): the default thread level;
 * memory allocation kinds requested and asserted, for sessions, the World and their communicators. Unknown keys are
 * ignored. An invalid value is an error of MPI_Session_init, which goes to the handler that the call receives.
 */
#include "mtest.h"

static int init_errors;

static void count_init(MPI_Session *session, int *code, ...)
{
    CHECK(*session == MPI_SESSION_NULL);
    CHECK(*code != MPI_SUCCESS);
    init_errors++;
}

/* The value of a key, "-" when it is not there. Frees the info. */
static const char *value(MPI_Info info, const char *key)
{
    static char text[MPI_MAX_INFO_VAL];
    int capacity = sizeof text, flag = 0;
    CHECK_OK(MPI_Info_get_string(info, key, &capacity, text, &flag));
    CHECK_OK(MPI_Info_free(&info));
    return flag ? text : "-";
}

static const char *of_session(MPI_Session session, const char *key)
{
    MPI_Info info;
    CHECK_OK(MPI_Session_get_info(session, &info));
    return value(info, key);
}

static const char *of_comm(MPI_Comm comm, const char *key)
{
    MPI_Info info;
    CHECK_OK(MPI_Comm_get_info(comm, &info));
    return value(info, key);
}

static MPI_Info pairs(const char *const words[])
{
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    for (int i = 0; words[i]; i += 2)
        CHECK_OK(MPI_Info_set(info, words[i], words[i + 1]));
    return info;
}
#define PAIRS(...) pairs((const char *const[]){ __VA_ARGS__, NULL })

static MPI_Comm own_comm(MPI_Session session, MPI_Info info)
{
    MPI_Group self;
    MPI_Comm comm;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
    CHECK_OK(MPI_Comm_create_from_group(self, "own", info, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&self));
    return comm;
}

static void fast(void)
{
    MPI_Session session;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(strcmp(of_session(session, "mpi_thread_support_level"), "MPI_THREAD_MULTIPLE") == 0);
    CHECK(strcmp(of_session(session, "mpi_memory_alloc_kinds"), "mpi,system") == 0);
    CHECK(strcmp(of_session(session, "mpi_assert_memory_alloc_kinds"), "-") == 0);
    CHECK(strcmp(of_session(session, "plenum_alone"), "false") == 0);
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK(strcmp(of_comm(MPI_COMM_WORLD, "mpi_memory_alloc_kinds"), "mpi,system") == 0);
    CHECK(strcmp(of_comm(MPI_COMM_SELF, "mpi_memory_alloc_kinds"), "mpi,system") == 0);
}

/* Unsupported kinds are not granted, restricted forms of supported kinds are. Assertions narrow, and are inherited. */
static void kinds(void)
{
    MPI_Session session;
    MPI_Info info = PAIRS("mpi_memory_alloc_kinds", "cuda:device, mpi:alloc_mem:win_allocate,system,mpi:sideways",
                          "mpi_assert_memory_alloc_kinds", "system,mpi:alloc_mem", "foreign_key", "whatever");
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK(strcmp(of_session(session, "mpi_memory_alloc_kinds"), "mpi,system,mpi:alloc_mem:win_allocate") == 0);
    CHECK(strcmp(of_session(session, "mpi_assert_memory_alloc_kinds"), "system,mpi:alloc_mem") == 0);
    CHECK(strcmp(of_session(session, "foreign_key"), "-") == 0);

    MPI_Comm plain = own_comm(session, MPI_INFO_NULL), narrow, copy, wide;
    CHECK(strcmp(of_comm(plain, "mpi_memory_alloc_kinds"), "system,mpi:alloc_mem") == 0);
    info = PAIRS("mpi_assert_memory_alloc_kinds", "system");
    narrow = own_comm(session, info);
    CHECK_OK(MPI_Comm_dup_with_info(plain, info, &copy));
    CHECK_OK(MPI_Info_free(&info));
    CHECK(strcmp(of_comm(narrow, "mpi_assert_memory_alloc_kinds"), "system") == 0);
    CHECK(strcmp(of_comm(narrow, "mpi_memory_alloc_kinds"), "system") == 0);
    CHECK(strcmp(of_comm(copy, "mpi_memory_alloc_kinds"), "system") == 0);
    info = PAIRS("mpi_assert_memory_alloc_kinds", "rocm");
    wide = own_comm(session, info);
    CHECK_OK(MPI_Info_free(&info));
    CHECK(strcmp(of_comm(wide, "mpi_assert_memory_alloc_kinds"), "-") == 0); /* no promise can be kept here about it */
    CHECK_OK(MPI_Comm_free(&plain));
    CHECK_OK(MPI_Comm_free(&narrow));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free(&wide));
    CHECK_OK(MPI_Session_finalize(&session));
}

static void refused(const char *key, const char *text, int class)
{
    MPI_Errhandler handler;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info = PAIRS("plenum_strict", "true", key, text);
    int before = init_errors;
    CHECK_OK(MPI_Session_create_errhandler(count_init, &handler));
    CHECK_CLASS(MPI_Session_init(info, handler, &session), class);
    CHECK(session == MPI_SESSION_NULL && init_errors == before + 1);
    CHECK_CLASS(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), class);
    CHECK(init_errors == before + 1);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_CLASS(MPI_Session_init(MPI_INFO_NULL, handler, NULL), MPI_ERR_ARG);
    CHECK(init_errors == before + 2);
    CHECK_OK(MPI_Errhandler_free(&handler));
}

/* MPI_Session_call_errhandler invokes the current handler of the session. */
static int called, called_code;
static MPI_Session called_session;
static void note_call(MPI_Session *session, int *code, ...)
{
    called++;
    called_code = *code;
    called_session = *session;
}

static void calling(void)
{
    MPI_Errhandler handler, got;
    MPI_Session sessions[2];
    CHECK_OK(MPI_Session_create_errhandler(note_call, &handler));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, handler, &sessions[0]));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[1]));
    CHECK_OK(MPI_Session_get_errhandler(sessions[0], &got));
    CHECK(got == handler);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Errhandler_free(&handler)); /* the session keeps it */
    CHECK_OK(MPI_Session_call_errhandler(sessions[1], MPI_ERR_OTHER));
    CHECK(called == 0);
    CHECK_OK(MPI_Session_call_errhandler(sessions[0], MPI_ERR_OTHER));
    CHECK(called == 1 && called_code == MPI_ERR_OTHER && called_session == sessions[0]);
    CHECK_OK(MPI_Session_set_errhandler(sessions[0], MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Session_call_errhandler(sessions[0], MPI_ERR_OTHER));
    CHECK(called == 1);
    CHECK_OK(MPI_Session_finalize(&sessions[0]));
    CHECK_OK(MPI_Session_finalize(&sessions[1]));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    fast();
    kinds();
    refused("mpi_thread_support_level", "MPI_THREAD_WISHFUL", MPI_ERR_INFO_VALUE);
    refused("mpi_thread_support_level", "mpi_thread_single", MPI_ERR_INFO_VALUE);
    refused("mpi_thread_suport_level", "MPI_THREAD_SINGLE", MPI_ERR_INFO_KEY); /* strict sessions spell keys right */
    refused("plenum_strict", "maybe", MPI_ERR_INFO_VALUE);
    calling();
    MTEST_END;
}
