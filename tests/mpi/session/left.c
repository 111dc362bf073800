/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process ends its session while the others continue with a communicator that contains it: a process that waits for
 * it gets an error, in whatever call it waits. A request that is only started may be cancelled, and the other processes
 * continue among themselves.
 */
#include "mtest.h"

static MPI_Comm comm, other; /* of the same processes: a failed collective breaks its own communicator only */
static int last;

/* What was sent before is received; nothing arrives afterwards. */
static void wait_for_it(void)
{
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Status status;
    int word = -1, flag = 0, index;
    char parts[4];
    CHECK_OK(MPI_Recv(&word, 1, MPI_INT, last, 1, comm, &status));
    CHECK(word == last);
    CHECK_OK(MPI_Irecv(&word, 1, MPI_INT, last, 2, comm, &requests[0]));
    CHECK_CLASS(MPI_Recv(&word, 1, MPI_INT, last, 2, comm, &status), MPI_ERR_PROC_ABORTED);
    CHECK_OK(MPI_Test(&requests[0], &flag, &status));
    CHECK(!flag);
    CHECK_OK(MPI_Cancel(&requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], &status));
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    CHECK_CLASS(MPI_Probe(last, MPI_ANY_TAG, comm, &status), MPI_ERR_PROC_ABORTED);
    CHECK_CLASS(MPI_Mprobe(last, 2, comm, &message, &status), MPI_ERR_PROC_ABORTED);
    CHECK_OK(MPI_Iprobe(last, 2, comm, &flag, &status));
    CHECK(!flag);
    CHECK_CLASS(MPI_Sendrecv(&mtest_rank, 1, MPI_INT, mtest_rank, 3, &word, 1, MPI_INT, last, 3, comm, &status),
                MPI_ERR_PROC_ABORTED);
    CHECK_OK(MPI_Recv(&word, 1, MPI_INT, mtest_rank, 3, comm, &status));

    /* Of two in a Waitany one may still come. */
    word = -1;
    CHECK_OK(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 4, comm, &requests[0]));
    CHECK_OK(MPI_Irecv(&flag, 1, MPI_INT, last, 4, comm, &requests[1]));
    CHECK_OK(MPI_Send(&mtest_rank, 1, MPI_INT, mtest_rank, 4, comm));
    CHECK_OK(MPI_Waitany(2, requests, &index, &status));
    CHECK(index == 0 && word == mtest_rank);
    CHECK_CLASS(MPI_Waitany(2, requests, &index, &status), MPI_ERR_PROC_ABORTED);
    CHECK(index == 1);

    CHECK_OK(MPI_Precv_init(parts, 2, 2, MPI_CHAR, last, 5, comm, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Start(&requests[0]));
    CHECK_CLASS(MPI_Wait(&requests[0], &status), MPI_ERR_PROC_ABORTED);
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK(MPI_Ssend(&word, 1, MPI_INT, last, 6, comm) != MPI_SUCCESS);
}

static void go_on(void)
{
    int right = (mtest_rank + 1) % last, left = (mtest_rank + last - 1) % last, word = -1;
    for (int i = 0; i < 20; i++) {
        CHECK_OK(MPI_Sendrecv(&mtest_rank, 1, MPI_INT, right, 9, &word, 1, MPI_INT, left, 9, comm, MPI_STATUS_IGNORE));
        CHECK(word == left);
    }
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    int word;
    MTEST_INIT(argc, argv);
    last = mtest_size - 1;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "left", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Comm_create_from_group(group, "other", MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
    MPI_Group_free(&group);
    CHECK_OK(MPI_Barrier(comm));
    for (int i = 0; mtest_rank == last && i < last; i++) { /* all have spoken with it */
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, i, 0, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send(&mtest_rank, 1, MPI_INT, i, 1, comm));
    }
    if (mtest_rank < last) {
        CHECK_OK(MPI_Send(&mtest_rank, 1, MPI_INT, last, 0, comm));
        wait_for_it();
        go_on();
        CHECK_CLASS(MPI_Barrier(other), MPI_ERR_PROC_ABORTED);
        go_on();
    }
    CHECK_OK(MPI_Comm_free(&other));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
