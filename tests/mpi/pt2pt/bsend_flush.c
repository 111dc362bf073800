/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flushing attached buffers (MPI-5.0 section 3.6): MPI_Buffer_flush returns when what is in the buffer is delivered and
 * leaves it attached; MPI_Buffer_iflush gives a request that does the same and waits only for messages before it.
 */
#include "mtest.h"
#include "pattern.h"

enum { BYTES = 100000, CAPACITY = 4 * (BYTES + MPI_BSEND_OVERHEAD) };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, flag = -1, size;
    unsigned char *buffer = malloc(CAPACITY), *data = malloc(BYTES), *in = malloc(BYTES), *back;
    MPI_Request flush[3], recv;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);

    CHECK_OK(MPI_Buffer_flush()); /* nothing attached, nothing to wait for */
    CHECK_OK(MPI_Buffer_iflush(&flush[0]));
    CHECK_OK(MPI_Wait(&flush[0], MPI_STATUS_IGNORE));

    CHECK_OK(MPI_Buffer_attach(buffer, CAPACITY));
    CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, from, 1, MPI_COMM_WORLD, &recv));
    pattern_fill(data, BYTES, (uint64_t)mtest_rank);
    CHECK_OK(MPI_Bsend(data, BYTES, MPI_BYTE, to, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Buffer_flush());
    memset(buffer, 0, CAPACITY); /* it is empty, and may be written until the next send */
    CHECK_OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    CHECK(pattern_holds(in, BYTES, (uint64_t)from));

    /* The first flush does not wait for the second message, which no rank can receive before the barrier. */
    CHECK_OK(MPI_Bsend(data, BYTES, MPI_BYTE, to, 2, MPI_COMM_WORLD));
    CHECK_OK(MPI_Buffer_iflush(&flush[0]));
    CHECK_OK(MPI_Bsend(data, BYTES, MPI_BYTE, to, 3, MPI_COMM_WORLD));
    CHECK_OK(MPI_Buffer_iflush(&flush[1]));
    CHECK_OK(MPI_Buffer_iflush(&flush[2]));
    CHECK_OK(MPI_Request_free(&flush[2])); /* goes its own way */
    CHECK_OK(MPI_Recv(in, BYTES, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&flush[0], MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Test(&flush[1], &flag, MPI_STATUS_IGNORE));
    CHECK(flag == 0 || flag == 1); /* a transport may copy early */
    CHECK_OK(MPI_Recv(in, BYTES, MPI_BYTE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(pattern_holds(in, BYTES, (uint64_t)from));
    CHECK_OK(MPI_Wait(&flush[1], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == buffer && size == CAPACITY);

    /* The same for a communicator's buffer. */
    CHECK_OK(MPI_Comm_attach_buffer(comm, buffer, CAPACITY));
    CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, from, 1, comm, &recv));
    CHECK_OK(MPI_Bsend(data, BYTES, MPI_BYTE, to, 1, comm));
    CHECK_OK(MPI_Comm_iflush_buffer(comm, &flush[0]));
    CHECK_OK(MPI_Wait(&flush[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_flush_buffer(comm));
    CHECK_OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_detach_buffer(comm, &back, &size));
    MPI_Comm_free(&comm);
    free(in);
    free(data);
    free(buffer);
    MTEST_END;
}
