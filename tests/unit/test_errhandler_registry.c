/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers by name, with contexts, and the callback: their arguments, their lifetimes, errors of their own. */
#include "fakes.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <unistd.h>

#include "api/call.h"
#include "core/base/memory.h"

/* --- what goes to stderr ------------------------------------------------------------------------------------- */

static int saved_stderr, captured;

static void capture(void)
{
    int both[2];
    ck_assert_int_eq(pipe(both), 0);
    saved_stderr = dup(STDERR_FILENO);
    dup2(both[1], STDERR_FILENO);
    close(both[1]);
    captured = both[0];
}

static const char *release(void)
{
    static char text[60000];
    size_t used = 0;
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    for (ssize_t n; (n = read(captured, text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)n;
    text[used] = '\0';
    close(captured);
    return text;
}

static int lines(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* --- names --------------------------------------------------------------------------------------------------- */

START_TEST(names)
{
    const char *good[] = { "mpi_errors_are_fatal", "mpi_errors_abort",        "mpi_errors_return", "plenum://log",
                           "plenum://backtrace",   "plenum://callback",       "plugin://x",        "plugin://a-b_C9",
                           "plugin://x/",          "plugin://x/any/../thing", "MPI_Errors_RETURN" };
    const char *bad[] = { "",
                          "log",
                          "plenum://",
                          "plenum://nothing",
                          "plenum://log/",
                          "MPI_ERRORS_RETURNED",
                          "plugin://",
                          "plugin:///x",
                          "plugin://..",
                          "plugin://../x",
                          "plugin://a.b",
                          "plugin://x y",
                          "own",
                          "plugin://0123456789012345678901234567890123456789012345678901234567890123" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(pl_named_valid(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pl_named named;
        ck_assert_msg(!pl_named_valid(bad[i]), "%s", bad[i]);
        ck_assert_int_eq(pl_named_open(bad[i], &named), MPI_ERR_ARG);
        ck_assert_ptr_null(named.ops);
    }
    const char *name;
    const struct plenum_errhandler_ops *ops;
    size_t n = 0;
    for (; pl_named_nth(n, &name, &ops); n++)
        ck_assert(pl_named_valid(name) && ops->abi == PLENUM_ERRHANDLER_ABI && ops->handle && *ops->help);
    ck_assert_uint_eq(n, 6);
}
END_TEST

START_TEST(get)
{
    fake_returning_errors();
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    ck_assert_int_eq(MPIX_Errhandler_from_name("mpi_errors_abort", &handler), MPI_SUCCESS);
    ck_assert_ptr_eq(handler, MPI_ERRORS_ABORT);
    ck_assert_int_eq(MPIX_Errhandler_from_name("mpi_errors_are_fatal", &handler), MPI_SUCCESS);
    ck_assert_ptr_eq(handler, MPI_ERRORS_ARE_FATAL);
    ck_assert_int_eq(MPIX_Errhandler_from_name("mpi_errors_return", &handler), MPI_SUCCESS);
    ck_assert_ptr_eq(handler, MPI_ERRORS_RETURN);
    FAKE_EXPECT(
        MPIX_Errhandler_from_name("plenum://lgo", &handler), MPI_ERR_ARG,
        "MPIX_Errhandler_from_name: \"plenum://lgo\" is not an error handler; the handlers are " PL_NAMED_ALLOWED
        " (MPI_ERR_ARG)");
    ck_assert_int_eq(MPIX_Errhandler_from_name(NULL, &handler), MPI_ERR_ARG);
    ck_assert_int_eq(MPIX_Errhandler_from_name("plenum://log", NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPIX_Errhandler_from_name("plugin://not_there", &handler), MPI_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(fake_string(MPI_ERR_OTHER), "plugin"));
    ck_assert_int_eq(MPIX_Errhandler_from_name("plugin://hwloc", &handler),
                     MPI_ERR_OTHER); /* no error handler, if it is there */
    ck_assert_ptr_eq(handler, MPI_ERRORS_RETURN);

    ck_assert_int_eq(MPIX_Errhandler_from_name("plenum://log", &handler), MPI_SUCCESS);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 1);
    struct pl_comm *comm = fake_comm("ocean", 0, 4);
    struct pl_instance *session = fake_session();
    MPI_Errhandler got;
    ck_assert_int_eq(MPI_Comm_set_errhandler((MPI_Comm)comm, handler), MPI_SUCCESS); /* it fits all kinds */
    ck_assert_int_eq(MPI_Session_set_errhandler((MPI_Session)session, handler), MPI_SUCCESS);
    ck_assert_int_eq(MPI_File_set_errhandler(MPI_FILE_NULL, handler), MPI_SUCCESS);
    ck_assert_int_eq(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_get_errhandler((MPI_Comm)comm, &got), MPI_SUCCESS);
    ck_assert_ptr_eq(got, handler);
    ck_assert_int_eq(MPI_Errhandler_free(&got), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Errhandler_free(&handler), MPI_SUCCESS);
    fake_comm_free(comm);
    fake_session_free(session);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 0);
}
END_TEST

START_TEST(out_of_memory)
{
    fake_returning_errors();
    MPI_Errhandler handler;
    pl_memory_fail_at(1);
    int err = MPIX_Errhandler_from_name("plenum://log", &handler);
    ck_assert(err == MPI_ERR_NO_MEM || err == MPI_SUCCESS);
    pl_memory_fail_at(0);
    if (err == MPI_SUCCESS)
        MPI_Errhandler_free(&handler);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 0);
}
END_TEST

/* --- the log ------------------------------------------------------------------------------------------------- */

static void make_error(struct pl_comm *comm)
{
    struct pl_call call = PL_CALL(MPI_Send);
    pl_arg_comm(&call, (MPI_Comm)comm);
    pl_arg_dest(&call, comm, 7);
    ck_assert_int_eq(pl_call_leave(&call), MPI_ERR_RANK);
}

static void expect_line(const char *text, const char *line)
{
    char expected[4096];
    snprintf(expected, sizeof expected, "plenum[%ld] errhandler: %s\n", (long)getpid(), line);
    ck_assert_str_eq(text, expected);
}

START_TEST(log_lines)
{
    fake_returning_errors();
    struct pl_comm *comm = fake_comm("ocean \"\x01\n\\", 0, 4);
    struct pl_instance *session = fake_session();
    MPI_Errhandler handler;
    int class;
    ck_assert_int_eq(MPIX_Errhandler_from_name("plenum://log", &handler), MPI_SUCCESS);
    MPI_Comm_set_errhandler((MPI_Comm)comm, handler);
    MPI_Session_set_errhandler((MPI_Session)session, handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    MPI_Errhandler_free(&handler);

    capture();
    make_error(comm);
    expect_line(
        release(),
        "kind=communicator name=\"ocean \\\"\\x01\\x0a\\\\\" function=MPI_Send class=MPI_ERR_RANK code=6 rank=-1 "
        "message=\"MPI_Send: rank 7 is not in communicator \\\"ocean \\\"\\\\x01\\\\x0a\\\\\\\" of 4 processes "
        "(MPI_ERR_RANK)\"");
    capture();
    ck_assert_int_eq(MPI_Session_call_errhandler((MPI_Session)session, MPI_ERR_TAG), MPI_SUCCESS);
    expect_line(release(),
                "kind=session name=\"\" function=MPI_Session_call_errhandler class=MPI_ERR_TAG code=4 rank=-1 "
                "message=\"the tag is out of range (MPI_ERR_TAG)\"");
    capture();
    ck_assert_int_eq(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO), MPI_SUCCESS);
    expect_line(release(), "kind=file name=\"\" function=MPI_File_call_errhandler class=MPI_ERR_IO code=35 rank=-1 "
                           "message=\"reading or writing failed (MPI_ERR_IO)\"");

    /* A user-defined class has no name; a message of quotes only is not longer than the line. */
    char string[MPI_MAX_ERROR_STRING];
    memset(string, '"', sizeof string);
    string[sizeof string - 1] = '\0';
    ck_assert_int_eq(MPI_Add_error_class(&class), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Add_error_string(class, string), MPI_SUCCESS);
    capture();
    ck_assert_int_eq(MPI_Comm_call_errhandler((MPI_Comm)comm, class), MPI_SUCCESS);
    const char *text = release();
    ck_assert_ptr_nonnull(strstr(text, " class=- "));
    ck_assert_uint_gt(strlen(text), 2 * (sizeof string - 1));
    ck_assert_int_eq(lines(text), 1);

    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    fake_comm_free(comm);
    fake_session_free(session);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 0);
}
END_TEST

START_TEST(backtraces)
{
    fake_returning_errors();
    struct pl_comm *comm = fake_comm("ocean", 0, 4);
    MPI_Errhandler handler;
    ck_assert_int_eq(MPIX_Errhandler_from_name("plenum://backtrace", &handler), MPI_SUCCESS);
    MPI_Comm_set_errhandler((MPI_Comm)comm, handler);
    MPI_Errhandler_free(&handler);
    capture();
    make_error(comm);
    const char *text = release();
    ck_assert_int_ge(lines(text), 3);
    ck_assert_ptr_nonnull(strstr(text, "class=MPI_ERR_RANK"));
    ck_assert_ptr_nonnull(strstr(text, " errhandler: #0 "));
    ck_assert_ptr_nonnull(strstr(text, " errhandler: #1 "));
    ck_assert_ptr_nonnull(strstr(text, "test_errhandler_registry(+0x"));
    fake_comm_free(comm);
}
END_TEST

/* --- the callback -------------------------------------------------------------------------------------------- */

static int destroyed[4], heard;
static struct plenum_error_report last;
static char last_name[MPI_MAX_OBJECT_NAME];

static void destroy(void *context)
{
    destroyed[*(int *)context]++;
}

static void on_error(const struct plenum_error_report *error, void *context)
{
    heard++;
    last = *error;
    snprintf(last_name, sizeof last_name, "%s", error->name);
    if (*(int *)context == 2) /* one that ends itself */
        ck_assert_int_eq(MPIX_Errhandler_set_callback(NULL, NULL, NULL), MPI_SUCCESS);
    ck_assert_int_eq(destroyed[*(int *)context], 0);
}

START_TEST(callbacks)
{
    fake_returning_errors();
    static int which[] = { 0, 1, 2 };
    struct pl_comm *comm = fake_comm("ocean", 0, 4);
    MPI_Errhandler handler;
    ck_assert_int_eq(MPIX_Errhandler_from_name("plenum://callback", &handler), MPI_SUCCESS);
    MPI_Comm_set_errhandler((MPI_Comm)comm, handler);
    MPI_Errhandler_free(&handler);

    capture(); /* no callback is set */
    make_error(comm);
    ck_assert_int_eq(lines(release()), 1);

    ck_assert_int_eq(MPIX_Errhandler_set_callback(on_error, destroy, &which[1]), MPI_SUCCESS);
    capture();
    make_error(comm);
    ck_assert_str_eq(release(), "");
    ck_assert_int_eq(heard, 1);
    ck_assert_ptr_eq(last.handle, comm);
    ck_assert_str_eq(last.kind, "communicator");
    ck_assert_str_eq(last_name, "ocean");
    ck_assert_str_eq(last.function, "MPI_Send");
    ck_assert_int_eq(last.code, MPI_ERR_RANK);
    ck_assert_int_eq(last.error_class, MPI_ERR_RANK);
    ck_assert_str_eq(last.class_name, "MPI_ERR_RANK");

    ck_assert_int_eq(MPIX_Errhandler_set_callback(on_error, destroy, &which[2]), MPI_SUCCESS);
    ck_assert_int_eq(destroyed[1], 1);
    make_error(comm);
    ck_assert_int_eq(destroyed[2], 1);
    ck_assert_int_eq(heard, 2);
    capture();
    make_error(comm);
    ck_assert_int_eq(lines(release()), 1);
    ck_assert_int_eq(heard, 2);
    fake_comm_free(comm);
}
END_TEST

static struct pl_comm *busy;
static _Atomic int stop, inside_now, ended;

static void end_context(void *context)
{
    ck_assert_int_eq(*(int *)context, 1);
    *(int *)context = 0;
    ended++;
    free(context);
}

static void on_busy(const struct plenum_error_report *error, void *context)
{
    (void)error;
    inside_now++;
    if (*(int *)context != 1)
        ck_abort_msg("the context is gone");
}

static void *make_errors(void *unused)
{
    (void)unused;
    while (!stop)
        MPI_Comm_call_errhandler((MPI_Comm)busy, MPI_ERR_TAG);
    return NULL;
}

/* One thread replaces the callback while others are inside: a context lives as long as a thread uses it. */
START_TEST(callback_threads)
{
    enum { TIMES = 1000 };
    fake_returning_errors();
    pthread_t thread[2];
    MPI_Errhandler handler;
    busy = fake_comm("busy", 0, 1);
    MPIX_Errhandler_from_name("plenum://callback", &handler);
    MPI_Comm_set_errhandler((MPI_Comm)busy, handler);
    MPI_Errhandler_free(&handler);
    for (int i = 0; i <= TIMES; i++) {
        int *context = malloc(sizeof *context);
        *context = 1;
        ck_assert_int_eq(MPIX_Errhandler_set_callback(on_busy, end_context, context), MPI_SUCCESS);
        for (int t = 0; i == 0 && t < 2; t++)
            pthread_create(&thread[t], NULL, make_errors, NULL);
    }
    while (inside_now == 0)
        sched_yield();
    stop = 1;
    for (int t = 0; t < 2; t++)
        pthread_join(thread[t], NULL);
    ck_assert_int_eq(MPIX_Errhandler_set_callback(NULL, NULL, NULL), MPI_SUCCESS);
    ck_assert_int_eq(ended, TIMES + 1);
    fake_comm_free(busy);
}
END_TEST

/* --- contexts ------------------------------------------------------------------------------------------------ */

static int calls, last_code;
static const void *last_handle;
static void *last_state;

static void note(const void *handle, int code, void *state)
{
    calls++;
    last_handle = handle;
    last_code = code;
    last_state = state;
}

static void comm_x(MPI_Comm comm, int code, void *state)
{
    note(comm, code, state);
}
static void win_x(MPI_Win win, int code, void *state)
{
    note(win, code, state);
}
static void file_x(MPI_File file, int code, void *state)
{
    note(file, code, state);
}
static void session_x(MPI_Session session, int code, void *state)
{
    note(session, code, state);
}

START_TEST(contexts)
{
    fake_returning_errors();
    static int which[] = { 0, 1, 2, 3 };
    struct pl_comm *comm = fake_comm("ocean", 0, 4);
    struct pl_instance *session = fake_session();
    MPI_Errhandler handler[4];
    ck_assert_int_eq(MPIX_Comm_create_errhandler_x(comm_x, destroy, &which[0], &handler[0]), MPI_SUCCESS);
    ck_assert_int_eq(MPIX_Session_create_errhandler_x(session_x, destroy, &which[1], &handler[1]), MPI_SUCCESS);
    ck_assert_int_eq(MPIX_File_create_errhandler_x(file_x, destroy, &which[2], &handler[2]), MPI_SUCCESS);
    ck_assert_int_eq(MPIX_Win_create_errhandler_x(win_x, destroy, &which[3], &handler[3]), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_set_errhandler((MPI_Comm)comm, handler[0]), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_set_errhandler((MPI_Comm)comm, handler[1]), MPI_ERR_ERRHANDLER);
    ck_assert_int_eq(calls, 1); /* that was an error on the communicator */
    ck_assert_ptr_eq(last_handle, comm);
    ck_assert_ptr_eq(last_state, &which[0]);
    ck_assert_int_eq(last_code, MPI_ERR_ERRHANDLER);
    ck_assert_int_eq(MPI_Session_set_errhandler((MPI_Session)session, handler[1]), MPI_SUCCESS);
    ck_assert_int_eq(MPI_File_set_errhandler(MPI_FILE_NULL, handler[2]), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Session_call_errhandler((MPI_Session)session, 77), MPI_SUCCESS);
    ck_assert(calls == 2 && last_handle == session && last_state == &which[1] && last_code == 77);
    ck_assert_int_eq(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO), MPI_SUCCESS);
    ck_assert(calls == 3 && last_handle == MPI_FILE_NULL && last_state == &which[2] && last_code == MPI_ERR_IO);

    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(MPI_Errhandler_free(&handler[i]), MPI_SUCCESS);
    ck_assert(!destroyed[0] && !destroyed[1] && !destroyed[2] && destroyed[3] == 1);
    ck_assert_int_eq(MPI_Comm_get_errhandler((MPI_Comm)comm, &handler[0]), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_set_errhandler((MPI_Comm)comm, MPI_ERRORS_RETURN), MPI_SUCCESS);
    ck_assert_int_eq(destroyed[0], 0);
    ck_assert_int_eq(MPI_Errhandler_free(&handler[0]), MPI_SUCCESS);
    ck_assert_int_eq(destroyed[0], 1);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    fake_session_free(session);
    fake_comm_free(comm);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(destroyed[i], 1);

    ck_assert_int_eq(MPIX_Comm_create_errhandler_x(NULL, destroy, &which[0], &handler[0]), MPI_ERR_ARG);
    ck_assert_int_eq(MPIX_Comm_create_errhandler_x(comm_x, destroy, &which[0], NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPIX_Comm_create_errhandler_x(comm_x, NULL, NULL, &handler[0]), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Errhandler_free(&handler[0]), MPI_SUCCESS);
    ck_assert_int_eq(destroyed[0], 1);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 0);
}
END_TEST

/* --- handlers that do things -------------------------------------------------------------------------------- */

static MPI_Errhandler self;
static int deepest;

/* Frees itself, and detaches itself from the communicator that calls it. */
static void suicide(MPI_Comm comm, int code, void *state)
{
    (void)code;
    ck_assert_int_eq(MPI_Errhandler_free(&self), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), MPI_SUCCESS);
    ck_assert_int_eq(destroyed[*(int *)state], 0); /* it still runs */
    calls++;
}

