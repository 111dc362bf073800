/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_BUFFER_AUTOMATIC (MPI-5.0 section 3.6.2): the library allocates as much memory as needed; detaching gives back
 * the constant and a size of 0.
 */
#include "mtest.h"
#include "pattern.h"

enum { MESSAGES = 40, LONGEST = 200000 };
static int bytes_of(int n)
{
    return n % 4 ? 100 * n : LONGEST - n;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, size = -1;
    unsigned char *data = malloc(LONGEST);
    void *back = NULL;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    CHECK_OK(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 12345)); /* the size is ignored */

    MPI_Comm comms[] = { MPI_COMM_WORLD, comm };
    for (int c = 0; c < 2; c++) {
        for (int n = 0; n < MESSAGES; n++) {
            pattern_fill(data, (size_t)bytes_of(n), (uint64_t)(mtest_rank + n + c));
            CHECK_OK(MPI_Bsend(data, bytes_of(n), MPI_BYTE, to, 1, comms[c]));
        }
        for (int n = 0; n < MESSAGES; n++) {
            CHECK_OK(MPI_Recv(data, LONGEST, MPI_BYTE, from, 1, comms[c], MPI_STATUS_IGNORE));
            CHECK(pattern_holds(data, (size_t)bytes_of(n), (uint64_t)(from + n + c)));
        }
    }
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == MPI_BUFFER_AUTOMATIC && size == 0);
    CHECK_OK(MPI_Comm_detach_buffer(comm, &back, &size));
    CHECK(back == MPI_BUFFER_AUTOMATIC && size == 0);
    MPI_Comm_free(&comm);
    free(data);
    MTEST_END;
}
