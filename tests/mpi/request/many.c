/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of requests are outstanding at once, and complete in an order unrelated to that of their start; then again,
 * with reused handles that are not mixed up.
 */
#include "mtest.h"
#include "pattern.h"

enum { COUNT = 3000, ROUNDS = 3 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    static int in[COUNT], out[COUNT], order[COUNT];
    static MPI_Request recvs[COUNT], sends[COUNT];
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    uint64_t state = 77;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++)
            order[i] = i;
        for (int i = COUNT - 1; i > 0; i--) {
            int j = (int)(pattern_random(&state) % (uint32_t)(i + 1)), t = order[i];
            order[i] = order[j];
            order[j] = t;
        }
        for (int i = 0; i < COUNT; i++)
            CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, from, i, MPI_COMM_WORLD, &recvs[i]));
        for (int i = 0; i < COUNT; i++) {
            out[order[i]] = order[i] + mtest_rank + round;
            CHECK_OK(MPI_Isend(&out[order[i]], 1, MPI_INT, to, order[i], MPI_COMM_WORLD, &sends[order[i]]));
        }
        for (int i = 0; i < COUNT; i++) {
            MPI_Status status;
            CHECK_OK(MPI_Wait(&recvs[order[i]], &status));
            CHECK(status.MPI_TAG == order[i] && in[order[i]] == order[i] + from + round);
        }
        CHECK_OK(MPI_Waitall(COUNT, sends, MPI_STATUSES_IGNORE));
    }
    MTEST_END;
}
