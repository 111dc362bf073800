/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A synchronous send without a receive can only end by being cancelled (MPI-5.0 section 3.8.4: the cancel must let it
 * complete, without help of the user at the other end). Its token is not confused with that of messages before it.
 */
#include "mtest.h"
#include "pattern.h"

enum { LONGEST = 200000, SMALL = 20 };
static const int sizes[] = { 0, 50, 10000, LONGEST };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    unsigned char *out = calloc(1, LONGEST);
    int sent = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int n = 0; n < SMALL; n++) {
            MPI_Request request;
            MPI_Status status;
            int cancelled = 0;
            CHECK_OK(MPI_Isend(&sent, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &request)); /* lies there unreceived */
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            sent++;
            CHECK_OK(MPI_Issend(out, sizes[i], MPI_BYTE, to, 1, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Cancel(&request));
            CHECK_OK(MPI_Wait(&request, &status));
            CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
            CHECK(cancelled);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int n = 0; n < sent; n++) {
        int got = -1;
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(got == n);
    }
    free(out);
    MTEST_END;
}
