/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_create (MPI-5.0 section 7.4.2) is collective over the parent, with disjoint groups at the same time. Ranks
 * are those of the group; a process in no group passes the empty group and gets MPI_COMM_NULL.
 */
#include "mtest.h"

/* Every process names one of `kinds` groups: the ranks with its remainder modulo `kinds`, backwards. */
static MPI_Group kin(MPI_Group world, int kinds, int mine)
{
    int *ranks = malloc((size_t)mtest_size * sizeof *ranks), n = 0;
    MPI_Group group;
    for (int i = mtest_size - 1; i >= 0; i--)
        if (i % kinds == mine)
            ranks[n++] = i;
    CHECK_OK(MPI_Group_incl(world, n, ranks, &group));
    free(ranks);
    return group;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Group world, group, of_comm;
    MPI_Comm comm;
    int result, rank, in_group, sum, expected = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &world);

    for (int kinds = 1; kinds <= 3; kinds++) {
        int mine = mtest_rank % kinds;
        int outside = kinds == 3 && mine == 1; /* the second kind of three takes no part */
        group = outside ? MPI_GROUP_EMPTY : kin(world, kinds, mine);
        CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
        if (outside) {
            CHECK(comm == MPI_COMM_NULL);
            continue;
        }
        CHECK_OK(MPI_Comm_group(comm, &of_comm));
        CHECK_OK(MPI_Group_compare(group, of_comm, &result));
        CHECK_OK(MPI_Group_rank(group, &in_group));
        CHECK_OK(MPI_Comm_rank(comm, &rank));
        CHECK(result == MPI_IDENT && rank == in_group);
        expected = 0;
        for (int i = mine; i < mtest_size; i += kinds)
            expected += i;
        CHECK_OK(MPI_Allreduce(&mtest_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == expected);
        MPI_Group_free(&of_comm);
        MPI_Group_free(&group);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    MPI_Group_free(&world);
    MTEST_END;
}
