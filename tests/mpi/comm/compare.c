/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_compare (MPI-5.0 section 7.4.1): identical, congruent, similar, unequal. None of these is an
 * intercommunicator. */
#include "mtest.h"

static int compare(MPI_Comm a, MPI_Comm b)
{
    int ab = -1, ba = -2;
    CHECK_OK(MPI_Comm_compare(a, b, &ab));
    CHECK_OK(MPI_Comm_compare(b, a, &ba));
    CHECK(ab == ba);
    return ab;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm dup, backwards, part;
    int inter = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -mtest_rank, &backwards);
    MPI_Comm_split(MPI_COMM_WORLD, mtest_rank == 0, 0, &part);

    CHECK(compare(MPI_COMM_WORLD, MPI_COMM_WORLD) == MPI_IDENT);
    CHECK(compare(dup, dup) == MPI_IDENT);
    CHECK(compare(MPI_COMM_WORLD, dup) == MPI_CONGRUENT);
    CHECK(compare(dup, backwards) == (mtest_size > 1 ? MPI_SIMILAR : MPI_CONGRUENT));
    CHECK(compare(MPI_COMM_WORLD, MPI_COMM_SELF) == (mtest_size > 1 ? MPI_UNEQUAL : MPI_CONGRUENT));
    CHECK(compare(part, dup) == (mtest_size > 1 ? MPI_UNEQUAL : MPI_CONGRUENT));
    CHECK_OK(MPI_Comm_test_inter(dup, &inter));
    CHECK(inter == 0);

    MPI_Comm_free(&part);
    MPI_Comm_free(&backwards);
    MPI_Comm_free(&dup);
    MTEST_END;
}
