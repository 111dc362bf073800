/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators from intercommunicators (MPI-5.0 sections 7.4.2 and 7.6). MPI_Comm_split joins the processes of a
 * color on both sides. MPI_Comm_create joins the groups that the sides name, and gives MPI_COMM_NULL where a side names
 * none. Duplicates are made blocking and nonblocking, several at once. Each result communicates across, merges, and
 * works again after its parent is freed.
 */
/* ranks: 2 3 4 7 16 */
#include "mtest.h"

static int rank, size; /* in the World; even and odd ranks are the two sides */

/* Both groups have the expected World ranks, every pair can communicate, and collectives reach the other side. */
static void check(MPI_Comm inter, const int *local, int locals, const int *remote, int remotes)
{
    MPI_Group world, group;
    int n, me, sum, expected = 0, at[64], ranks[64];
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = 0; i < 64; i++)
        ranks[i] = i;
    CHECK_OK(MPI_Comm_group(inter, &group));
    CHECK(MPI_Group_size(group, &n) == MPI_SUCCESS && n == locals);
    CHECK_OK(MPI_Group_translate_ranks(group, n, ranks, world, at));
    for (int i = 0; i < n; i++)
        CHECK(at[i] == local[i]);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_remote_group(inter, &group));
    CHECK(MPI_Group_size(group, &n) == MPI_SUCCESS && n == remotes);
    CHECK_OK(MPI_Group_translate_ranks(group, n, ranks, world, at));
    for (int i = 0; i < n; i++)
        CHECK(at[i] == remote[i]);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&world));

    CHECK_OK(MPI_Comm_rank(inter, &me));
    CHECK(local[me] == rank);
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    for (int i = 0; i < remotes; i++)
        expected += remote[i];
    CHECK(sum == expected);
    MPI_Request requests[64];
    int got[64];
    for (int i = 0; i < remotes; i++) {
        CHECK_OK(MPI_Irecv(&got[i], 1, MPI_INT, i, 3, inter, &requests[i]));
        CHECK_OK(MPI_Send(&rank, 1, MPI_INT, i, 3, inter));
    }
    CHECK_OK(MPI_Waitall(remotes, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < remotes; i++)
        CHECK(got[i] == remote[i]);
}

static int merged_first(MPI_Comm inter, int high)
{
    MPI_Comm merged;
    int first = rank;
    CHECK_OK(MPI_Intercomm_merge(inter, high, &merged));
    CHECK_OK(MPI_Bcast(&first, 1, MPI_INT, 0, merged));
    CHECK_OK(MPI_Comm_free(&merged));
    return first;
}

static int pick(int parity, int from, int step, int *ranks) /* World ranks of a side, by their rank in it */
{
    int n = 0;
    for (int i = from; 2 * i + parity < size; i += step)
        ranks[n++] = 2 * i + parity;
    return n;
}

static void reverse(int *ranks, int n)
{
    for (int i = 0; i < n / 2; i++) {
        int kept = ranks[i];
        ranks[i] = ranks[n - 1 - i];
        ranks[n - 1 - i] = kept;
    }
}

/* By the rank in the side modulo 2, in reverse order. */
static void split(MPI_Comm inter)
{
    MPI_Comm half;
    int me, ours[64], theirs[64];
    CHECK_OK(MPI_Comm_rank(inter, &me));
    CHECK_OK(MPI_Comm_split(inter, me % 2, -me, &half));
    int n = pick(rank % 2, me % 2, 2, ours), m = pick(!(rank % 2), me % 2, 2, theirs);
    reverse(ours, n);
    reverse(theirs, m);
    CHECK((half == MPI_COMM_NULL) == (m == 0));
    if (half != MPI_COMM_NULL) {
        check(half, ours, n, theirs, m);
        CHECK(merged_first(half, rank % 2) == (rank % 2 ? theirs[0] : ours[0]));
        CHECK_OK(MPI_Comm_free(&half));
    }
    CHECK_OK(MPI_Comm_split(inter, rank % 2, 0, &half)); /* no color on both sides */
    CHECK(half == MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_split(inter, me == 0 ? 5 : MPI_UNDEFINED, 0, &half));
    CHECK((half == MPI_COMM_NULL) == (me != 0));
    if (half != MPI_COMM_NULL) {
        check(half, &rank, 1, (int[]){ rank % 2 ? 0 : 1 }, 1);
        CHECK_OK(MPI_Comm_free(&half));
    }
}

