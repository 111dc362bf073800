/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_create_group (MPI-5.0 section 7.4.2) is collective over the group only. Processes outside it do nothing, or
 * block in something else. Overlapping groups follow each other with one tag, which never matches a message's tag.
 */
#include "mtest.h"

/* The communicator of the ranks first..last of the world, in this order. */
static MPI_Comm make(int first, int last, int tag)
{
    MPI_Group world, group;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    CHECK_OK(MPI_Group_range_incl(world, 1, (int[][3]){ { first, last, 1 } }, &group));
    CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm));
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return comm;
}

static void check(MPI_Comm comm, int first, int last)
{
    int sum, rank;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Allreduce(&mtest_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(rank == mtest_rank - first && sum == (first + last) * (last - first + 1) / 2);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int last = mtest_size - 1, token = -1;
    MPI_Comm comm;

    /* The last rank waits for a message that is sent only when the others have their communicator. */
    if (mtest_rank < last || last == 0) {
        comm = make(0, last ? last - 1 : 0, 3);
        check(comm, 0, last ? last - 1 : 0);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    if (mtest_rank == 0 && last > 0)
        CHECK_OK(MPI_Send(&last, 1, MPI_INT, last, 3, MPI_COMM_WORLD));
    if (mtest_rank == last && last > 0) {
        CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(token == last);
    }

    /* Pairs along a chain: each rank is in two groups with the same tag. */
    MPI_Comm left = MPI_COMM_NULL, right = MPI_COMM_NULL;
    if (mtest_rank % 2 == 0) {
        right = mtest_rank < last ? make(mtest_rank, mtest_rank + 1, 0) : MPI_COMM_NULL;
        left = mtest_rank > 0 ? make(mtest_rank - 1, mtest_rank, 0) : MPI_COMM_NULL;
    } else {
        left = make(mtest_rank - 1, mtest_rank, 0);
        right = mtest_rank < last ? make(mtest_rank, mtest_rank + 1, 0) : MPI_COMM_NULL;
    }
    for (int odd = 0; odd < 2; odd++) {
        MPI_Comm pair = mtest_rank % 2 == odd ? right : left;
        int first = mtest_rank % 2 == odd ? mtest_rank : mtest_rank - 1;
        if (pair != MPI_COMM_NULL) {
            check(pair, first, first + 1);
            CHECK_OK(MPI_Comm_free(&pair));
        }
    }

    /* Many times with tags of all sizes. */
    for (int i = 0; i < 31; i++) {
        comm = make(0, last, (int)(0x7fffffffu >> i));
        check(comm, 0, last);
        CHECK_OK(MPI_Comm_free(&comm));
    }

    /* A process that is not in the group gets no communicator and waits for none. */
    CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_EMPTY, 0, &comm));
    CHECK(comm == MPI_COMM_NULL);
    comm = make(last, last, 0);
    CHECK((comm == MPI_COMM_NULL) == (mtest_rank != last));
    if (comm != MPI_COMM_NULL)
        CHECK_OK(MPI_Comm_free(&comm));
    MTEST_END;
}
