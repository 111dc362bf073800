/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors of sessions (MPI-5.0 sections 9.3 and 11.3): they invoke the session's own handler, which its communicators do
 * not share unless told so. A finalized or foreign handle is MPI_ERR_SESSION. A group of a finalized session makes no
 * communicator, and a process that is not a member of a group cannot create one from it.
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

    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    kept = group;
    CHECK_OK(MPI_Comm_create_from_group(group, "one", MPI_INFO_NULL, of_comm, &comm));
    CHECK_CLASS(MPI_Send(name, 1, MPI_CHAR, 1, 0, comm), MPI_ERR_RANK);
    CHECK(session_errors == 2 && comm_errors == 1);
    CHECK_OK(MPI_Comm_free(&comm));

    memset(endless, 't', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    CHECK_CLASS(MPI_Comm_create_from_group(group, endless, MPI_INFO_NULL, of_comm, &comm), MPI_ERR_ARG);
    CHECK(comm_errors == 2);
    CHECK_CLASS(MPI_Comm_create_from_group(group, "wrong", MPI_INFO_NULL, of_session, &comm), MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_Session_set_errhandler(session, of_comm), MPI_ERR_ERRHANDLER);
    CHECK(session_errors == 3);
    if (mtest_size > 1) {
        CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        CHECK_OK(MPI_Group_incl(group, 1, &(int){ (mtest_rank + 1) % mtest_size }, &other));
        CHECK_CLASS(MPI_Comm_create_from_group(other, "others", MPI_INFO_NULL, of_comm, &comm), MPI_ERR_GROUP);
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
