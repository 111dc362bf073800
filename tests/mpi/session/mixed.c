/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects of different sessions do not mix (MPI-5.0 section 11.3.1), nor do those of a session and the World.
 * Operations on two groups, a communicator with a group of another session, and an intercommunicator over two sessions
 * each give an error of their class, and no process waits. One call may complete requests of several sessions, and
 * communicators of several sessions may be compared.
 */
#include "mtest.h"

enum { PARTIES = 3 }; /* the World and two sessions */
static MPI_Session sessions[PARTIES];
static MPI_Group groups[PARTIES];
static MPI_Comm comms[PARTIES];

static void two_groups(MPI_Group a, MPI_Group b)
{
    MPI_Group group;
    int result, rank = 0;
    CHECK_CLASS(MPI_Group_union(a, b, &group), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Group_intersection(a, b, &group), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Group_difference(a, b, &group), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Group_compare(a, b, &result), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Group_translate_ranks(a, 1, &rank, b, &result), MPI_ERR_GROUP);
    CHECK_OK(MPI_Group_union(a, MPI_GROUP_EMPTY, &group)); /* which goes with all */
    CHECK_OK(MPI_Group_free(&group));
}

static void group_and_comm(MPI_Comm comm, MPI_Group group)
{
    MPI_Comm made;
    char text[MPI_MAX_ERROR_STRING];
    int length;
    int rc = MPI_Comm_create(comm, group, &made);
    CHECK_CLASS(rc, MPI_ERR_GROUP);
    CHECK_OK(MPI_Error_string(rc, text, &length));
    CHECK(strstr(text, "session") != NULL);
    CHECK_CLASS(MPI_Comm_create_group(comm, group, 1, &made), MPI_ERR_GROUP);
}

/* One process on each side, so that both are leaders: only leaders check both groups. */
static void intercomm_of_groups(MPI_Group a, MPI_Group b)
{
    MPI_Group own, other;
    MPI_Comm made;
    if (mtest_size == 1 || mtest_rank > 1)
        return;
    CHECK_OK(MPI_Group_incl(a, 1, &mtest_rank, &own));
    CHECK_OK(MPI_Group_incl(b, 1, &(int){ 1 - mtest_rank }, &other));
    CHECK_CLASS(MPI_Intercomm_create_from_groups(own, 0, other, 0, "mixed", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made),
                MPI_ERR_GROUP);
    CHECK_OK(MPI_Group_free(&own));
    CHECK_OK(MPI_Group_free(&other));
}

static void two_comms(MPI_Comm a, MPI_Comm b)
{
    MPI_Comm made;
    int result = -1;
    CHECK_OK(MPI_Comm_compare(a, b, &result));
    CHECK(result == MPI_CONGRUENT || result == MPI_UNEQUAL);
    if (mtest_rank == 0)
        CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_SELF, 0, a == MPI_COMM_WORLD ? b : a, 0, 1, &made), MPI_ERR_COMM);
}

/* A receive in each, completed by one call, in both orders of arrival. */
static void requests(void)
{
    MPI_Request all[2 * PARTIES];
    int in[PARTIES], out[PARTIES], to = (mtest_rank + 1) % mtest_size,
                                   from = (mtest_rank + mtest_size - 1) % mtest_size;
    for (int i = 0; i < PARTIES; i++) {
        in[i] = -1;
        out[i] = 10 * i + mtest_rank;
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, from, 1, comms[i], &all[i]));
    }
    for (int i = PARTIES - 1; i >= 0; i--)
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, to, 1, comms[i], &all[PARTIES + i]));
    CHECK_OK(MPI_Waitall(2 * PARTIES, all, MPI_STATUSES_IGNORE));
    for (int i = 0; i < PARTIES; i++)
        CHECK(in[i] == 10 * i + from);

    MPI_Status status;
    int index, seen = 0;
    for (int i = 0; i < PARTIES; i++)
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, from, 2, comms[i], &all[i]));
    for (int i = PARTIES - 1; i >= 0; i--)
        CHECK_OK(MPI_Send(&out[i], 1, MPI_INT, to, 2, comms[i]));
    for (int i = 0; i < PARTIES; i++) {
        CHECK_OK(MPI_Waitany(PARTIES, all, &index, &status));
        seen |= 1 << index;
    }
    CHECK(seen == (1 << PARTIES) - 1);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    comms[0] = MPI_COMM_WORLD;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &groups[0]));
    for (int i = 1; i < PARTIES; i++) {
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[i]));
        CHECK_OK(MPI_Group_from_session_pset(sessions[i], "mpi://WORLD", &groups[i]));
        CHECK_OK(MPI_Comm_create_from_group(groups[i], "mixed", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comms[i]));
    }
    for (int i = 0; i < PARTIES; i++)
        for (int j = 0; j < PARTIES; j++) {
            if (i == j)
                continue;
            two_groups(groups[i], groups[j]);
            group_and_comm(comms[i], groups[j]);
            intercomm_of_groups(groups[i], groups[j]);
            two_comms(comms[i], comms[j]);
        }
    requests();
    for (int i = 0; i < PARTIES; i++)
        CHECK_OK(MPI_Group_free(&groups[i]));
    for (int i = 1; i < PARTIES; i++) {
        CHECK_OK(MPI_Comm_free(&comms[i]));
        CHECK_OK(MPI_Session_finalize(&sessions[i]));
    }
    MTEST_END;
}
