/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_disconnect (MPI-5.0 section 11.10.4) waits for the communication that is pending on the communicator, after
 * which its buffers may be touched.
 */
#include "mtest.h"
#include "pattern.h"

enum { BYTES = 200000 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
    MPI_Comm comm;
    MPI_Request recv, send;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pattern_fill(out, BYTES, (uint64_t)mtest_rank);
    CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, from, 1, comm, &recv));
    CHECK_OK(MPI_Isend(out, BYTES, MPI_BYTE, to, 1, comm, &send));
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&recv));
    CHECK_OK(MPI_Comm_disconnect(&comm));
    CHECK(comm == MPI_COMM_NULL);
    CHECK(pattern_holds(in, BYTES, (uint64_t)from));
    memset(out, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    free(in);
    free(out);
    MTEST_END;
}
