/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of real communicators (MPI-5.0 section 7.3): ranks translate between a communicator and its parts. */
#include "mtest.h"

static void expect_size(MPI_Group group, int wanted)
{
    int size;
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK(size == wanted);
}

static void expect_compare(MPI_Group a, MPI_Group b, int wanted)
{
    int how;
    CHECK_OK(MPI_Group_compare(a, b, &how));
    CHECK(how == wanted);
}

int main(int argc, char **argv)
{
    MPI_Comm half, reversed;
    MPI_Group world, mine, others, all, back, turned;
    int rank, is, *ranks, *translated;
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_rank(world, &is));
    CHECK(is == mtest_rank);
    expect_size(world, mtest_size);

    /* The even or the odd ranks, and the World ranks of their members. */
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, mtest_rank % 2, 0, &half));
    CHECK_OK(MPI_Comm_group(half, &mine));
    CHECK_OK(MPI_Comm_rank(half, &rank));
    CHECK(rank == mtest_rank / 2);
    CHECK_OK(MPI_Group_translate_ranks(mine, 1, &rank, world, &is));
    CHECK(is == mtest_rank);
    ranks = malloc(sizeof *ranks * (size_t)mtest_size);
    translated = malloc(sizeof *translated * (size_t)mtest_size);
    for (int i = 0; i < mtest_size; i++)
        ranks[i] = i;
    CHECK_OK(MPI_Group_translate_ranks(world, mtest_size, ranks, mine, translated));
    for (int i = 0; i < mtest_size; i++)
        CHECK(translated[i] == (i % 2 == mtest_rank % 2 ? i / 2 : MPI_UNDEFINED));

    /* Both halves together are the World, in another order if each has more than one rank. */
    CHECK_OK(MPI_Group_difference(world, mine, &others));
    expect_size(others, mtest_rank % 2 ? (mtest_size + 1) / 2 : mtest_size / 2);
    CHECK_OK(MPI_Group_rank(others, &is));
    CHECK(is == MPI_UNDEFINED);
    CHECK_OK(MPI_Group_union(mine, others, &all));
    CHECK_OK(MPI_Group_intersection(world, all, &back));
    expect_compare(world, back, MPI_IDENT);
    expect_compare(world, all, mtest_size <= 2 && mtest_rank % 2 == 0 ? MPI_IDENT : MPI_SIMILAR);
    if (mtest_size > 1)
        expect_compare(mine, others, MPI_UNEQUAL);

    /* Backwards, as a range and as a communicator. */
    int range[1][3] = { { mtest_size - 1, 0, -1 } };
    CHECK_OK(MPI_Group_range_incl(world, 1, range, &turned));
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, turned, &reversed));
    CHECK_OK(MPI_Comm_rank(reversed, &is));
    CHECK(is == mtest_size - 1 - mtest_rank);
    CHECK_OK(MPI_Comm_compare(MPI_COMM_WORLD, reversed, &is));
    CHECK(is == (mtest_size == 1 ? MPI_CONGRUENT : MPI_SIMILAR));

    MPI_Group *groups[] = { &world, &mine, &others, &all, &back, &turned };
    for (int i = 0; i < 6; i++)
        CHECK_OK(MPI_Group_free(groups[i]));
    CHECK_OK(MPI_Comm_free(&half));
    CHECK_OK(MPI_Comm_free(&reversed));
    free(ranks);
    free(translated);
    MTEST_END;
}
