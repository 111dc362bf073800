/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers by name and with contexts (mpi-ext.h) on real objects: chosen in code and by info keys, inherited,
 * called with the right error, and alive exactly as long as they are used.
 */
#include "mtest.h"

#include <mpi-ext.h>

static int heard, destroyed[4];
static struct plenum_error_report last;
static char last_name[MPI_MAX_OBJECT_NAME], last_message[MPI_MAX_ERROR_STRING];

static void on_error(const struct plenum_error_report *error, void *context)
{
    CHECK(context == &heard);
    heard++;
    last = *error;
    snprintf(last_name, sizeof last_name, "%s", error->name);
    snprintf(last_message, sizeof last_message, "%s", error->message);
}

static void destroy(void *context)
{
    ++*(int *)context;
}

/* Raises an error on the communicator: is the callback called? */
static void expect_heard(MPI_Comm comm, const char *name, int times)
{
    int before = heard, far = 1 << 30;
    CHECK_CLASS(MPI_Send(&far, 1, MPI_INT, far, 0, comm), MPI_ERR_RANK);
    CHECK(heard == before + times);
    if (!times)
        return;
    CHECK(strcmp(last.kind, "communicator") == 0 && last.handle == (void *)comm && strcmp(last_name, name) == 0);
    CHECK(strcmp(last.function, "MPI_Send") == 0 && strcmp(last.class_name, "MPI_ERR_RANK") == 0);
    CHECK(last.error_class == MPI_ERR_RANK && last.rank == mtest_rank);
    CHECK(strncmp(last_message, "MPI_Send: rank 1073741824 is not in ", 36) == 0);
}

static MPI_Info choose(const char *name)
{
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "plenum_errhandler", name));
    return info;
}

static void inheritance(MPI_Errhandler named)
{
    MPI_Comm parent, split, inter, merged;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    CHECK_OK(MPI_Comm_set_name(parent, "ocean"));
    expect_heard(parent, "", 0);
    CHECK_OK(MPI_Comm_set_errhandler(parent, named));
    expect_heard(parent, "ocean", 1);
    CHECK_OK(MPI_Comm_split(parent, mtest_rank % 2, 0, &split));
    expect_heard(split, "", 1);
    if (mtest_size > 1) {
        CHECK_OK(MPI_Intercomm_create(split, 0, MPI_COMM_WORLD, 1 - mtest_rank % 2, 3, &inter));
        expect_heard(inter, "", 1);
        CHECK_OK(MPI_Intercomm_merge(inter, 0, &merged));
        expect_heard(merged, "", 1);
        CHECK_OK(MPI_Comm_free(&merged));
        CHECK_OK(MPI_Comm_free(&inter));
    }
    CHECK_OK(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN)); /* a change does not spread */
    expect_heard(split, "", 1);
    expect_heard(parent, "ocean", 0);
    CHECK_OK(MPI_Comm_free(&split));
    CHECK_OK(MPI_Comm_free(&parent));
}

static void info_of_communicators(void)
{
    MPI_Info info = choose("plenum://callback"), wrong = choose("plenum://lgo");
    MPI_Comm comm, child;
    MPI_Request request;
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    expect_heard(comm, "", 1);
    CHECK_OK(MPI_Comm_dup(comm, &child));
    expect_heard(child, "", 1);
    CHECK_OK(MPI_Comm_free(&child));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    expect_heard(comm, "", 1);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &comm));
    expect_heard(comm, "", 1);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_CLASS(MPI_Comm_dup_with_info(MPI_COMM_WORLD, wrong, &comm), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(MPI_Comm_idup_with_info(MPI_COMM_WORLD, wrong, &comm, &request), MPI_ERR_INFO_VALUE);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Info_free(&wrong));
}

static void on_session(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code;
    CHECK(!"a handler for sessions is not called for a communicator");
}

