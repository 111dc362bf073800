/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_create_from_group distinguishes groups and tags exactly (MPI-5.0 section 7.4.2). Rank 0 creates one
 * communicator with every other rank, all with one tag and in any order of arrival. Then the same group uses the same
 * tag again and again.
 */
#include "mtest.h"

static MPI_Comm pair(MPI_Group world, int other, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    CHECK_OK(MPI_Group_incl(world, 2, (int[]){ 0, other }, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    return comm;
}

static void meet(MPI_Group world, int other)
{
    int got = -1, me;
    MPI_Comm comm = pair(world, other, "meeting");
    MPI_Comm_rank(comm, &me);
    CHECK(me == (mtest_rank != 0));
    CHECK_OK(MPI_Sendrecv(&mtest_rank, 1, MPI_INT, 1 - me, 0, &got, 1, MPI_INT, 1 - me, 0, comm, MPI_STATUS_IGNORE));
    CHECK(got == (mtest_rank == 0 ? other : 0));
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Session session;
    MPI_Group world;
    MPI_Comm all[5];
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    for (int round = 0; round < 3; round++) {
        for (int i = 1; i < mtest_size && mtest_rank == 0; i++)
            meet(world, round % 2 ? mtest_size - i : i);
        if (mtest_rank != 0)
            meet(world, mtest_rank);
    }

    /* Five communicators of the same group with the same tag, all alive: each has messages of its own. */
    for (int i = 0; i < 5; i++)
        CHECK_OK(MPI_Comm_create_from_group(world, "again", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all[i]));
    for (int i = 4; i >= 0; i--) {
        int value = mtest_rank == 0 ? 50 + i : -1;
        CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, 0, all[i]));
        CHECK(value == 50 + i);
        CHECK_OK(MPI_Comm_free(&all[i]));
    }
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
