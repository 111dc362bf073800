/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 */
/*
 * One rank asks for more memory than there is, or all do, in bytes that add up to few in 64 bits. All ranks get the
 * same error class, which is raised on the communicator, nothing is left, and the communicator makes the next window.
 */
#include "rma.h"

static int allocate(int shared, MPI_Aint bytes, MPI_Comm comm, int64_t **base, MPI_Win *win)
{
    return shared ? MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, comm, base, win)
                  : MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, comm, base, win);
}

static void too_much(MPI_Comm comm, int shared, MPI_Aint bytes, int greedy)
{
    int64_t *base = NULL;
    MPI_Win win = MPI_WIN_NULL;
    CHECK_CLASS(allocate(shared, mtest_rank == greedy || greedy < 0 ? bytes : 64, comm, &base, &win), MPI_ERR_NO_MEM);
    CHECK(win == MPI_WIN_NULL && base == NULL);
}

static void enough(MPI_Comm comm, int shared)
{
    int64_t *base, value = 10 + mtest_rank, sum = 0;
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    MPI_Win win;
    CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT64_T, MPI_SUM, comm));
    CHECK(sum == 10 * mtest_size + mtest_size * (mtest_size - 1) / 2);
    CHECK_OK(allocate(shared, 64, comm, &base, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, next, 3, 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK(base[3] == 10 + last);
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int shared = 0; shared <= window_can_share(comm); shared++) {
        too_much(comm, shared, ((MPI_Aint)1 << 62) + 64, -1);
        for (int greedy = 0; greedy < mtest_size; greedy++) {
            too_much(comm, shared, (MPI_Aint)1 << 60, greedy);
            too_much(comm, shared, (MPI_Aint)1 << 46, greedy);
            too_much(comm, shared, INTPTR_MAX, greedy);
            enough(comm, shared);
        }
    }
    CHECK_OK(MPI_Comm_free(&comm));
    MTEST_END;
}
