/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy of error handlers: which rule applies, in what order handlers are called, and which files are errors. */
#include "fakes.h"
#include "wrong_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "api/call.h"
#include "core/base/memory.h"
#include "core/object/errhandler_policy.h"

static const char *path;

static void write_file(const char *text)
{
    path = unit_file(text);
    setenv("PLENUM_ERRHANDLERS", path, 1);
    fake_returning_errors();
}

/* Reads a policy; its outcome. */
static int policy(const char *text)
{
    write_file(text);
    int rc = pl_errhandler_policy_open();
    return rc;
}

/* --- applying ------------------------------------------------------------------------------------------------ */

static int own_calls, heard;
static char heard_class[64];

static void own(MPI_Comm comm, int code, void *state)
{
    (void)comm, (void)code, (void)state;
    own_calls = own_calls * 10 + 1 + heard; /* after how many others? */
}

static void on_error(const struct plenum_error_report *error, void *context)
{
    (void)context;
    heard++;
    snprintf(heard_class, sizeof heard_class, "%s", error->class_name);
}

static struct pl_comm *make_comm(const char *name)
{
    struct pl_comm *comm = fake_comm(name, 0, 4);
    MPI_Errhandler handler;
    MPIX_Comm_create_errhandler_x(own, NULL, NULL, &handler);
    MPI_Comm_set_errhandler((MPI_Comm)comm, handler);
    MPI_Errhandler_free(&handler);
    MPIX_Errhandler_set_callback(on_error, NULL, NULL);
    return comm;
}

/* Raises an error of a class on the communicator and checks which handlers were called. */
static void expect(struct pl_comm *comm, int code, int to_own, int to_callback)
{
    own_calls = heard = 0;
    ck_assert_int_eq(MPI_Comm_call_errhandler((MPI_Comm)comm, code), MPI_SUCCESS);
    ck_assert_int_eq(own_calls, to_own);
    ck_assert_int_eq(heard, to_callback);
}

START_TEST(first_match)
{
    struct pl_comm *ocean = make_comm("ocean surface"), *air = make_comm("air");
    int class, code;
    ck_assert_int_eq(policy(
                         "{ \"rules\": [\n"
                         "  { \"kind\": \"session\", \"handler\": \"plenum://callback\" },\n"
                         "  { \"name\": \"ocean*\", \"class\": \"MPI_ERR_TAG\", \"handler\": \"mpi_errors_return\" },\n"
                         "  { \"kind\": [\"window\", \"communicator\"], \"name\": \"ocean*\", \"class\": "
                         "[\"MPI_ERR_RANK\", \"MPI_ERR_TAG\"],"
                         "    \"handler\": [\"plenum://callback\", \"own\", \"plenum://callback\"] },\n"
                         "  { \"kind\": \"none\", \"handler\": \"plenum://callback\" },\n"
                         "  { \"name\": \"\", \"handler\": \"plenum://callback\" } ] }"),
                     MPI_SUCCESS);
    expect(ocean, MPI_ERR_TAG, 0, 0);
    expect(ocean, MPI_ERR_RANK, 2, 2);
    ck_assert_str_eq(heard_class, "MPI_ERR_RANK");
    expect(ocean, MPI_ERR_ROOT, 1, 0);
    expect(air, MPI_ERR_RANK, 1, 0);
    /* A user-defined code is of the class that it was added to. */
    ck_assert_int_eq(MPI_Add_error_code(MPI_ERR_RANK, &code), MPI_SUCCESS);
    expect(ocean, code, 2, 2);
    ck_assert_int_eq(MPI_Add_error_class(&class), MPI_SUCCESS);
    expect(ocean, class, 1, 0);

    heard = 0;
    ck_assert_int_eq(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
    ck_assert_int_eq(heard, 1);
    ck_assert_int_eq(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO), MPI_SUCCESS); /* without a name */
    ck_assert_int_eq(heard, 2);
    struct pl_instance *session = fake_session();
    ck_assert_int_eq(MPI_Session_call_errhandler((MPI_Session)session, MPI_ERR_ARG), MPI_SUCCESS);
    ck_assert_int_eq(heard, 3);
    fake_session_free(session);

    pl_errhandler_policy_close();
    expect(ocean, MPI_ERR_TAG, 1, 0);
    fake_comm_free(ocean);
    fake_comm_free(air);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 0);
}
END_TEST

