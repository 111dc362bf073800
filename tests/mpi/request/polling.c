/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that never wait: more processes than cores probe and test in a loop. A token goes around, found by
 * MPI_Iprobe, MPI_Improbe, MPI_Test, MPI_Testany and MPI_Testall in turn, and each rank adds to it. A process that
 * holds its core while it polls for a message of another makes every step take as long as a time slice of the
 * scheduler.
 */
/* ranks: 3 7 16 */
#include "mtest.h"

enum { ROUNDS = 20 };

static int receive(int round, int from)
{
    int token = -1, flag = 0, index;
    MPI_Message message;
    MPI_Request request;
    switch (round % 5) {
    case 0:
        while (!flag)
            CHECK_OK(MPI_Iprobe(from, round, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(&token, 1, MPI_INT, from, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        return token;
    case 1:
        while (!flag)
            CHECK_OK(MPI_Improbe(from, round, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Mrecv(&token, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        return token;
    }
    CHECK_OK(MPI_Irecv(&token, 1, MPI_INT, from, round, MPI_COMM_WORLD, &request));
    while (!flag) {
        if (round % 5 == 2)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        else if (round % 5 == 3)
            MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE);
        else
            MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE);
    }
    CHECK(request == MPI_REQUEST_NULL);
    return token;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int next = (mtest_rank + 1) % mtest_size, before = (mtest_rank + mtest_size - 1) % mtest_size;
    for (int round = 0; round < ROUNDS; round++) {
        int token = 1000 * round;
        if (mtest_rank > 0)
            token = receive(round, before);
        CHECK(token == 1000 * round + mtest_rank * (mtest_rank - 1) / 2);
        token += mtest_rank;
        CHECK_OK(MPI_Send(&token, 1, MPI_INT, next, round, MPI_COMM_WORLD));
        if (mtest_rank == 0)
            CHECK(receive(round, before) == 1000 * round + mtest_size * (mtest_size - 1) / 2);
    }
    MTEST_END;
}
