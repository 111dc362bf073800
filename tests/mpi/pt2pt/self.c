/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process sends to itself (MPI-5.0 section 3.2.4 allows it when it does not deadlock): every size, receive first and
 * send first, synchronous and not, on MPI_COMM_SELF and on MPI_COMM_WORLD.
 */
#include "mtest.h"
#include "pattern.h"

enum { LONGEST = 1 << 20 };
static const int sizes[] = { 0, 1, 100, 5000, 66000, LONGEST };

typedef int start_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static start_function *const starts[] = { MPI_Isend, MPI_Issend };

static void check(MPI_Status *status, int me, const unsigned char *in, int bytes, uint64_t seed)
{
    int count;
    CHECK_OK(MPI_Get_count(status, MPI_BYTE, &count));
    CHECK(status->MPI_SOURCE == me && status->MPI_TAG == 3 && count == bytes);
    CHECK(pattern_holds(in, (size_t)bytes, seed));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm comms[] = { MPI_COMM_SELF, MPI_COMM_WORLD };
    unsigned char *out = malloc(LONGEST), *in = malloc(LONGEST);
    uint64_t seed = 1;

    for (int c = 0; c < 2; c++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int s = 0; s < 2; s++) {
                int me;
                MPI_Request send, recv;
                MPI_Status status;
                MPI_Comm_rank(comms[c], &me);

                pattern_fill(out, (size_t)sizes[i], ++seed);
                CHECK_OK(MPI_Irecv(in, sizes[i], MPI_BYTE, MPI_ANY_SOURCE, 3, comms[c], &recv));
                CHECK_OK(starts[s](out, sizes[i], MPI_BYTE, me, 3, comms[c], &send));
                CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
                CHECK_OK(MPI_Wait(&recv, &status));
                check(&status, me, in, sizes[i], seed);

                pattern_fill(out, (size_t)sizes[i], ++seed);
                CHECK_OK(starts[s](out, sizes[i], MPI_BYTE, me, 3, comms[c], &send));
                CHECK_OK(MPI_Recv(in, sizes[i], MPI_BYTE, me, MPI_ANY_TAG, comms[c], &status));
                CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
                check(&status, me, in, sizes[i], seed);
            }
    free(in);
    free(out);
    MTEST_END;
}
