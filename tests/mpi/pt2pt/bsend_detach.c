/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Buffer_detach returns only when all messages in the buffer are delivered (MPI-5.0 section 3.6.1), so that its
 * memory may be wiped at once. The space of delivered messages is reused without end. A size that no int can hold is
 * MPI_UNDEFINED.
 */
#include "mtest.h"
#include "pattern.h"

enum { BYTES = 150000, AGAIN = 200 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size,
        capacity = BYTES + MPI_BSEND_OVERHEAD, size;
    unsigned char *buffer = malloc((size_t)capacity), *data = malloc(BYTES), *in = malloc(BYTES), *back;
    MPI_Request recv;

    pattern_fill(data, BYTES, (uint64_t)mtest_rank);
    CHECK_OK(MPI_Buffer_attach(buffer, capacity));
    CHECK_OK(MPI_Bsend(data, BYTES, MPI_BYTE, to, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, from, 1, MPI_COMM_WORLD, &recv));
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    memset(buffer, 0, (size_t)capacity);
    CHECK_OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    CHECK(pattern_holds(in, BYTES, (uint64_t)from));

    CHECK_OK(MPI_Buffer_attach(buffer, 3 * (1000 + MPI_BSEND_OVERHEAD)));
    for (int n = 0; n < AGAIN; n++) { /* at most two at a time are not yet received */
        pattern_fill(data, 1000, (uint64_t)(mtest_rank + n));
        CHECK_OK(MPI_Bsend(data, 1000 - n, MPI_BYTE, to, 2, MPI_COMM_WORLD));
        CHECK_OK(MPI_Recv(in, 1000, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(pattern_holds(in, (size_t)(1000 - n), (uint64_t)(from + n)));
        CHECK_OK(MPI_Sendrecv(&n, 1, MPI_INT, from, 3, &size, 1, MPI_INT, to, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == buffer && size == 3 * (1000 + MPI_BSEND_OVERHEAD));

    MPI_Count vast = (MPI_Count)3 << 30, wide = 0;
    CHECK_OK(MPI_Buffer_attach_c(buffer, vast)); /* nothing is sent from it */
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == buffer && size == MPI_UNDEFINED);
    CHECK_OK(MPI_Comm_attach_buffer_c(MPI_COMM_WORLD, buffer, vast));
    CHECK_OK(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &back, &size));
    CHECK(back == buffer && size == MPI_UNDEFINED);
    CHECK_OK(MPI_Buffer_attach_c(buffer, vast));
    CHECK_OK(MPI_Buffer_detach_c(&back, &wide));
    CHECK(back == buffer && wide == vast);
    free(in);
    free(data);
    free(buffer);
    MTEST_END;
}
