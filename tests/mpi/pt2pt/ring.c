/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A token goes around the ring many times, and each rank adds to it: once small, once with a payload that must not
 * change.
 */
#include "mtest.h"
#include "pattern.h"

enum { LAPS = 50, LOAD = 60000 };

static void go(int load)
{
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    struct token {
        long sum;
        unsigned char load[LOAD];
    } *token = malloc(sizeof *token);
    int bytes = (int)offsetof(struct token, load) + load;
    token->sum = 0;
    pattern_fill(token->load, (size_t)load, 99);
    for (int lap = 0; lap < LAPS; lap++) {
        MPI_Request request = MPI_REQUEST_NULL;
        struct token *copy = malloc(sizeof *copy);
        if (mtest_rank == 0) {
            memcpy(copy, token, (size_t)bytes);
            CHECK_OK(MPI_Isend(copy, bytes, MPI_BYTE, to, lap, MPI_COMM_WORLD, &request));
        }
        CHECK_OK(MPI_Recv(token, bytes, MPI_BYTE, from, lap, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        token->sum += mtest_rank + 1;
        if (mtest_rank != 0)
            CHECK_OK(MPI_Send(token, bytes, MPI_BYTE, to, lap, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        free(copy);
    }
    if (mtest_rank == 0)
        CHECK(token->sum == (long)LAPS * mtest_size * (mtest_size + 1) / 2);
    CHECK(pattern_holds(token->load, (size_t)load, 99));
    free(token);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    go(0);
    go(LOAD);
    MTEST_END;
}
