/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Intercomm_create_from_groups (MPI-5.0 section 7.6.2): groups of all sizes in any order, leaders anywhere, the
 * leader's arguments at the leader only, unequal numbers of earlier sessions, the same tag again and beside other
 * exchanges. The result has the right groups, carries messages both ways, and can be merged, split and duplicated.
 */
/* ranks: 2 3 4 7 16 */
#include <unistd.h>

#include "mtest.h"

static MPI_Session session;
static MPI_Group world;

/* A side: the World ranks `from`, `from` + 2, ...; upwards or downwards. */
static int side(int from, int down, int *ranks)
{
    int n = 0;
    for (int r = from; r < mtest_size; r += 2)
        ranks[n++] = r;
    for (int i = 0; down && i < n / 2; i++) {
        int kept = ranks[i];
        ranks[i] = ranks[n - 1 - i];
        ranks[n - 1 - i] = kept;
    }
    return n;
}

static void check(MPI_Comm inter, const int *ours, int n, const int *theirs, int m)
{
    int size, me, all[64], got[64];
    CHECK(MPI_Comm_size(inter, &size) == MPI_SUCCESS && size == n);
    CHECK(MPI_Comm_remote_size(inter, &size) == MPI_SUCCESS && size == m);
    CHECK_OK(MPI_Comm_rank(inter, &me));
    CHECK(ours[me] == mtest_rank);
    CHECK_OK(MPI_Allgather(&mtest_rank, 1, MPI_INT, all, 1, MPI_INT, inter));
    MPI_Request requests[64];
    for (int i = 0; i < m; i++) {
        CHECK(all[i] == theirs[i]);
        CHECK_OK(MPI_Irecv(&got[i], 1, MPI_INT, i, 3, inter, &requests[i]));
        CHECK_OK(MPI_Send(&mtest_rank, 1, MPI_INT, i, 3, inter));
    }
    CHECK_OK(MPI_Waitall(m, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < m; i++)
        CHECK(got[i] == theirs[i]);
}

static MPI_Comm meet(const char *tag, int downs, int even_leader, int odd_leader, int *ours, int *n, int *theirs,
                     int *m)
{
    MPI_Group local, remote;
    MPI_Comm inter;
    int odd = mtest_rank % 2;
    *n = side(odd, downs >> odd & 1, ours);
    *m = side(!odd, downs >> !odd & 1, theirs);
    int leader = (odd ? odd_leader : even_leader) % *n, other = (odd ? even_leader : odd_leader) % *m;
    int leads = ours[leader] == mtest_rank;
    CHECK_OK(MPI_Group_incl(world, *n, ours, &local));
    CHECK_OK(MPI_Group_incl(world, *m, theirs, &remote));
    CHECK_OK(MPI_Intercomm_create_from_groups(local, leader, leads ? remote : MPI_GROUP_NULL, leads ? other : -7, tag,
                                              MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    CHECK_OK(MPI_Group_free(&local));
    CHECK_OK(MPI_Group_free(&remote));
    return inter;
}

static void derive(MPI_Comm inter, const int *ours, int n, const int *theirs, int m)
{
    MPI_Comm copy, merged, half;
    MPI_Request request;
    int me, first, a[64], b[64], sum;
    CHECK_OK(MPI_Comm_rank(inter, &me));
    CHECK_OK(MPI_Comm_idup(inter, &copy, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check(copy, ours, n, theirs, m);
    for (int high = 0; high < 4; high++) {
        int even = high & 1, odd = high >> 1, size;
        CHECK_OK(MPI_Intercomm_merge(copy, mtest_rank % 2 ? odd : even, &merged));
        CHECK_OK(MPI_Allreduce(&mtest_rank, &sum, 1, MPI_INT, MPI_SUM, merged));
        CHECK(sum == mtest_size * (mtest_size - 1) / 2);
        CHECK(MPI_Comm_size(merged, &size) == MPI_SUCCESS && size == mtest_size);
        first = mtest_rank % 2;
        CHECK_OK(MPI_Bcast(&first, 1, MPI_INT, 0, merged));
        CHECK(even == odd || first == even);
        CHECK_OK(MPI_Comm_free(&merged));
    }
    CHECK_OK(MPI_Comm_split(copy, me % 2, me, &half));
    CHECK_OK(MPI_Comm_free(&copy));
    int na = 0, nb = 0;
    for (int i = me % 2; i < n; i += 2)
        a[na++] = ours[i];
    for (int i = me % 2; i < m; i += 2)
        b[nb++] = theirs[i];
    CHECK((half == MPI_COMM_NULL) == (nb == 0));
    if (half != MPI_COMM_NULL) {
        check(half, a, na, b, nb);
        CHECK_OK(MPI_Comm_free(&half));
    }
}

static void empty_groups(void)
{
    MPI_Comm inter;
    MPI_Group self;
    CHECK_OK(MPI_Group_incl(world, 1, &mtest_rank, &self));
    CHECK_OK(MPI_Intercomm_create_from_groups(self, 0, MPI_GROUP_EMPTY, 0, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                              &inter));
    CHECK(inter == MPI_COMM_NULL);
    CHECK_OK(MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, self, 0, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                              &inter));
    CHECK(inter == MPI_COMM_NULL);
    int leader = mtest_size - 1; /* only the leader knows that the other group is empty */
    CHECK_OK(MPI_Intercomm_create_from_groups(world, leader, mtest_rank == leader ? MPI_GROUP_EMPTY : MPI_GROUP_NULL, 0,
                                              "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    CHECK(inter == MPI_COMM_NULL);
    CHECK_CLASS(MPI_Intercomm_create_from_groups(self, 0, world, 0, "no", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter),
                MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Intercomm_create_from_groups(self, 1, world, 0, "no", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter),
                MPI_ERR_RANK);
    if (mtest_size > 1) {
        MPI_Group other;
        CHECK_OK(MPI_Group_difference(world, self, &other));
        for (int wrong = -1; wrong < mtest_size; wrong += mtest_size)
            CHECK_CLASS(MPI_Intercomm_create_from_groups(self, 0, other, wrong, "no", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                                         &inter),
                        MPI_ERR_RANK);
        CHECK_OK(MPI_Group_free(&other));
    }
    CHECK_OK(MPI_Group_free(&self));
}

/* MPI_Intercomm_create() with local communicators of one process each, which were created without an exchange. */
static void of_one(void)
{
    MPI_Group self;
    MPI_Comm alone, all, inter;
    int other = 1 - mtest_rank;
    CHECK_OK(MPI_Group_incl(world, 1, &mtest_rank, &self));
    CHECK_OK(MPI_Comm_create_from_group(self, "alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &alone));
    CHECK_OK(MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all));
    if (mtest_rank < 2) {
        CHECK_OK(MPI_Intercomm_create(alone, 0, all, other, 5, &inter));
        check(inter, &mtest_rank, 1, &other, 1);
        CHECK_OK(MPI_Comm_free(&inter));
    }
    CHECK_OK(MPI_Comm_free(&alone));
    CHECK_OK(MPI_Comm_free(&all));
    CHECK_OK(MPI_Group_free(&self));
}

int main(void)
{
    int ours[64], theirs[64], n, m;
    for (int past = getpid() % 3; past > 0; past--) { /* unequal */
        MPI_Group self;
        MPI_Comm comm;
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
        CHECK_OK(MPI_Comm_create_from_group(self, "past", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        CHECK_OK(MPI_Group_free(&self));
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Session_finalize(&session));
    }
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    MPI_Group_rank(world, &mtest_rank);
    MPI_Group_size(world, &mtest_size);
    empty_groups();
    of_one();
    for (int round = 0; round < 4; round++) {
        MPI_Comm first = meet("one", round, 0, 0, ours, &n, theirs, &m);
        MPI_Comm second = meet("one", round, 0, 0, ours, &n, theirs, &m), all;
        CHECK_OK(MPI_Comm_create_from_group(world, "one", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all));
        check(first, ours, n, theirs, m);
        check(second, ours, n, theirs, m);
        CHECK_OK(MPI_Comm_free(&first));
        MPI_Comm third = meet("one", round, round, 3 * round + 1, ours, &n, theirs, &m);
        check(second, ours, n, theirs, m);
        CHECK_OK(MPI_Comm_free(&second));
        derive(third, ours, n, theirs, m);
        check(third, ours, n, theirs, m);
        CHECK_OK(MPI_Comm_free(&third));
        CHECK_OK(MPI_Comm_free(&all));
    }
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