/* The last ranks of each side, in reverse order. */
static void create(MPI_Comm inter)
{
    MPI_Group group, part;
    MPI_Comm made;
    int n, ours[64], theirs[64], chosen[2], m;
    CHECK_OK(MPI_Comm_group(inter, &group));
    n = pick(rank % 2, 0, 1, ours);
    m = pick(!(rank % 2), 0, 1, theirs);
    chosen[0] = n - 1;
    chosen[1] = n - 2;
    CHECK_OK(MPI_Group_incl(group, n > 1 ? 2 : 1, chosen, &part));
    CHECK_OK(MPI_Comm_create(inter, part, &made));
    int mine[2] = { ours[n - 1], n > 1 ? ours[n - 2] : -1 }, other[2] = { theirs[m - 1], m > 1 ? theirs[m - 2] : -1 };
    CHECK((made != MPI_COMM_NULL) == (rank == mine[0] || rank == mine[1]));
    if (made != MPI_COMM_NULL) {
        check(made, mine, n > 1 ? 2 : 1, other, m > 1 ? 2 : 1);
        CHECK_OK(MPI_Comm_free(&made));
    }
    CHECK_OK(MPI_Comm_create(inter, rank % 2 ? MPI_GROUP_EMPTY : part, &made)); /* one side names no process */
    CHECK(made == MPI_COMM_NULL);
    CHECK_OK(MPI_Group_free(&part));
    CHECK_OK(MPI_Group_free(&group));
}

static int copies, fail_on = -1;

static int copy_attribute(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return rank == fail_on ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void duplicate(MPI_Comm inter, const int *ours, int n, const int *theirs, int m)
{
    enum { COPIES = 4 };
    MPI_Comm copy[COPIES];
    MPI_Request request[COPIES];
    int keyval, result, flag;
    void *value;
    CHECK_OK(MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(inter, keyval, &copies));
    for (int i = 0; i < COPIES; i++)
        CHECK_OK(MPI_Comm_idup(inter, &copy[i], &request[i]));
    CHECK_OK(MPI_Waitall(COPIES, request, MPI_STATUSES_IGNORE));
    for (int i = COPIES - 1; i >= 0; i--) {
        CHECK_OK(MPI_Comm_compare(inter, copy[i], &result));
        CHECK(result == MPI_CONGRUENT);
        CHECK_OK(MPI_Comm_get_attr(copy[i], keyval, &value, &flag));
        CHECK(flag && value == &copies);
        check(copy[i], ours, n, theirs, m);
        CHECK(merged_first(copy[i], !(rank % 2)) == 1); /* the odd ones come first */
        CHECK_OK(MPI_Comm_free(&copy[i]));
    }
    fail_on = 1; /* one process of one side cannot copy: no process gets a duplicate */
    CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    int rc = MPI_Comm_idup(inter, &copy[0], &request[0]);
    CHECK((rc != MPI_SUCCESS) == (rank == 1));
    if (rc == MPI_SUCCESS) {
        CHECK(MPI_Wait(&request[0], MPI_STATUS_IGNORE) != MPI_SUCCESS);
        CHECK_OK(MPI_Comm_free(&copy[0]));
    }
    CHECK(MPI_Comm_dup(inter, &copy[0]) != MPI_SUCCESS);
    fail_on = -1;
    CHECK_OK(MPI_Comm_delete_attr(inter, keyval));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    check(inter, ours, n, theirs, m);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    rank = mtest_rank;
    size = mtest_size;
    MPI_Comm local, inter, copy;
    int ours[64], theirs[64], n = pick(rank % 2, 0, 1, ours), m = pick(!(rank % 2), 0, 1, theirs);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &local));
    CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 12, &inter));
    CHECK_OK(MPI_Comm_free(&local));
    check(inter, ours, n, theirs, m);
    split(inter);
    create(inter);
    duplicate(inter, ours, n, theirs, m);
    CHECK_OK(MPI_Comm_dup(inter, &copy));
    CHECK_OK(MPI_Comm_free(&inter));
    split(copy);
    create(copy);
    for (int high = 0; high < 4; high++) {
        int even = high & 1, odd = high >> 1, first = merged_first(copy, rank % 2 ? odd : even);
        CHECK(even == odd ? first == 0 || first == 1 : first == even);
    }
    CHECK_OK(MPI_Comm_free(&copy));
    MTEST_END;
}
