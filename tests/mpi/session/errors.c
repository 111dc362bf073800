/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors of sessions (MPI-5.0 sections 9.3 and 11.3): they invoke the session's own handler, which its communicators do
 * not share unless told so. So do those of functions of its groups, also of groups made from them and of its
 * communicators, while the session lives. A finalized or foreign handle is MPI_ERR_SESSION. A group of a finalized
 * session makes no communicator, and a process that is not a member of a group cannot create one from it.
 */
#include "mtest.h"

static int session_errors, comm_errors;

static void count_session(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code;
    session_errors++;
}

static void count_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    comm_errors++;
}

/* An error of a function of this group: a rank that it does not have. */
static void err_with(MPI_Group group)
{
    MPI_Group made;
    CHECK_CLASS(MPI_Group_incl(group, 1, &(int){ 1000000 }, &made), MPI_ERR_RANK);
}

static void errors_of_groups(MPI_Session session)
{
    int before = session_errors, count = 0;
    MPI_Session other;
    MPI_Group group, part, of_comm, of_other, world;
    MPI_Comm comm;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    CHECK_OK(MPI_Group_incl(group, 1, &(int){ 0 }, &part));
    CHECK_OK(MPI_Comm_create_from_group(group, "of_groups", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Comm_group(comm, &of_comm));
    err_with(group);
    err_with(part);
    err_with(of_comm);
    CHECK_CLASS(MPI_Group_size(group, NULL), MPI_ERR_ARG);
    CHECK(session_errors == before + 4);
    CHECK_CLASS(MPI_Comm_create_from_group(group, NULL, MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &comm), MPI_ERR_ARG);
    CHECK(session_errors == before + 5);

    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
    CHECK_OK(MPI_Group_from_session_pset(other, "mpi://SELF", &of_other));
    err_with(of_other);
    CHECK_CLASS(MPI_Comm_create_group(comm, of_other, 0, &comm), MPI_ERR_GROUP); /* the communicator's */
    CHECK_OK(MPI_Session_finalize(&other));
    err_with(of_other); /* MPI_COMM_SELF's: its session has gone */
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    err_with(world);
    CHECK_OK(MPI_Group_size(MPI_GROUP_EMPTY, &count));
    CHECK_CLASS(MPI_Group_size(MPI_GROUP_EMPTY, NULL), MPI_ERR_ARG);
    CHECK(session_errors == before + 5 && comm_errors == 0);

    MPI_Group_free(&world);
    MPI_Group_free(&of_other);
    MPI_Group_free(&of_comm);
    MPI_Group_free(&part);
    MPI_Group_free(&group);
    CHECK_OK(MPI_Comm_free(&comm));
    session_errors = before;
}

/* A session that cannot be opened: the handler of the call gets the error, whichever argument is wrong. */
static void errors_of_init(MPI_Errhandler of_session)
{
    int before = session_errors;
    MPI_Session session;
    MPI_Info info, stale;
    CHECK_OK(MPI_Info_create(&info));
    stale = info;
    CHECK_OK(MPI_Info_free(&info));
    CHECK_CLASS(MPI_Session_init(stale, of_session, &session), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Session_init(MPI_INFO_NULL, of_session, NULL), MPI_ERR_ARG);
    CHECK(session_errors == before + 2);
    session_errors = before;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Session session, stale;
    MPI_Errhandler of_session, of_comm;
    MPI_Group group, kept, other;
    MPI_Comm comm = MPI_COMM_NULL;
    char name[8], endless[MPI_MAX_STRINGTAG_LEN + 8];
    int length = sizeof name;
    CHECK_OK(MPI_Session_create_errhandler(count_session, &of_session));
    CHECK_OK(MPI_Comm_create_errhandler(count_comm, &of_comm));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, of_session, &session));

    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1000, &length, name), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://NOWHERE", &group), MPI_ERR_ARG);
    CHECK(session_errors == 2 && comm_errors == 0);
    length = -1;
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name), MPI_ERR_ARG);
    CHECK(session_errors == 3 && length == -1);
    session_errors = 2;
    errors_of_groups(session);
    errors_of_init(of_session);

    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    kept = group;
    CHECK_OK(MPI_Comm_create_from_group(group, "one", MPI_INFO_NULL, of_comm, &comm));
    CHECK_CLASS(MPI_Send(name, 1, MPI_CHAR, 1, 0, comm), MPI_ERR_RANK);
    CHECK(session_errors == 2 && comm_errors == 1);
    CHECK_OK(MPI_Comm_free(&comm));

    memset(endless, 't', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    /* The handler of a new communicator is not that of the call. */
    CHECK_CLASS(MPI_Comm_create_from_group(group, endless, MPI_INFO_NULL, of_comm, &comm), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_create_from_group(group, "wrong", MPI_INFO_NULL, of_session, &comm), MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_Session_set_errhandler(session, of_comm), MPI_ERR_ERRHANDLER);
    CHECK(session_errors == 5);
    if (mtest_size > 1) {
        CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        CHECK_OK(MPI_Group_incl(group, 1, &(int){ (mtest_rank + 1) % mtest_size }, &other));
        CHECK_CLASS(MPI_Comm_create_from_group(other, "others", MPI_INFO_NULL, of_comm, &comm), MPI_ERR_GROUP);
        CHECK(session_errors == 6 && comm_errors == 1);
        MPI_Group_free(&other);
        MPI_Group_free(&group);
    }

    stale = session;
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_CLASS(MPI_Comm_create_from_group(kept, "late", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_GROUP);
    CHECK_OK(MPI_Group_free(&kept));
    MPI_Session bad[] = { MPI_SESSION_NULL, stale, (MPI_Session)(void *)name };
    for (int i = 0; i < 3; i++) {
        CHECK_CLASS(MPI_Session_get_num_psets(bad[i], MPI_INFO_NULL, &length), MPI_ERR_SESSION);
        CHECK_CLASS(MPI_Group_from_session_pset(bad[i], "mpi://WORLD", &group), MPI_ERR_SESSION);
        session = bad[i];
        CHECK_CLASS(MPI_Session_finalize(&session), MPI_ERR_SESSION);
    }
    CHECK_OK(MPI_Errhandler_free(&of_comm));
    CHECK_OK(MPI_Errhandler_free(&of_session));
    MTEST_END;
}
