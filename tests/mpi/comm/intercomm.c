/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators (MPI-5.0 section 7.6) between the even and the odd ranks. Messages cross; the groups are what each
 * side expects; duplicates are separate from the original. Merging orders the groups by `high`, and by a rule of the
 * library when both sides pass the same value.
 */
/* ranks: 2 3 4 7 16 */
#include "mtest.h"

static int rank, size;

static MPI_Comm meet(MPI_Comm local)
{
    MPI_Comm inter = MPI_COMM_NULL;
    CHECK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 12, &inter) == MPI_SUCCESS);
    return inter;
}

/* World ranks of a group. */
static void check_group(MPI_Group group, int parity)
{
    MPI_Group world;
    int n;
    CHECK(MPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS);
    CHECK(MPI_Group_size(group, &n) == MPI_SUCCESS);
    CHECK(n == (size + !parity) / 2);
    for (int i = 0; i < n; i++) {
        int at = -1;
        CHECK(MPI_Group_translate_ranks(group, 1, &i, world, &at) == MPI_SUCCESS);
        CHECK(at == 2 * i + parity);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

/* Every process sends its identity to every process on the other side. */
static void cross(MPI_Comm inter, int salt)
{
    int remote;
    CHECK(MPI_Comm_remote_size(inter, &remote) == MPI_SUCCESS);
    MPI_Request *requests = malloc(2 * (size_t)remote * sizeof *requests);
    int *got = malloc((size_t)remote * sizeof *got), mine = rank + salt;
    for (int i = 0; i < remote; i++) {
        MPI_Irecv(&got[i], 1, MPI_INT, i, 5, inter, &requests[i]);
        MPI_Isend(&mine, 1, MPI_INT, i, 5, inter, &requests[remote + i]);
    }
    CHECK(MPI_Waitall(2 * remote, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < remote; i++)
        CHECK(got[i] == 2 * i + !(rank % 2) + salt);
    free(got);
    free(requests);
}

/* The order of the ranks after merging, as World ranks. */
static void merge(MPI_Comm inter, int high_of_even, int high_of_odd)
{
    MPI_Comm merged = MPI_COMM_NULL;
    int n, *order = malloc((size_t)size * sizeof *order);
    CHECK(MPI_Intercomm_merge(inter, rank % 2 ? high_of_odd : high_of_even, &merged) == MPI_SUCCESS);
    CHECK(MPI_Comm_size(merged, &n) == MPI_SUCCESS);
    CHECK(n == size);
    CHECK(MPI_Allgather(&rank, 1, MPI_INT, order, 1, MPI_INT, merged) == MPI_SUCCESS);
    int even_first = high_of_even != high_of_odd ? !high_of_even : order[0] == 0;
    int evens = (size + 1) / 2, odds = size / 2;
    for (int i = 0; i < size; i++) {
        int expected = even_first ? (i < evens ? 2 * i : 2 * (i - evens) + 1) : (i < odds ? 2 * i + 1 : 2 * (i - odds));
        CHECK(order[i] == expected);
    }
    free(order);
    MPI_Comm_free(&merged);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    rank = mtest_rank;
    size = mtest_size;

    MPI_Comm local, copy;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &local);
    MPI_Comm inter = meet(local);
    int flag = 0, result;
    CHECK(MPI_Comm_test_inter(inter, &flag) == MPI_SUCCESS && flag);

    MPI_Group group;
    MPI_Comm_group(inter, &group);
    check_group(group, rank % 2);
    MPI_Comm_remote_group(inter, &group);
    check_group(group, !(rank % 2));

    cross(inter, 100);
    CHECK(MPI_Comm_dup(inter, &copy) == MPI_SUCCESS);
    CHECK(MPI_Comm_compare(inter, copy, &result) == MPI_SUCCESS && result == MPI_CONGRUENT);
    CHECK(MPI_Comm_compare(inter, local, &result) == MPI_SUCCESS && result == MPI_UNEQUAL); /* the same local group */
    CHECK(MPI_Comm_compare(local, inter, &result) == MPI_SUCCESS && result == MPI_UNEQUAL);
    cross(copy, 200);
    MPI_Comm_free(&inter);
    cross(copy, 300);

    merge(copy, 0, 1);
    merge(copy, 1, 0);
    merge(copy, 0, 0);
    merge(copy, 1, 1);

    int sum = rank, expected = 0;
    CHECK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, local) == MPI_SUCCESS);
    for (int i = rank % 2; i < size; i += 2)
        expected += i;
    CHECK(sum == expected);
    expected = 0;
    for (int i = !(rank % 2); i < size; i += 2)
        expected += i;
    CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy) == MPI_SUCCESS);
    CHECK(sum == expected);

    MPI_Comm_free(&copy);
    MPI_Comm_free(&local);
    MTEST_END;
}
