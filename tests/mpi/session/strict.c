/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The finalization of a strict session (info key plenum_strict) names what the user has not freed: communicators,
 * receives and requests, messages that were never received. The session still exists when its handler gets the error,
 * and is finalized nevertheless. Without the key the same program has no error, nor has a strict session without leaks.
 */
#include "mtest.h"

static int reports;
static char report[MPI_MAX_ERROR_STRING];

static void note(MPI_Session *session, int *code, ...)
{
    int length;
    MPI_Info info;
    reports++;
    CHECK_OK(MPI_Error_string(*code, report, &length));
    CHECK_OK(MPI_Session_get_info(*session, &info)); /* it is still alive */
    CHECK_OK(MPI_Info_free(&info));
}

static MPI_Session begin(const char *strict, MPI_Comm *comm)
{
    MPI_Session session;
    MPI_Info info;
    MPI_Group self;
    MPI_Errhandler handler;
    CHECK_OK(MPI_Session_create_errhandler(note, &handler));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "plenum_strict", strict));
    CHECK_OK(MPI_Session_init(info, handler, &session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
    CHECK_OK(MPI_Comm_create_from_group(self, "strict", MPI_INFO_NULL, MPI_ERRORS_RETURN, comm));
    CHECK_OK(MPI_Group_free(&self));
    CHECK_OK(MPI_Comm_set_name(*comm, "ocean"));
    return session;
}

/* Finalizes the session; every text must be in the report, and `class` is the result. */
static void end(MPI_Session session, int class, const char *const texts[])
{
    int before = reports;
    CHECK_CLASS(MPI_Session_finalize(&session), class);
    CHECK(session == MPI_SESSION_NULL);
    CHECK(reports == before + (class != MPI_SUCCESS));
    for (int i = 0; texts && texts[i]; i++)
        if (!CHECK(strstr(report, texts[i]) != NULL))
            fprintf(stderr, "\"%s\" is not in: %s\n", texts[i], report);
}
#define TEXTS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void clean(void)
{
    MPI_Comm comm;
    MPI_Request request;
    int value = 0;
    MPI_Session session = begin("true", &comm);
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, 0, 1, comm, &request));
    CHECK_OK(MPI_Send(&(int){ 5 }, 1, MPI_INT, 0, 1, comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(value == 5);
    CHECK_OK(MPI_Comm_free(&comm));
    end(session, MPI_SUCCESS, NULL);
}

static void forgotten_comm(const char *strict, int class)
{
    MPI_Comm comm, copy;
    MPI_Session session = begin(strict, &comm);
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    CHECK_OK(MPI_Comm_set_name(copy, "atmosphere"));
    CHECK_OK(MPI_Comm_free(&comm));
    report[0] = '\0';
    end(session, class, class ? TEXTS("communicator \"atmosphere\" (not freed)") : NULL);
    CHECK(!strstr(report, "ocean"));
}

/* Objects without a name are told by the function that made them, and counted. */
static void forgotten_unnamed(void)
{
    MPI_Comm comm, copy;
    MPI_Request request;
    MPI_Win win;
    MPI_Session session = begin("true", &comm);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Comm_dup(comm, &copy));
        CHECK_OK(MPI_Comm_split(comm, 0, 0, &copy));
        CHECK_OK(MPI_Comm_free(&copy));
    }
    CHECK_OK(MPI_Comm_split(comm, 0, 0, &copy));
    CHECK_OK(MPI_Comm_idup(comm, &copy, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    CHECK_OK(MPI_Comm_free(&comm));
    end(session, MPI_ERR_OTHER,
        TEXTS("left alive in it, 6: ", "3 communicators of MPI_Comm_dup (not freed)",
              "communicator of MPI_Comm_split (not freed)", "communicator of MPI_Comm_idup (not freed)",
              "window of MPI_Win_create_dynamic (not freed)"));
}

static void forgotten_requests(void)
{
    MPI_Comm comm, kept;
    MPI_Request posted, inactive;
    int value = 7, in = -1;
    MPI_Session session = begin("true", &comm);
    kept = comm;
    CHECK_OK(MPI_Send_init(&value, 1, MPI_INT, 0, 1, comm, &inactive));
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 42, comm, &posted));
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 3, comm));
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 4, comm));
    CHECK_OK(MPI_Comm_free(&comm));
    end(session, MPI_ERR_OTHER,
        TEXTS("communicator \"ocean\" (", "1 receive under way, the first from rank 0 with tag 42", "1 more request",
              "2 messages not received, the first from rank 0 with tag 3"));
    CHECK_CLASS(MPI_Comm_size(kept, &in), MPI_ERR_COMM);
    CHECK_OK(MPI_Request_free(&inactive));
    CHECK_OK(MPI_Wait(&posted, MPI_STATUS_IGNORE));
}

static void forgotten_message(void)
{
    MPI_Comm comm;
    MPI_Message message;
    int value = 7;
    MPI_Session session = begin("true", &comm);
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 3, comm));
    CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&comm));
    end(session, MPI_ERR_OTHER, TEXTS("1 request or matched message"));
    CHECK_CLASS(MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_REQUEST); /* which frees it */
    CHECK(message == MPI_MESSAGE_NULL);
}

/* An intercommunicator is one object for the user. */
static void forgotten_intercomm(void)
{
    MPI_Session session;
    MPI_Info info;
    MPI_Group world;
    MPI_Comm comm, half, inter;
    int rank, size;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "plenum_strict", "true"));
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    CHECK_OK(MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&world));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (size > 1) {
        CHECK_OK(MPI_Comm_split(comm, rank % 2, 0, &half));
        CHECK_OK(MPI_Intercomm_create(half, 0, comm, 1 - rank % 2, 9, &inter));
        CHECK_OK(MPI_Comm_set_name(inter, "coupling"));
        CHECK_OK(MPI_Comm_free(&half));
    }
    CHECK_OK(MPI_Comm_free(&comm));
    int rc = MPI_Session_finalize(&session), length;
    CHECK_CLASS(rc, size > 1 ? MPI_ERR_OTHER : MPI_SUCCESS);
    CHECK(session == MPI_SESSION_NULL);
    if (size == 1)
        return;
    CHECK_OK(MPI_Error_string(rc, report, &length));
    CHECK(strstr(report, "communicator \"coupling\" (not freed)") && !strstr(report, "unnamed"));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int round = 0; round < 3; round++) {
        clean();
        forgotten_comm("true", MPI_ERR_OTHER);
        forgotten_comm("false", MPI_SUCCESS);
        forgotten_unnamed();
        forgotten_requests();
        forgotten_message();
        forgotten_intercomm();
    }
    MTEST_END;
}
