/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of communicators are created and freed, by every constructor, and the process does not grow. */
#include "mtest.h"
#include "usage.h"

enum { WARM_UP = 200, CYCLES = 2000 };

static void cycle(int n)
{
    MPI_Comm comm, half;
    MPI_Group group;
    MPI_Request request;
    int one = 1, sum = 0;
    switch (n % 4) {
    case 0: CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm)); break;
    case 1: CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -mtest_rank, &comm)); break;
    case 2:
        CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    default:
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, n, &comm));
        MPI_Group_free(&group);
    }
    if (n % 16 == 0) {
        CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == mtest_size);
        CHECK_OK(MPI_Comm_split(comm, mtest_rank % 2, 0, &half));
        CHECK_OK(MPI_Comm_free(&half));
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    for (int n = 0; n < WARM_UP; n++)
        cycle(n);
    long before = usage_now().resident_kib;
    for (int n = 0; n < CYCLES; n++)
        cycle(n);
    long grown = usage_now().resident_kib - before;
    if (!CHECK(grown < CYCLES / 4 + usage_settles_kib())) /* beyond that, less than a quarter of a KiB each */
        fprintf(stderr, "rank %d: grown by %ld KiB in %d cycles\n", mtest_rank, grown, CYCLES);
    MTEST_END;
}
