/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_split (MPI-5.0 section 7.4.2): one communicator for each color, ranks by key and then by old rank,
 * MPI_COMM_NULL for MPI_UNDEFINED; and splits of splits down to single processes.
 */
#include "mtest.h"

/* The old ranks of all members, gathered over the new communicator, must be in the expected order. */
static void expect_order(MPI_Comm comm, const int *expected, int count)
{
    int size, me, *ranks;
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_rank(comm, &me));
    if (!CHECK(size == count))
        return;
    ranks = malloc((size_t)size * sizeof *ranks);
    CHECK_OK(MPI_Allgather(&mtest_rank, 1, MPI_INT, ranks, 1, MPI_INT, comm));
    CHECK(memcmp(ranks, expected, (size_t)size * sizeof *ranks) == 0);
    CHECK(ranks[me] == mtest_rank);
    free(ranks);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int *expected = malloc((size_t)mtest_size * sizeof *expected), n = 0, result;
    MPI_Comm comm, half;

    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 7, -mtest_rank, &comm)); /* all, backwards */
    for (int i = 0; i < mtest_size; i++)
        expected[i] = mtest_size - 1 - i;
    expect_order(comm, expected, mtest_size);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    CHECK(result == (mtest_size == 1 ? MPI_CONGRUENT : MPI_SIMILAR));

    CHECK_OK(
        MPI_Comm_split(comm, mtest_rank % 2, 0, &half)); /* equal keys: the order of the parent, which is backwards */
    for (int i = mtest_size - 1; i >= 0; i--)
        if (i % 2 == mtest_rank % 2)
            expected[n++] = i;
    expect_order(half, expected, n);
    MPI_Comm_free(&half);
    MPI_Comm_free(&comm);

    CHECK_OK(
        MPI_Comm_split(MPI_COMM_WORLD, mtest_rank % 3 == 0 ? MPI_UNDEFINED : 1, mtest_rank % 3 == 1 ? 5 : -5, &comm));
    if (mtest_rank % 3 == 0) {
        CHECK(comm == MPI_COMM_NULL);
    } else { /* those with remainder 2 first */
        n = 0;
        for (int remainder = 2; remainder >= 1; remainder--)
            for (int i = 0; i < mtest_size; i++)
                if (i % 3 == remainder)
                    expected[n++] = i;
        expect_order(comm, expected, n);
        MPI_Comm_free(&comm);
    }

    /* Halves of halves: each works while its parents exist. */
    MPI_Comm levels[8] = { MPI_COMM_WORLD };
    int depth = 0, size = mtest_size;
    while (size > 1) {
        int me, sum, one = 1;
        MPI_Comm_rank(levels[depth], &me);
        CHECK_OK(MPI_Comm_split(levels[depth], me < size / 2, 0, &levels[depth + 1]));
        MPI_Comm_size(levels[++depth], &size);
        CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, levels[depth]));
        CHECK(sum == size);
    }
    while (depth > 0)
        CHECK_OK(MPI_Comm_free(&levels[depth--]));
    free(expected);
    MTEST_END;
}
