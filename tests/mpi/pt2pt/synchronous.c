/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A synchronous send is complete only when its receive has started (MPI-5.0 section 3.4): short or long, it stays
 * incomplete while the receiver is known not to have called any receive for it.
 */
#include "mtest.h"
#include "pattern.h"

enum { LONGEST = 200000 };
static const int sizes[] = { 0, 8, 6000, LONGEST };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, flag, go = 1, may = 0;
    unsigned char *out = malloc(LONGEST), *in = malloc(LONGEST);

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MPI_Request request, permission;
        pattern_fill(out, (size_t)sizes[i], (uint64_t)mtest_rank + i);
        CHECK_OK(MPI_Issend(out, sizes[i], MPI_BYTE, to, 1, MPI_COMM_WORLD, &request));
        for (int tries = 0; tries < 50; tries++) {
            CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            CHECK(!flag); /* the neighbor has no permission to receive yet */
        }
        CHECK_OK(MPI_Isend(&go, 1, MPI_INT, to, 2, MPI_COMM_WORLD, &permission));
        CHECK_OK(MPI_Recv(&may, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(may == 1);
        CHECK_OK(MPI_Recv(in, sizes[i], MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(pattern_holds(in, (size_t)sizes[i], (uint64_t)from + i));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&permission, MPI_STATUS_IGNORE));
    }
    free(in);
    free(out);
    MTEST_END;
}