static char heard_name[MPI_MAX_OBJECT_NAME];

static void free_it(MPI_Comm handle, int code, void *state)
{
    (void)code, (void)state;
    struct pl_comm *comm = (struct pl_comm *)handle;
    struct pl_errhandler *handler = comm->errhandler;
    comm->errhandler = NULL;
    pl_object_release(handler);
    pl_handle_drop(comm);
}

static void keep_name(const struct plenum_error_report *error, void *context)
{
    (void)context;
    snprintf(heard_name, sizeof heard_name, "%s", error->name);
}

/* A handler frees its communicator before the next handler is called for it. */
START_TEST(freed_by_a_handler)
{
    struct pl_comm *comm = fake_comm("ocean", 0, 4);
    MPI_Errhandler handler;
    ck_assert_int_eq(policy("{ \"rules\": [ { \"handler\": [\"own\", \"plenum://callback\"] } ] }"), MPI_SUCCESS);
    MPIX_Comm_create_errhandler_x(free_it, NULL, NULL, &handler);
    MPI_Comm_set_errhandler((MPI_Comm)comm, handler);
    MPI_Errhandler_free(&handler);
    MPIX_Errhandler_set_callback(keep_name, NULL, NULL);
    ck_assert_int_eq(MPI_Comm_call_errhandler((MPI_Comm)comm, MPI_ERR_RANK), MPI_SUCCESS);
    ck_assert_str_eq(heard_name, "ocean");
    MPIX_Errhandler_set_callback(NULL, NULL, NULL);
    pl_errhandler_policy_close();
    ck_assert_int_eq(pl_object_count(PL_COMM), 0);
    ck_assert_int_eq(pl_object_count(PL_ERRHANDLER), 0);
}
END_TEST

START_TEST(harmless_ones)
{
    struct pl_comm *comm = make_comm("air");
    ck_assert_int_eq(policy("{ \"rules\": [] }"), MPI_SUCCESS);
    expect(comm, MPI_ERR_TAG, 1, 0);
    ck_assert_int_eq(policy("{ \"rules\": [ { \"handler\": \"plenum://callback\" } ] }"), MPI_SUCCESS);
    expect(comm, MPI_ERR_TAG, 0, 1);
    setenv("PLENUM_ERRHANDLERS", "", 1); /* none any more */
    fake_returning_errors();
    ck_assert_int_eq(pl_errhandler_policy_open(), MPI_SUCCESS);
    expect(comm, MPI_ERR_TAG, 1, 0);
    fake_comm_free(comm);
}
END_TEST

/* --- wrong files --------------------------------------------------------------------------------------------- */

static const struct wrong_file wrong[] = {
    { "", 0, "" },
    { "[]", 1, "the top-level value must be an object" },
    { "{\n \"rules\": [ \n } ", 3, "column" },
    { "{}", 1, "\"rules\" must be an array" },
    { "{ \"rules\":\n {} }", 2, "rules: \"rules\" must be an array" },
    { "{ \"rules\": [],\n \"extra\": 1 }", 2, "extra: this key is not known; allowed are rules" },
    { "{ \"rules\": [\n\n 5 ] }", 3, "rules/0: a rule must be an object" },
    { "{ \"rules\": [\n {} ] }", 2, "rules/0: the rule has no \"handler\"" },
    { "{ \"rules\": [ { \"handler\": \"own\" },\n { \"handler\": \"own\",\n \"kin\": \"session\" } ] }", 3,
      "rules/1/kin: this key is not known" },
    { "{ \"rules\": [ { \"handler\":\n \"plenum://lgo\" } ] }", 2,
      "rules/0/handler: \"plenum://lgo\" is not a handler: own, mpi_errors_are_fatal" },
    { "{ \"rules\": [ { \"handler\":\n [] } ] }", 2, "rules/0/handler: the list is empty" },
    { "{ \"rules\": [ { \"handler\":\n [ \"own\",\n 3 ] } ] }", 3, "rules/0/handler/1: must be a text" },
    { "{ \"rules\": [ { \"handler\":\n [\"own\",\"own\",\"own\",\"own\",\"own\",\"own\",\"own\",\"own\",\"own\"] } ] }",
      2, "9 handlers, at most 8" },
    { "{ \"rules\": [ { \"handler\":\n \"plugin://not-there\" } ] }", 2, "rules/0/handler: " },
    { "{ \"rules\": [ { \"handler\": \"own\",\n \"kind\": \"comm\" } ] }", 2,
      "rules/0/kind: \"comm\" is not communicator, session, window, file or none" },
    { "{ \"rules\": [ { \"handler\": \"own\",\n \"kind\": { } } ] }", 2, "rules/0/kind: must be a text" },
    { "{ \"rules\": [ { \"handler\": \"own\",\n \"class\": \"MPI_ERR_RANG\" } ] }", 2,
      "rules/0/class: \"MPI_ERR_RANG\" is not the name of an error class" },
    { "{ \"rules\": [ { \"handler\": \"own\",\n \"class\": 6 } ] }", 2, "rules/0/class: must be a text" },
    { "{ \"rules\": [ { \"handler\": \"own\",\n \"name\": [\"a\"] } ] }", 2, "rules/0/name: must be a text" },
    { "{ \"rules\": [ { \"handler\": \"own\",\n \"handler\": \"own\" } ] }", 2, "duplicate" },
};

