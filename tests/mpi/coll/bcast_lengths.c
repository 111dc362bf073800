/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long broadcasts to which the ranks give different lengths: an erroneous program, in which ranks would wait for
 * segments that never come. A rank sees it by the first segment, and all ranks get an error. The communicator is broken
 * then, and others go on. Equal lengths around the same sizes arrive whole.
 */
/* ranks: 3 4 5 */
#include "mtest.h"
#include "pattern.h"

enum { SEGMENT = 64 * 1024, LONGEST = 12 * SEGMENT };

static unsigned char data[LONGEST];

static int broadcast(MPI_Comm comm, int bytes, int root, int blocking)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (blocking)
        return MPI_Bcast(data, bytes, MPI_BYTE, root, comm);
    int code = MPI_Ibcast(data, bytes, MPI_BYTE, root, comm, &request);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void test_equal(int bytes, int root, int blocking)
{
    memset(data, 0, sizeof data);
    if (mtest_rank == root)
        pattern_fill(data, (size_t)bytes, (uint64_t)(bytes + root));
    CHECK_OK(broadcast(MPI_COMM_WORLD, bytes, root, blocking));
    CHECK(pattern_holds(data, (size_t)bytes, (uint64_t)(bytes + root)));
}

/* One rank gives `other` bytes, the others `bytes`. */
static void test_unequal(int bytes, int other, int odd, int root, int blocking)
{
    MPI_Comm comm;
    int failed, some = 0;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    failed = broadcast(comm, mtest_rank == odd ? other : bytes, root, blocking) != MPI_SUCCESS;
    CHECK_OK(MPI_Allreduce(&failed, &some, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    CHECK(some);
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    static const int lengths[] = { SEGMENT + 1,     2 * SEGMENT - 33, 2 * SEGMENT - 32, 2 * SEGMENT,
                                   2 * SEGMENT + 1, 3 * SEGMENT - 1,  3 * SEGMENT,      5 * SEGMENT + 12345,
                                   LONGEST - 16,    LONGEST };
    MTEST_INIT(argc, argv);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int root = 0; root < mtest_size; root++)
            for (int blocking = 0; blocking < 2; blocking++)
                test_equal(lengths[i], root, blocking);
    for (int odd = 0; odd < mtest_size; odd++)
        for (int root = 0; root < 2; root++)
            for (int blocking = 0; blocking < 2; blocking++) {
                test_unequal(2 * SEGMENT, 4 * SEGMENT, odd, root, blocking);
                test_unequal(4 * SEGMENT, 2 * SEGMENT, odd, root, blocking);
                test_unequal(3 * SEGMENT, 9 * SEGMENT + 5, odd, root, blocking);
                test_unequal(LONGEST, SEGMENT + 1, odd, root, blocking);
            }
    test_equal(LONGEST, 0, 1);
    MTEST_END;
}
