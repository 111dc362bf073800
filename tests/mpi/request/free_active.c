/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Request_free on an active request (MPI-5.0 section 3.7.3): the handle is invalid at once, and the operation goes
 * on and completes. Short and long sends, receives, started persistent requests.
 */
#include "mtest.h"
#include "pattern.h"

enum { SENDS = 20, LONGEST = 180000 };
static int bytes_of(int n)
{
    return n % 2 ? LONGEST - n : n;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    unsigned char *out = malloc((size_t)SENDS * LONGEST), *in = malloc(LONGEST);
    volatile int early[2] = { -1, -1 };
    MPI_Request request;

    /* Receives that are freed fill their buffers all the same; a later message shows that they have. */
    CHECK_OK(MPI_Irecv((void *)&early[0], 1, MPI_INT, from, 1, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Recv_init((void *)&early[1], 1, MPI_INT, from, 1, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Request_free(&request));

    for (int n = 0; n < SENDS; n++) {
        unsigned char *data = out + (size_t)n * LONGEST;
        pattern_fill(data, (size_t)bytes_of(n), (uint64_t)(mtest_rank + n));
        if (n % 3) {
            CHECK_OK(
                (n % 3 == 1 ? MPI_Isend : MPI_Issend)(data, bytes_of(n), MPI_BYTE, to, 2, MPI_COMM_WORLD, &request));
        } else {
            CHECK_OK(MPI_Send_init(data, bytes_of(n), MPI_BYTE, to, 2, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Start(&request));
        }
        CHECK_OK(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL);
    }
    CHECK_OK(MPI_Send(&mtest_rank, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Send(&to, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    for (int n = 0; n < SENDS; n++) {
        CHECK_OK(MPI_Recv(in, LONGEST, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(pattern_holds(in, (size_t)bytes_of(n), (uint64_t)(from + n)));
    }
    MPI_Barrier(MPI_COMM_WORLD); /* every rank has received everything */
    CHECK_OK(MPI_Sendrecv(in, 0, MPI_BYTE, to, 3, in, 0, MPI_BYTE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(early[0] == from && early[1] == mtest_rank);
    MPI_Barrier(MPI_COMM_WORLD);
    free(in);
    free(out);
    MTEST_END;
}
