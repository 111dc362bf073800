/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers: which one is invoked, with which arguments; how long they live; how the fatal ones end the process.
 */
#include "fakes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/call.h"

static int calls, last_code;
static const void *last_handle;

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_handle = *comm;
    last_code = *code;
}

static void on_session(MPI_Session *session, int *code, ...)
{
    calls++;
    last_handle = *session;
    last_code = *code;
}

static void on_file(MPI_File *file, int *code, ...)
{
    calls++;
    last_handle = *file;
    last_code = *code;
}

static void on_win(MPI_Win *win, int *code, ...)
{
    calls++;
    last_handle = *win;
    last_code = *code;
}

START_TEST(set_and_call)
{
    fake_returning_errors();
    struct pl_comm *comm = fake_comm("ocean", 0, 4);
    MPI_Comm handle = (MPI_Comm)comm;
    MPI_Errhandler mine, got;
    ck_assert_int_eq(MPI_Comm_create_errhandler(on_comm, &mine), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_set_errhandler(handle, mine), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_get_errhandler(handle, &got), MPI_SUCCESS);
    ck_assert_ptr_eq(got, mine);

    /* Freed through both handles: it goes on working where it is attached. */
    ck_assert_int_eq(MPI_Errhandler_free(&got), MPI_SUCCESS);
    ck_assert_ptr_eq(got, MPI_ERRHANDLER_NULL);
    MPI_Errhandler stale = mine;
    ck_assert_int_eq(MPI_Errhandler_free(&mine), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Errhandler_free(&stale), MPI_ERR_ERRHANDLER);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 1);

    ck_assert_int_eq(MPI_Comm_call_errhandler(handle, MPI_ERR_TRUNCATE), MPI_SUCCESS);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(last_code, MPI_ERR_TRUNCATE);
    ck_assert_ptr_eq(last_handle, handle);

    struct pl_call call = PL_CALL(MPI_Send);
    pl_arg_comm(&call, handle);
    pl_arg_dest(&call, comm, 7);
    ck_assert_int_eq(pl_call_leave(&call), MPI_ERR_RANK);
    ck_assert_int_eq(calls, 2);
    ck_assert_int_eq(last_code, MPI_ERR_RANK);

    ck_assert_int_eq(MPI_Comm_get_errhandler(handle, &got), MPI_SUCCESS); /* a handle again */
    ck_assert_int_eq(MPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_call_errhandler(handle, MPI_ERR_TRUNCATE), MPI_SUCCESS);
    ck_assert_int_eq(calls, 2);
    ck_assert_int_eq(MPI_Errhandler_free(&got), MPI_SUCCESS);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 0);
    fake_comm_free(comm);
}
END_TEST

START_TEST(predefined)
{
    fake_returning_errors();
    struct pl_comm *comm = fake_comm("ocean", 0, 4);
    MPI_Errhandler all[] = { MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN }, got;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(MPI_Comm_set_errhandler((MPI_Comm)comm, all[i]), MPI_SUCCESS);
        ck_assert_int_eq(MPI_Comm_get_errhandler((MPI_Comm)comm, &got), MPI_SUCCESS);
        ck_assert_ptr_eq(got, all[i]);
        ck_assert_int_eq(MPI_Errhandler_free(&got), MPI_SUCCESS);
        ck_assert_ptr_eq(got, MPI_ERRHANDLER_NULL);
    }
    fake_comm_free(comm);
}
END_TEST

START_TEST(sessions)
{
    fake_returning_errors();
    struct pl_instance *session = fake_session();
    MPI_Session handle = (MPI_Session)session;
    MPI_Errhandler mine, got;
    ck_assert_int_eq(MPI_Session_create_errhandler(on_session, &mine), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Session_set_errhandler(handle, mine), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Session_get_errhandler(handle, &got), MPI_SUCCESS);
    ck_assert_ptr_eq(got, mine);
    ck_assert_int_eq(MPI_Session_call_errhandler(handle, 77), MPI_SUCCESS);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(last_code, 77);
    ck_assert_ptr_eq(last_handle, handle);
    ck_assert_int_eq(MPI_Session_call_errhandler(MPI_SESSION_NULL, 77), MPI_ERR_SESSION);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(MPI_Errhandler_free(&mine), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Errhandler_free(&got), MPI_SUCCESS);
    fake_session_free(session);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 0);
}
END_TEST

