/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent requests (MPI-5.0 section 3.9) are created once and started again and again, with the data of that time.
 * They are started one by one or all at once; the other end of some is not persistent. Inactive ones complete at once
 * with the empty status.
 */
#include "mtest.h"

enum { ROUNDS = 40, LENGTH = 3000 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* for errors that belong to no communicator */
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, flag = 0, count;
    static int out[2][LENGTH], in[2][LENGTH];
    MPI_Request requests[4], before[4];
    MPI_Status status, statuses[4];

    CHECK_OK(MPI_Recv_init(in[0], LENGTH, MPI_INT, from, 1, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Recv_init(in[1], LENGTH, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Send_init(out[0], LENGTH, MPI_INT, to, 1, MPI_COMM_WORLD, &requests[2]));
    CHECK_OK(MPI_Ssend_init(out[1], 3, MPI_INT, to, 2, MPI_COMM_WORLD, &requests[3]));
    memcpy(before, requests, sizeof before);

    CHECK_OK(MPI_Wait(&requests[0], &status));
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && status.MPI_ERROR == MPI_SUCCESS);
    CHECK_OK(MPI_Test(&requests[2], &flag, MPI_STATUS_IGNORE));
    CHECK(flag);

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LENGTH; i++) {
            out[0][i] = mtest_rank * 7 + round + i;
            out[1][i] = -round;
        }
        if (round % 2) {
            CHECK_OK(MPI_Startall(4, requests));
        } else {
            for (int i = 0; i < 4; i++)
                CHECK_OK(MPI_Start(&requests[i]));
        }
        CHECK_CLASS(MPI_Start(&requests[0]), MPI_ERR_REQUEST); /* it is active */
        CHECK_OK(MPI_Waitall(4, requests, statuses));
        CHECK(memcmp(before, requests, sizeof before) == 0);
        int wrong = 0;
        for (int i = 0; i < LENGTH; i++)
            wrong += in[0][i] != from * 7 + round + i;
        CHECK(wrong == 0 && in[1][0] == -round && in[1][2] == -round);
        MPI_Get_count(&statuses[1], MPI_INT, &count);
        CHECK(statuses[1].MPI_SOURCE == from && statuses[1].MPI_TAG == 2 && count == 3);
    }

    /* A plain send matches a persistent receive. */
    out[0][0] = 4711;
    CHECK_OK(MPI_Start(&requests[0]));
    CHECK_OK(MPI_Send(out[0], 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK(in[0][0] == 4711);

    for (int i = 0; i < 4; i++) {
        CHECK_OK(MPI_Request_free(&requests[i]));
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
    CHECK_CLASS(MPI_Start(&requests[0]), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Irecv(in[0], 1, MPI_INT, mtest_rank, 9, MPI_COMM_WORLD, &requests[0]));
    CHECK_CLASS(MPI_Start(&requests[0]), MPI_ERR_REQUEST); /* it is not persistent */
    CHECK_OK(MPI_Send(out[0], 1, MPI_INT, mtest_rank, 9, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MTEST_END;
}
