/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers that do not return: longjmp() leaves them and the MPI function that has failed, as exceptions of other
 * languages do. Whatever has failed, the library holds no lock and no object afterwards, communicates as before, and
 * invokes the next handler, however deep in a recursion.
 */
#include <setjmp.h>

#include "mtest.h"

static jmp_buf back;
static int times_left;
static MPI_Comm comm; /* whose errors are left */
static MPI_Errhandler of_comm, of_win, of_file, of_session;
static int right, left, numbers[4], taken[4];

static void leave(void)
{
    times_left++;
    longjmp(back, 1);
}

static void leave_comm(MPI_Comm *failed, int *code, ...)
{
    (void)failed, (void)code;
    leave();
}

static void leave_win(MPI_Win *failed, int *code, ...)
{
    (void)failed, (void)code;
    leave();
}

static void leave_file(MPI_File *failed, int *code, ...)
{
    (void)failed, (void)code;
    leave();
}

static void leave_session(MPI_Session *failed, int *code, ...)
{
    (void)failed, (void)code;
    leave();
}

#define CHECK_LEAVES(call)                                                                                             \
    do {                                                                                                               \
        int times_before = times_left;                                                                                 \
        if (setjmp(back) == 0)                                                                                         \
            (void)(call);                                                                                              \
        CHECK(times_left == times_before + 1);                                                                         \
    } while (0)

static void communicates(MPI_Comm on)
{
    int sum = -1, got = -1;
    CHECK_OK(MPI_Allreduce(&mtest_rank, &sum, 1, MPI_INT, MPI_SUM, on));
    CHECK(sum == mtest_size * (mtest_size - 1) / 2);
    CHECK_OK(MPI_Sendrecv(&mtest_rank, 1, MPI_INT, right, 1, &got, 1, MPI_INT, left, 1, on, MPI_STATUS_IGNORE));
    CHECK(got == left);
}

/* Four numbers for the right neighbour, which has room for one. */
static MPI_Request send_long(MPI_Comm on)
{
    MPI_Request request;
    CHECK_OK(MPI_Isend(numbers, 4, MPI_INT, right, 2, on, &request));
    return request;
}

static void messages(void)
{
    MPI_Request send, receives[2];
    MPI_Status statuses[2];
    MPI_Message message;
    CHECK_LEAVES(MPI_Send(numbers, 1, MPI_INT, mtest_size, 0, comm));
    send = send_long(comm);
    CHECK_LEAVES(MPI_Recv(taken, 1, MPI_INT, left, 2, comm, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));

    send = send_long(comm);
    CHECK_OK(MPI_Irecv(taken, 1, MPI_INT, left, 2, comm, &receives[0]));
    CHECK_LEAVES(MPI_Wait(&receives[0], MPI_STATUS_IGNORE));
    CHECK(receives[0] == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));

    CHECK_OK(MPI_Irecv(taken, 1, MPI_INT, left, 2, comm, &receives[0]));
    receives[1] = send_long(comm);
    CHECK_LEAVES(MPI_Waitall(2, receives, statuses));
    CHECK(receives[0] == MPI_REQUEST_NULL && receives[1] == MPI_REQUEST_NULL);

    send = send_long(comm);
    CHECK_OK(MPI_Mprobe(left, 2, comm, &message, MPI_STATUS_IGNORE));
    CHECK_LEAVES(MPI_Mrecv(taken, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_LEAVES(MPI_Sendrecv(numbers, 4, MPI_INT, right, 3, taken, 1, MPI_INT, left, 3, comm, MPI_STATUS_IGNORE));
}

/* The communicator lives until its last operation has failed. */
static void freed(void)
{
    MPI_Comm other;
    MPI_Request send, receive;
    CHECK_OK(MPI_Comm_dup(comm, &other));
    send = send_long(other);
    CHECK_OK(MPI_Irecv(taken, 1, MPI_INT, left, 2, other, &receive));
    CHECK_OK(MPI_Comm_free(&other));
    CHECK_LEAVES(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

static int refusals;
static int refuse_once(MPI_Comm of, int keyval, void *value, void *extra)
{
    (void)of, (void)keyval, (void)value, (void)extra;
    return refusals++ == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void attributes(void)
{
    int keyval;
    MPI_Comm other;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_once, &keyval, NULL));
    CHECK_OK(MPI_Comm_dup(comm, &other));
    CHECK_OK(MPI_Comm_set_attr(other, keyval, &keyval));
    refusals = 0;
    CHECK_LEAVES(MPI_Comm_delete_attr(other, keyval));
    refusals = 0;
    CHECK_LEAVES(MPI_Comm_free(&other));
    CHECK_OK(MPI_Comm_free(&other));
    CHECK(refusals == 2);
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    CHECK_LEAVES(MPI_Comm_dup(comm, NULL));
}

static void others(void)
{
    MPI_Win win;
    MPI_File file;
    MPI_Session session;
    MPI_Group group;
    CHECK_OK(MPI_Win_create(numbers, sizeof numbers, 1, MPI_INFO_NULL, comm, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, of_win));
    CHECK_LEAVES(MPI_Put(taken, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    CHECK_LEAVES(MPI_Win_lock(MPI_LOCK_SHARED, mtest_size, 0, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));

    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, of_file));
    CHECK_LEAVES(MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));

    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, of_session, &session));
    CHECK_LEAVES(MPI_Group_from_session_pset(session, "no such set", &group));
    CHECK_OK(MPI_Session_finalize(&session));
}