/* MPI_FILE_NULL has a handler of its own; without windows no window handle is valid. */
START_TEST(files_and_windows)
{
    fake_returning_errors();
    MPI_Errhandler file, win, got;
    ck_assert_int_eq(MPI_File_get_errhandler(MPI_FILE_NULL, &got), MPI_SUCCESS);
    ck_assert_ptr_eq(got, MPI_ERRORS_RETURN);
    ck_assert_int_eq(MPI_File_create_errhandler(on_file, &file), MPI_SUCCESS);
    ck_assert_int_eq(MPI_File_set_errhandler(MPI_FILE_NULL, file), MPI_SUCCESS);
    ck_assert_int_eq(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO), MPI_SUCCESS);
    ck_assert_int_eq(calls, 1);
    ck_assert_ptr_eq(last_handle, MPI_FILE_NULL);
    /* Errors of files without a file come here too. */
    ck_assert_int_eq(MPI_File_get_errhandler((MPI_File)&got, &got), MPI_ERR_FILE);
    ck_assert_int_eq(calls, 2);
    ck_assert_int_eq(last_code, MPI_ERR_FILE);
    ck_assert_int_eq(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Errhandler_free(&file), MPI_SUCCESS);

    ck_assert_int_eq(MPI_Win_create_errhandler(on_win, &win), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Win_set_errhandler(MPI_WIN_NULL, win), MPI_ERR_WIN);
    ck_assert_int_eq(MPI_Win_get_errhandler((MPI_Win)&win, &got), MPI_ERR_WIN);
    ck_assert_int_eq(MPI_Win_call_errhandler(MPI_WIN_NULL, MPI_ERR_IO), MPI_ERR_WIN);
    ck_assert_int_eq(MPI_Errhandler_free(&win), MPI_SUCCESS);
    ck_assert_int_eq(calls, 2);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 0);
}
END_TEST

