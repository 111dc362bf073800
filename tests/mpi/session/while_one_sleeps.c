/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No part of a session waits for a process that does not take part (MPI-5.0 section 11.3.1): while one rank does
 * nothing at all, the others open and close sessions, create communicators without it, and work. It wakes up only when
 * all of them are done: if one waited for it, the program would never end. Then all create a communicator.
 */
/* ranks: 2 3 4 7 */
#include "mtest.h"
#include "sleeper.h"

static MPI_Comm create(MPI_Session session, const char *tag, int without)
{
    MPI_Group world, group;
    MPI_Comm comm;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    CHECK_OK(MPI_Group_size(world, &mtest_size));
    CHECK_OK(MPI_Group_rank(world, &mtest_rank));
    if (without >= 0)
        CHECK_OK(MPI_Group_excl(world, 1, &without, &group));
    else
        CHECK_OK(MPI_Group_excl(world, 0, NULL, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&world));
    return comm;
}

static void add_up(MPI_Comm comm, int without)
{
    int all = mtest_size * (mtest_size - 1) / 2, sum = -1;
    CHECK_OK(MPI_Allreduce(&mtest_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == all - (without >= 0 ? without : 0));
    CHECK_OK(MPI_Comm_free(&comm));
}

static void work(int without)
{
    MPI_Session session;
    MPI_Group self;
    MPI_Comm alone;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
    CHECK_OK(MPI_Comm_create_from_group(self, "alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &alone));
    CHECK_OK(MPI_Group_free(&self));
    CHECK_OK(MPI_Barrier(alone));
    CHECK_OK(MPI_Comm_free(&alone));
    add_up(create(session, "without one", without), without);
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(int argc, char **argv)
{
    const char *number = getenv("PLENUM_RANK"), *count = getenv("PLENUM_SIZE");
    MPI_Session session;
    if (!CHECK(number && count))
        MTEST_END;
    int rank = atoi(number), sleeper = atoi(count) - 1;
    (void)argc, (void)argv;
    if (rank == sleeper) {
        sleeper_sleep(sleeper);
    } else {
        for (int round = 0; round < 3; round++)
            work(sleeper);
        sleeper_wake();
    }
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    add_up(create(session, "all", -1), -1);
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
