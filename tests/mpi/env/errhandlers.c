/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers on real objects (MPI-5.0 section 9.3). New communicators inherit them; a later change does not spread.
 * Errors without an object go to MPI_COMM_SELF. Each session has its own handler. A freed handler works where it is
 * attached.
 */
#include "mtest.h"

static int calls, last_class;
static MPI_Comm last_comm;
static MPI_Session last_session;

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_comm = *comm;
    MPI_Error_class(*code, &last_class);
}

static void on_session(MPI_Session *session, int *code, ...)
{
    calls++;
    last_session = *session;
    MPI_Error_class(*code, &last_class);
}

/* Raises an error on the communicator and checks whether our handler was called. */
static void expect_handled(MPI_Comm comm, int handled)
{
    char text[MPI_MAX_ERROR_STRING], name[MPI_MAX_OBJECT_NAME];
    int length, rank = 1 << 30, before = calls;
    CHECK_CLASS(MPI_Send(&rank, 1, MPI_INT, rank, 0, comm), MPI_ERR_RANK);
    CHECK(calls == before + handled);
    CHECK(!handled || (last_comm == comm && last_class == MPI_ERR_RANK));
    MPI_Comm_get_name(comm, name, &length);
    CHECK_OK(MPI_Error_string(MPI_ERR_RANK, text, &length));
    CHECK(strncmp(text, "MPI_Send: rank 1073741824 is not in ", 36) == 0);
    CHECK(strstr(text, name) != NULL);
}

static void inheritance(MPI_Errhandler mine)
{
    MPI_Comm parent, children[4];
    MPI_Group group;
    MPI_Errhandler got;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    CHECK_OK(MPI_Comm_set_name(parent, "ocean"));
    CHECK_OK(MPI_Comm_set_errhandler(parent, mine));
    CHECK_OK(MPI_Comm_group(parent, &group));
    CHECK_OK(MPI_Comm_dup(parent, &children[0]));
    CHECK_OK(MPI_Comm_split(parent, mtest_rank % 2, 0, &children[1]));
    CHECK_OK(MPI_Comm_create(parent, group, &children[2]));
    CHECK_OK(MPI_Comm_create_group(parent, group, 5, &children[3]));
    CHECK_OK(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
    expect_handled(parent, 0);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(MPI_Comm_get_errhandler(children[i], &got));
        CHECK(got == mine);
        CHECK_OK(MPI_Errhandler_free(&got));
        expect_handled(children[i], 1);
        CHECK_OK(MPI_Comm_free(&children[i]));
    }
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_free(&parent));
}

/* Errors of an argument that is not an object, or not a valid one. */
static void without_object(MPI_Errhandler mine)
{
    MPI_Info info = MPI_INFO_NULL;
    int before = calls;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, mine));
    CHECK_CLASS(MPI_Info_free(&info), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK(calls == before + 2 && last_comm == MPI_COMM_SELF && last_class == MPI_ERR_COMM);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Info_free(&info), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    CHECK(calls == before + 2);
}

static void sessions(void)
{
    MPI_Session one, two;
    MPI_Errhandler mine, got;
    MPI_Group group;
    int before;
    CHECK_OK(MPI_Session_create_errhandler(on_session, &mine));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, mine, &one));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &two));
    CHECK_OK(MPI_Errhandler_free(&mine));
    before = calls;
    CHECK(MPI_Group_from_session_pset(one, "test://no such set", &group) != MPI_SUCCESS);
    CHECK(calls == before + 1 && last_session == one);
    CHECK(MPI_Group_from_session_pset(two, "test://no such set", &group) != MPI_SUCCESS);
    CHECK(calls == before + 1);
    CHECK_OK(MPI_Session_get_errhandler(one, &got));
    CHECK_OK(MPI_Session_set_errhandler(two, got));
    CHECK_OK(MPI_Session_set_errhandler(one, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Session_call_errhandler(two, MPI_ERR_OTHER));
    CHECK(calls == before + 2 && last_session == two && last_class == MPI_ERR_OTHER);
    CHECK_OK(MPI_Session_finalize(&one));
    CHECK_OK(MPI_Session_finalize(&two));
}

/* What a handler leaves in the code is returned; nothing is created by a call that failed. */
static int replacement;

static void replace_on_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    calls++;
    *code = replacement;
}

static void replace_on_session(MPI_Session *session, int *code, ...)
{
    (void)session;
    *code = replacement;
}

static void replace_on_win(MPI_Win *win, int *code, ...)
{
    (void)win;
    *code = replacement;
}

static void replace_on_file(MPI_File *file, int *code, ...)
{
    (void)file;
    *code = replacement;
}

static void replaced_on_win(void)
{
    MPI_Errhandler handler;
    MPI_Win win;
    int value = 0;
    CHECK_OK(MPI_Win_create_errhandler(replace_on_win, &handler));
    CHECK_OK(MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, handler));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 2; i++) {
        replacement = i == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
        CHECK(MPI_Put(&value, 1, MPI_INT, 99, 0, 1, MPI_INT, win) == replacement);
        CHECK(MPI_Put(&value, 1, MPI_INT, 0, 8, 1, MPI_INT, win) == replacement);
    }
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Errhandler_free(&handler));
}

/* A file that cannot be opened has the handler of MPI_FILE_NULL. */
static void replaced_on_file(void)
{
    MPI_Errhandler handler, before;
    MPI_File file = MPI_FILE_NULL;
    CHECK_OK(MPI_File_create_errhandler(replace_on_file, &handler));
    CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &before));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    for (int i = 0; i < 2; i++) {
        replacement = i == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
        CHECK(MPI_File_open(MPI_COMM_SELF, "/no such place/x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == replacement);
        CHECK(file == MPI_FILE_NULL);
        CHECK(MPI_File_delete("/no such place/x", MPI_INFO_NULL) == replacement);
    }
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, before));
    CHECK_OK(MPI_Errhandler_free(&before));
    CHECK_OK(MPI_Errhandler_free(&handler));
}

static void replaced(void)
{
    MPI_Errhandler handler, of_session;
    MPI_Session session;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm, child = MPI_COMM_WORLD;
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    int data[2] = { 1, 2 }, in = 0, before = calls;
    CHECK_OK(MPI_Comm_create_errhandler(replace_on_comm, &handler));
    CHECK_OK(MPI_Session_create_errhandler(replace_on_session, &of_session));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, of_session, &session));
    for (int i = 0; i < 2; i++) {
        replacement = i == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
        CHECK(MPI_Send(data, 1, MPI_INT, 99, 0, comm) == replacement);
        CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
        CHECK(MPI_Bcast(data, -1, MPI_INT, 0, comm) == replacement);
        CHECK(MPI_Comm_split(comm, -5, 0, &child) == replacement && child == MPI_COMM_WORLD);
        CHECK(MPI_Group_from_session_pset(session, "test://no such set", &group) == replacement);
        CHECK_OK(MPI_Isend(data, 2, MPI_INT, 0, 1, comm, &requests[0]));
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 1, comm, &requests[1]));
        CHECK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE) == replacement && requests[1] == MPI_REQUEST_NULL);
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_TAG));
    }
    CHECK(calls == before + 10);
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Errhandler_free(&of_session));
}

int main(int argc, char **argv)
{
    MPI_Errhandler mine;
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_create_errhandler(on_comm, &mine));
    without_object(mine);
    inheritance(mine);
    sessions();
    replaced();
    replaced_on_win();
    replaced_on_file();
    CHECK_OK(MPI_Errhandler_free(&mine));
    MTEST_END;
}
