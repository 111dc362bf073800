/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 7 */
/*
 * All ranks but one finalize, some without having sent a message to it. Its waits for them, or for any source, end with
 * an error. What they have sent before is there. What it only tests and probes for stays as it is, and may be
 * cancelled.
 */
#include "mtest.h"

static void stay(void)
{
    int last = mtest_size - 1, word = -1, flag = 1;
    MPI_Request request;
    MPI_Status status;
    CHECK_OK(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status));
    CHECK(word == 41 && status.MPI_SOURCE == 1);
    CHECK_CLASS(MPI_Recv(&word, 1, MPI_INT, last, 2, MPI_COMM_WORLD, &status), MPI_ERR_PROC_ABORTED);
    CHECK_CLASS(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status),
                MPI_ERR_PROC_ABORTED);
    CHECK_CLASS(MPI_Probe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status), MPI_ERR_PROC_ABORTED);
    CHECK_CLASS(MPI_Probe(1, 2, MPI_COMM_WORLD, &status), MPI_ERR_PROC_ABORTED);
    CHECK_OK(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Send(&mtest_size, 1, MPI_INT, 0, 3, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(word == mtest_size && status.MPI_SOURCE == 0);

    CHECK_OK(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag);
    CHECK_OK(MPI_Iprobe(last, 4, MPI_COMM_WORLD, &flag, &status));
    CHECK(!flag);
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int word = 41;
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (mtest_rank == 1)
        CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    if (mtest_rank == 0)
        stay();
    MPI_Finalize();
    MTEST_END;
}