static void always_wrong(MPI_Comm comm, int code, void *state)
{
    (void)code, (void)state;
    deepest++;
    ck_assert_int_eq(MPI_Comm_set_errhandler(comm, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
}

START_TEST(own_actions)
{
    fake_returning_errors();
    static int which = 1;
    struct pl_comm *comm = fake_comm("ocean", 0, 4);
    MPIX_Comm_create_errhandler_x(suicide, destroy, &which, &self);
    MPI_Comm_set_errhandler((MPI_Comm)comm, self);
    make_error(comm);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(destroyed[1], 1);
    make_error(comm);
    ck_assert_int_eq(calls, 1);

    MPIX_Comm_create_errhandler_x(always_wrong, NULL, NULL, &self);
    MPI_Comm_set_errhandler((MPI_Comm)comm, self);
    for (int i = 0; i < 3; i++) {
        deepest = 0;
        make_error(comm);
        ck_assert_int_eq(deepest, 16);
    }
    MPI_Errhandler_free(&self);
    fake_comm_free(comm);
}
END_TEST

static jmp_buf place;

static void jumps(MPI_Comm comm, int code, void *state)
{
    (void)comm, (void)code, (void)state;
    calls++;
    longjmp(place, 1);
}

/* Some programs leave a handler by longjmp(). */
START_TEST(jumping)
{
    fake_returning_errors();
    struct pl_comm *comm = fake_comm("ocean", 0, 4);
    MPIX_Comm_create_errhandler_x(jumps, NULL, NULL, &self);
    MPI_Comm_set_errhandler((MPI_Comm)comm, self);
    for (volatile int i = 0; i < 100; i++)
        if (setjmp(place) == 0)
            make_error(comm);
    ck_assert_int_eq(calls, 100);
}
END_TEST

/* --- info keys and the initial handler ----------------------------------------------------------------------- */

START_TEST(chosen_by_info)
{
    fake_returning_errors();
    struct pl_errhandler *handler;
    struct pl_info *info = pl_info_create();
    ck_assert_int_eq(pl_errhandler_from_info(NULL, &handler), MPI_SUCCESS);
    ck_assert_ptr_null(handler);
    ck_assert_int_eq(pl_errhandler_from_info(info, &handler), MPI_SUCCESS);
    ck_assert_ptr_null(handler);
    pl_info_set(info, "plenum_errhandler", "mpi_errors_abort");
    ck_assert_int_eq(pl_errhandler_from_info(info, &handler), MPI_SUCCESS);
    ck_assert_ptr_eq(handler, fake_predefined(MPI_ERRORS_ABORT));
    pl_info_set(info, "plenum_errhandler", "plenum://callback");
    ck_assert_int_eq(pl_errhandler_from_info(info, &handler), MPI_SUCCESS);
    ck_assert_ptr_nonnull(handler->named.ops);
    pl_object_release(handler);
    pl_info_set(info, "plenum_errhandler", "mpi_errors");
    ck_assert_int_eq(pl_errhandler_from_info(info, &handler), MPI_ERR_INFO_VALUE);
    ck_assert_str_eq(
        pl_error_detail(NULL),
        "info key plenum_errhandler: \"mpi_errors\" is not an error handler; the handlers are " PL_NAMED_ALLOWED);
    pl_info_set(info, "plenum_errhandler", "plugin://not_there");
    ck_assert_int_eq(pl_errhandler_from_info(info, &handler), MPI_ERR_OTHER);
    pl_handle_drop(info);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 0);
}
END_TEST

START_TEST(initial)
{
    setenv("PLENUM_INITIAL_ERRHANDLER", "plenum://log", 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    capture();
    ck_assert_int_eq(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
    ck_assert_ptr_nonnull(
        strstr(release(), "kind=none name=\"\" function=MPI_Info_set class=MPI_ERR_INFO code=34 rank=-1 "));
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 0);
}
END_TEST

UNIT_MAIN("errhandler_registry", names, get, out_of_memory, log_lines, backtraces, callbacks, callback_threads,
          contexts, own_actions, jumping, chosen_by_info, initial)
