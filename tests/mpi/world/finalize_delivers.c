/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process has completed locally is delivered although it finalizes at once (MPI-5.0 section 11.2.4). The
 * receiver begins to receive only when it knows that the senders are in MPI_Finalize or beyond. This holds for buffered
 * sends and freed requests too, with a buffer that MPI_Finalize detaches.
 */
#include <unistd.h>

#include "mtest.h"
#include "pattern.h"

enum { MESSAGES = 20, BUFFERED = 50000 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    unsigned char *big = malloc(BUFFERED), *buffer = NULL;
    if (mtest_rank != 0) {
        int capacity = BUFFERED + 2 * MPI_BSEND_OVERHEAD;
        buffer = malloc((size_t)capacity);
        CHECK_OK(MPI_Buffer_attach(buffer, capacity));
        for (int n = 0; n < MESSAGES; n++) {
            int data[2] = { mtest_rank, n };
            CHECK_OK(MPI_Send(data, 2, MPI_INT, 0, 1, MPI_COMM_WORLD));
        }
        pattern_fill(big, BUFFERED, (uint64_t)mtest_rank);
        CHECK_OK(MPI_Bsend(big, BUFFERED, MPI_BYTE, 0, 2, MPI_COMM_WORLD));
    } else {
        usleep(300000);
        for (int from = mtest_size - 1; from > 0; from--) {
            CHECK_OK(MPI_Recv(big, BUFFERED, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(pattern_holds(big, BUFFERED, (uint64_t)from));
            for (int n = 0; n < MESSAGES; n++) {
                int data[2] = { -1, -1 };
                CHECK_OK(MPI_Recv(data, 2, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                CHECK(data[0] == from && data[1] == n);
            }
        }
    }
    free(big);
    CHECK_OK(MPI_Finalize()); /* not MTEST_END, which would communicate first */
    free(buffer);
    MTEST_END;
}
