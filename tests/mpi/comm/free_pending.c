/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_free while communication is pending (MPI-5.0 section 7.4.3): the handle is invalid at once, the operations
 * complete normally, and the communicator's context is reused only after them.
 */
#include "mtest.h"
#include "pattern.h"

enum { BYTES = 250000 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
    for (int round = 0; round < 20; round++) {
        int small = -1, bytes = round % 2 ? BYTES : 50;
        MPI_Comm comm;
        MPI_Request requests[4];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        pattern_fill(out, (size_t)bytes, (uint64_t)(mtest_rank + round));
        CHECK_OK(MPI_Irecv(in, bytes, MPI_BYTE, from, 1, comm, &requests[0]));
        CHECK_OK(MPI_Irecv(&small, 1, MPI_INT, from, 2, comm, &requests[1]));
        CHECK_OK(MPI_Isend(out, bytes, MPI_BYTE, to, 1, comm, &requests[2]));
        CHECK_OK(MPI_Issend(&mtest_rank, 1, MPI_INT, to, 2, comm, &requests[3]));
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK(comm == MPI_COMM_NULL);
        CHECK_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
        CHECK(pattern_holds(in, (size_t)bytes, (uint64_t)(from + round)) && small == from);
    }
    free(in);
    free(out);
    MTEST_END;
}