START_TEST(wrong_kinds)
{
    fake_returning_errors();
    struct pl_comm *comm = fake_comm("ocean", 0, 4);
    struct pl_instance *session = fake_session();
    MPI_Errhandler for_comm, for_session;
    MPI_Comm_create_errhandler(on_comm, &for_comm);
    MPI_Session_create_errhandler(on_session, &for_session);
    FAKE_EXPECT(MPI_Comm_set_errhandler((MPI_Comm)comm, for_session), MPI_ERR_ERRHANDLER,
                "MPI_Comm_set_errhandler: errhandler was made for a session and cannot be attached to a communicator "
                "(MPI_ERR_ERRHANDLER)");
    FAKE_EXPECT(MPI_Session_set_errhandler((MPI_Session)session, for_comm), MPI_ERR_ERRHANDLER,
                "MPI_Session_set_errhandler: errhandler was made for a communicator and cannot be attached to a "
                "session (MPI_ERR_ERRHANDLER)");
    ck_assert_int_eq(MPI_File_set_errhandler(MPI_FILE_NULL, for_comm), MPI_ERR_ERRHANDLER);
    FAKE_EXPECT(MPI_Comm_set_errhandler((MPI_Comm)comm, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER,
                "MPI_Comm_set_errhandler: errhandler is MPI_ERRHANDLER_NULL (MPI_ERR_ERRHANDLER)");
    ck_assert_int_eq(MPI_Comm_set_errhandler((MPI_Comm)comm, (MPI_Errhandler)comm), MPI_ERR_ERRHANDLER);
    ck_assert_int_eq(MPI_Comm_set_errhandler((MPI_Comm)for_comm, for_comm), MPI_ERR_COMM);
    FAKE_EXPECT(MPI_Comm_create_errhandler(NULL, &for_comm), MPI_ERR_ARG,
                "MPI_Comm_create_errhandler: the error handling function is NULL (MPI_ERR_ARG)");
    ck_assert_int_eq(MPI_Comm_create_errhandler(on_comm, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Comm_get_errhandler((MPI_Comm)comm, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Errhandler_free(NULL), MPI_ERR_ARG);
    MPI_Errhandler null = MPI_ERRHANDLER_NULL;
    ck_assert_int_eq(MPI_Errhandler_free(&null), MPI_ERR_ERRHANDLER);
    MPI_Errhandler_free(&for_comm);
    MPI_Errhandler_free(&for_session);
    fake_comm_free(comm);
    fake_session_free(session);
}
END_TEST

/* Errors without an object: MPI_COMM_SELF's handler while there is a World, even one set then; else the initial one. */
START_TEST(no_object)
{
    fake_returning_errors();
    struct pl_comm *self = fake_comm("MPI_COMM_SELF", 0, 1);
    MPI_Errhandler mine;
    MPI_Comm_create_errhandler(on_comm, &mine);
    MPI_Comm_set_errhandler((MPI_Comm)self, mine);
    ck_assert_int_eq(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
    ck_assert_int_eq(calls, 0);
    pl_self_comm = self;
    pl_errhandler_of_nothing(self->errhandler);
    pl_world_state = PL_WORLD_INITIALIZED;
    ck_assert_int_eq(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
    ck_assert_int_eq(calls, 1);
    ck_assert_ptr_eq(last_handle, MPI_COMM_SELF);
    ck_assert_int_eq(MPI_Comm_set_errhandler(MPI_COMM_NULL, mine), MPI_ERR_COMM);
    ck_assert_int_eq(calls, 2);
    MPI_Comm_set_errhandler((MPI_Comm)self, MPI_ERRORS_RETURN);
    ck_assert_int_eq(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
    ck_assert_int_eq(calls, 2);
    MPI_Comm_set_errhandler((MPI_Comm)self, mine);
    pl_world_state = PL_WORLD_FINALIZED;
    pl_errhandler_of_nothing(NULL);
    pl_self_comm = NULL;
    ck_assert_int_eq(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
    ck_assert_int_eq(calls, 2);
    MPI_Errhandler_free(&mine);
    fake_comm_free(self);
}
END_TEST

/* --- the end of the process ---------------------------------------------------------------------------------- */

enum { ON_COMM, ON_SESSION, ON_NOTHING };

/* Exit code and stderr of a process that raises an error under a handler. */
static int die(MPI_Errhandler handler, int where, char *output, size_t capacity)
{
    int both[2], status;
    ck_assert_int_eq(pipe(both), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(both[1], STDERR_FILENO);
        if (where == ON_COMM) {
            struct pl_comm *comm = fake_comm("ocean", 0, 4);
            MPI_Comm_set_errhandler((MPI_Comm)comm, handler);
            struct pl_call call = PL_CALL(MPI_Send);
            pl_arg_comm(&call, (MPI_Comm)comm);
            pl_arg_dest(&call, comm, 7);
            pl_call_leave(&call);
        } else if (where == ON_SESSION) {
            struct pl_instance *session = fake_session();
            MPI_Session_set_errhandler((MPI_Session)session, handler);
            MPI_Session_call_errhandler((MPI_Session)session, MPI_ERR_TAG);
        } else {
            setenv("PLENUM_INITIAL_ERRHANDLER",
                   handler == MPI_ERRORS_ABORT ? "mpi_errors_abort" : "mpi_errors_are_fatal", 1);
            pl_config_load();
            MPI_Info_free(NULL);
        }
        _exit(99);
    }
    close(both[1]);
    size_t used = 0;
    for (ssize_t n; (n = read(both[0], output + used, capacity - 1 - used)) > 0;)
        used += (size_t)n;
    output[used] = '\0';
    close(both[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

START_TEST(fatal)
{
    char output[4096];
    MPI_Errhandler handlers[] = { MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT };
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(die(handlers[i], ON_COMM, output, sizeof output), MPI_ERR_RANK);
        ck_assert_str_eq(output, "MPI_Send: rank 7 is not in communicator \"ocean\" of 4 processes (MPI_ERR_RANK)\n");
        ck_assert_int_eq(die(handlers[i], ON_SESSION, output, sizeof output), MPI_ERR_TAG);
        ck_assert_str_eq(output, "the tag is out of range (MPI_ERR_TAG)\n");
        ck_assert_int_eq(die(handlers[i], ON_NOTHING, output, sizeof output), MPI_ERR_ARG);
        ck_assert_str_eq(output, "MPI_Info_free: info is NULL (MPI_ERR_ARG)\n");
    }
    ck_assert_int_eq(die(MPI_ERRORS_RETURN, ON_COMM, output, sizeof output), 99);
    ck_assert_str_eq(output, "");
}
END_TEST

/* --- threads: one changes the handler while others use it ---------------------------------------------------- */

static struct pl_comm *busy_comm;
static _Atomic int invoked, stop;

static void on_busy(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    invoked++;
}

static void *use(void *unused)
{
    (void)unused;
    while (!stop)
        MPI_Comm_call_errhandler((MPI_Comm)busy_comm, MPI_ERR_TAG);
    return NULL;
}

START_TEST(threads)
{
    pthread_t thread[2];
    busy_comm = fake_comm("busy", 0, 1);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, use, NULL);
    for (int i = 0; i < 3000 || invoked == 0; i++) {
        MPI_Errhandler mine;
        MPI_Comm_create_errhandler(on_busy, &mine);
        MPI_Comm_set_errhandler((MPI_Comm)busy_comm, mine);
        MPI_Errhandler_free(&mine);
    }
    stop = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 1);
    fake_comm_free(busy_comm);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 0);
}
END_TEST

UNIT_MAIN("errhandler", set_and_call, predefined, sessions, files_and_windows, wrong_kinds, no_object, fatal, threads)
