/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The identity of a communicator's creation (MPI-5.0 section 7.4.2): the group's members, their order, and the tag.
 * Rank 0 uses one tag for {0,1} and then {0,2}, in every order of arrival. The same members in another order are
 * another group. Threads of one process, in one session and in sessions of their own, create many communicators of one
 * group with different tags, in another order on every rank; each carries its own messages.
 */
#include <pthread.h>
#include <unistd.h>

#include "mtest.h"

enum { THREADS = 4, TAGS = 12 };

static MPI_Session session;
static MPI_Group world;

static MPI_Comm of(int n, const int *ranks, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    CHECK_OK(MPI_Group_incl(world, n, ranks, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    return comm;
}

/* Each member sends its identity to the first one, and gets the sum. */
static void talk(MPI_Comm comm, int n, const int *ranks, int salt)
{
    int sum, me, expected = 0;
    CHECK_OK(MPI_Comm_rank(comm, &me));
    CHECK(ranks[me] == mtest_rank);
    for (int i = 0; i < n; i++)
        expected += (ranks[i] + 1) * (i + 1) + salt;
    CHECK_OK(MPI_Allreduce(&(int){ (mtest_rank + 1) * (me + 1) + salt }, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == expected);
}

static void overlapping(int late)
{
    for (int other = 1; other < mtest_size; other++) {
        int ranks[2] = { 0, other };
        if (mtest_rank != 0 && mtest_rank != other)
            continue;
        if (mtest_rank == late)
            usleep(2000);
        MPI_Comm comm = of(2, ranks, "one tag");
        talk(comm, 2, ranks, other);
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

static void orders(void)
{
    int up[64], down[64], turned[64];
    for (int i = 0; i < mtest_size; i++) {
        up[i] = i;
        down[i] = mtest_size - 1 - i;
        turned[i] = (i + 1) % mtest_size;
    }
    MPI_Comm a = of(mtest_size, up, "order"), b = of(mtest_size, down, "order"), c = of(mtest_size, turned, "order");
    MPI_Comm self = of(1, &mtest_rank, "order");
    talk(c, mtest_size, turned, 1);
    talk(a, mtest_size, up, 2);
    talk(b, mtest_size, down, 3);
    talk(self, 1, &mtest_rank, 4);
    CHECK_OK(MPI_Comm_free(&a));
    CHECK_OK(MPI_Comm_free(&b));
    CHECK_OK(MPI_Comm_free(&c));
    CHECK_OK(MPI_Comm_free(&self));
}

struct job {
    int number, own_session;
};

/* Tags that differ only at the end, a portion for each thread; all communicators exist at once. */
static void *storm(void *argument)
{
    const struct job *job = argument;
    MPI_Session mine = session;
    MPI_Group group;
    MPI_Comm comm[TAGS];
    if (job->own_session)
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &mine));
    CHECK_OK(MPI_Group_from_session_pset(mine, "mpi://WORLD", &group));
    for (int i = 0; i < TAGS; i++) {
        char tag[MPI_MAX_STRINGTAG_LEN];
        snprintf(tag, sizeof tag, "a tag as long as tags are that differ at their end %d.%d", job->number, i);
        CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm[i]));
    }
    CHECK_OK(MPI_Group_free(&group));
    for (int i = TAGS - 1; i >= 0; i--) {
        int value = mtest_rank == 0 ? 100 * job->number + i : -1;
        CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, 0, comm[i]));
        CHECK(value == 100 * job->number + i);
        CHECK_OK(MPI_Comm_free(&comm[i]));
    }
    if (job->own_session)
        CHECK_OK(MPI_Session_finalize(&mine));
    return NULL;
}

static void threads(int own_session)
{
    pthread_t thread[THREADS];
    struct job jobs[THREADS];
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){ (i + mtest_rank) % THREADS, own_session };
        CHECK(pthread_create(&thread[i], NULL, storm, &jobs[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

int main(void)
{
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    MPI_Group_rank(world, &mtest_rank);
    MPI_Group_size(world, &mtest_size);
    for (int late = -1; late < mtest_size && late < 4; late++)
        overlapping(late);
    for (int round = 0; round < 3; round++)
        orders();
    threads(0);
    threads(1);
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