START_TEST(wrong_files)
{
    write_file(wrong[_i].text);
    int rc = pl_errhandler_policy_open();
    ck_assert_msg(rc == MPI_ERR_ARG || rc == MPI_ERR_OTHER, "%s: %d", wrong[_i].text, rc);
    wrong_file_expect(&wrong[_i], path);
    struct pl_comm *comm = make_comm("air"); /* no half of a policy */
    expect(comm, MPI_ERR_TAG, 1, 0);
    fake_comm_free(comm);
}
END_TEST

START_TEST(no_file)
{
    setenv("PLENUM_ERRHANDLERS", "/nowhere/policy.json", 1);
    fake_returning_errors();
    ck_assert_int_eq(pl_errhandler_policy_open(), MPI_ERR_ARG);
    ck_assert_str_eq(pl_error_detail(NULL), "/nowhere/policy.json: cannot be opened: No such file or directory");
}
END_TEST

START_TEST(out_of_memory)
{
    fake_returning_errors();
    struct pl_comm *comm = make_comm("air");
    for (int n = 1; n < 100; n++) {
        write_file("{ \"rules\": [ { \"handler\": [ \"plenum://log\", \"own\" ] } ] }");
        pl_memory_fail_at(n);
        int rc = pl_errhandler_policy_open();
        bool failed = pl_memory_failed();
        pl_memory_fail_at(0);
        ck_assert_int_eq(rc, failed ? MPI_ERR_NO_MEM : MPI_SUCCESS);
        if (!failed)
            break;
        expect(comm, MPI_ERR_TAG, 1, 0);
    }
    pl_errhandler_policy_close();
    fake_comm_free(comm);
}
END_TEST

/* --- threads: errors while the policy comes and goes --------------------------------------------------------- */

static _Atomic int stop;
static _Atomic long errors, told;
static struct pl_comm *busy;

static void count(const struct plenum_error_report *error, void *context)
{
    (void)error, (void)context;
    told++;
}

static void *make_errors(void *unused)
{
    (void)unused;
    while (!stop) {
        MPI_Comm_call_errhandler((MPI_Comm)busy, MPI_ERR_TAG);
        errors++;
    }
    return NULL;
}

START_TEST(threads)
{
    pthread_t thread[2];
    busy = fake_comm("busy", 0, 1);
    MPIX_Errhandler_set_callback(count, NULL, NULL);
    write_file("{ \"rules\": [ { \"name\": \"b*y\", \"handler\": \"plenum://callback\" } ] }");
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, make_errors, NULL);
    for (int i = 0; i < 200 || told == 0; i++) {
        ck_assert_int_eq(pl_errhandler_policy_open(), MPI_SUCCESS);
        pl_errhandler_policy_close();
        if (i >= 200)
            ck_assert_int_eq(pl_errhandler_policy_open(), MPI_SUCCESS);
    }
    stop = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    pl_errhandler_policy_close();
    ck_assert_int_le(told, errors);
    fake_comm_free(busy);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("errhandler_policy");
    TCase *all = unit_case(suite);
    const TTest *const tests[] = { first_match, freed_by_a_handler, harmless_ones, no_file, out_of_memory, threads };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(all, tests[i]);
    tcase_add_loop_test(all, wrong_files, 0, sizeof wrong / sizeof *wrong);
    return unit_end(suite);
}