/* Each error is raised deeper in the stack than those before, so that their handlers seem to be running. */
static void descend(int levels)
{
    CHECK_LEAVES(MPI_Bcast(numbers, 1, MPI_INT, mtest_size, comm));
    if (levels > 0)
        descend(levels - 1);
}

/* Each handler runs inside the one before: the library invokes 16. */
static int nested;
static void nest(MPI_Comm *failed, int *code, ...)
{
    (void)code;
    nested++;
    CHECK_CLASS(MPI_Send(numbers, 1, MPI_INT, mtest_size, 0, *failed), MPI_ERR_RANK);
}

static void nests(void)
{
    MPI_Errhandler handler;
    nested = 0;
    CHECK_OK(MPI_Comm_create_errhandler(nest, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_CLASS(MPI_Send(numbers, 1, MPI_INT, mtest_size, 0, comm), MPI_ERR_RANK);
    CHECK(nested == 16);
    CHECK_OK(MPI_Comm_set_errhandler(comm, of_comm));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    right = (mtest_rank + 1) % mtest_size;
    left = (mtest_rank + mtest_size - 1) % mtest_size;
    CHECK_OK(MPI_Comm_create_errhandler(leave_comm, &of_comm));
    CHECK_OK(MPI_Win_create_errhandler(leave_win, &of_win));
    CHECK_OK(MPI_File_create_errhandler(leave_file, &of_file));
    CHECK_OK(MPI_Session_create_errhandler(leave_session, &of_session));
    unsigned long communicators = mtest_live("live_communicators"), sessions = mtest_live("live_sessions");
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        CHECK_OK(MPI_Comm_set_errhandler(comm, of_comm));
        messages();
        freed();
        attributes();
        others();
        descend(40);
        nests();
        communicates(comm);
        communicates(MPI_COMM_WORLD);
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK(mtest_live("live_communicators") == communicators);
        CHECK(mtest_live("live_sessions") == sessions);
        CHECK(mtest_live("live_windows") == 0);
    }
    CHECK_OK(MPI_Errhandler_free(&of_comm));
    CHECK_OK(MPI_Errhandler_free(&of_win));
    CHECK_OK(MPI_Errhandler_free(&of_file));
    CHECK_OK(MPI_Errhandler_free(&of_session));
    MTEST_END;
}