static void sessions(void)
{
    MPI_Info info = choose("plenum://callback"), wrong = choose("");
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Errhandler mine;
    int before = heard;
    CHECK_CLASS(MPI_Session_init(wrong, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO_VALUE);
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session)); /* the key counts */
    CHECK(MPI_Group_from_session_pset(session, "no://such set", &group) != MPI_SUCCESS);
    CHECK(heard == before + 1 && strcmp(last.kind, "session") == 0 && last.handle == (void *)session &&
          last.rank == mtest_rank);
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_CLASS(MPI_Comm_create_from_group(group, "wrong", wrong, MPI_ERRORS_RETURN, &comm), MPI_ERR_INFO_VALUE);
    CHECK_OK(MPI_Comm_create_from_group(group, "right", info, MPI_ERRORS_RETURN, &comm));
    expect_heard(comm, "", 1);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_create_from_group(group, "given", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    expect_heard(comm, "", 0);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_create_from_group(group, "session's", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &comm));
    expect_heard(comm, "", 1);
    CHECK_OK(MPI_Comm_free(&comm));

    CHECK_OK(MPI_Session_create_errhandler(on_session, &mine));
    CHECK_OK(MPI_Session_set_errhandler(session, mine));
    CHECK_OK(MPI_Errhandler_free(&mine));
    CHECK_OK(MPI_Comm_create_from_group(group, "none", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &comm));
    expect_heard(comm, "", 0);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Info_free(&wrong));
}

static void ignore(MPI_Comm comm, int code, void *state)
{
    (void)comm, (void)code, (void)state;
}

static void ignore_file(MPI_File file, int code, void *state)
{
    (void)file, (void)code, (void)state;
}

/* Errors of a call on a freed communicator go to the handler of MPI_COMM_SELF. */
static void freed_object(MPI_Errhandler named)
{
    MPI_Comm comm, stale;
    int before = heard, size;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, named));
    stale = comm;
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_CLASS(MPI_Comm_size(stale, &size), MPI_ERR_COMM);
    CHECK(heard == before);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, named));
    CHECK_CLASS(MPI_Comm_size(stale, &size), MPI_ERR_COMM);
    CHECK(heard == before + 1 && strcmp(last.kind, "none") == 0 && last.handle == NULL && last.rank == mtest_rank);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

int main(int argc, char **argv)
{
    MPI_Errhandler named, context[3], of_files;
    MPI_Comm comm;
    setenv("PLENUM_INITIAL_ERRHANDLER", "mpi_errors_return", 1);      /* before MPI_Init and after MPI_Finalize */
    CHECK_OK(MPIX_Errhandler_from_name("plenum://callback", &named)); /* before initialization */
    CHECK_OK(MPIX_Errhandler_set_callback(on_error, NULL, &heard));
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    inheritance(named);
    info_of_communicators();
    sessions();
    freed_object(named);

    for (int i = 0; i < 3; i++)
        CHECK_OK(MPIX_Comm_create_errhandler_x(ignore, destroy, &destroyed[i], &context[i]));
    CHECK_OK(MPIX_File_create_errhandler_x(ignore_file, destroy, &destroyed[3], &of_files));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, context[0]));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, context[1]));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, of_files));
    CHECK_OK(MPI_Errhandler_free(&of_files));
    CHECK_OK(MPI_Errhandler_free(&context[0]));
    CHECK_OK(MPI_Errhandler_free(&context[1]));
    CHECK(destroyed[0] == 0 && destroyed[1] == 0);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(destroyed[0] == 1);
    mtest_kept = 2; /* named and context[2] */
    int code = mtest_end(__FILE__);
    int all = destroyed[0] == 1 && destroyed[1] == 1 && destroyed[2] == 0 &&
              destroyed[3] == 1; /* the World's objects are gone, but the user's handle is valid */
    all = all && MPI_Errhandler_free(&context[2]) == MPI_SUCCESS && destroyed[2] == 1;
    all = all && MPI_Errhandler_free(&named) == MPI_SUCCESS;
    all = all && MPIX_Errhandler_from_name("plenum://log", &named) == MPI_SUCCESS &&
          MPI_Errhandler_free(&named) == MPI_SUCCESS;
    if (!all)
        fprintf(stderr, "after MPI_Finalize: destroyed %d %d %d %d\n", destroyed[0], destroyed[1], destroyed[2],
                destroyed[3]);
    return code || !all;
}
