/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the one set last first (MPI-5.0 section 11.2.4), while
 * MPI still works in full: the callbacks communicate with all ranks, and MPI_Finalized says false. Attributes that are
 * left in MPI_COMM_WORLD come later, when a rank can still send to itself.
 */
#include "mtest.h"

static int order[3], calls;

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
    int finalized = 1, one = 1, sum = -1, to = (mtest_rank + 1) % mtest_size,
        from = (mtest_rank + mtest_size - 1) % mtest_size, got = -1;
    (void)keyval, (void)extra;
    CHECK(comm == MPI_COMM_SELF);
    order[calls++] = *(int *)value;
    CHECK_OK(MPI_Finalized(&finalized));
    CHECK(!finalized);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == mtest_size);
    CHECK_OK(MPI_Sendrecv(&mtest_rank, 1, MPI_INT, to, calls, &got, 1, MPI_INT, from, calls, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CHECK(got == from);
    return MPI_SUCCESS;
}

static int delete_of_world(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int got = -1;
    (void)keyval, (void)value, (void)extra;
    CHECK(comm == MPI_COMM_WORLD && calls == 3);
    CHECK_OK(
        MPI_Sendrecv(&mtest_rank, 1, MPI_INT, mtest_rank, 9, &got, 1, MPI_INT, mtest_rank, 9, comm, MPI_STATUS_IGNORE));
    CHECK(got == mtest_rank);
    calls++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    static int values[3] = { 1, 2, 3 };
    int keyvals[3], of_world;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_of_world, &of_world, NULL));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, of_world, NULL));
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keyvals[i], NULL));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[1], &values[0]));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[0], &values[1]));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[2], &values[2]));
    CHECK_OK(MPI_Finalize());
    CHECK(calls == 4 && order[0] == 3 && order[1] == 2 && order[2] == 1);
    MTEST_END;
}
