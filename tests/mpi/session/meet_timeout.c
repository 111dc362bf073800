/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A member that does not come (docs/sessions.md): with a limit the creation of a communicator fails at all waiting
 * members, whichever member is missing, with MPIX_ERR_TIMEOUT and the ranks of the missing members. The session works
 * on, and the same tag works at the next attempt. From one group, and from two groups for an intercommunicator.
 */
/* ranks: 2 3 4 7 */
#include <mpi-ext.h>

#include "mtest.h"

static MPI_Session session;
static MPI_Group world;
static MPI_Info brief;
static MPI_Comm all; /* to keep the ranks together between the attempts */

/* "rank G (J in the job)" for every missing member, and for no other. */
static void check_names(const char *text, int absent, int order)
{
    char name[64];
    for (int i = 0; i < mtest_size; i++) {
        int job = order < 0 ? mtest_size - 1 - i : i;
        snprintf(name, sizeof name, "rank %d (%d in the job)", i, job);
        if (!CHECK(!!strstr(text, name) == (job == absent)))
            fprintf(stderr, "%s\n", text);
    }
}

static void talk(MPI_Comm comm)
{
    int sum;
    CHECK_OK(MPI_Allreduce(&mtest_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == mtest_size * (mtest_size - 1) / 2);
}

static void group_without(int absent, int order)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int ranks[64], length, rc = MPI_SUCCESS;
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    for (int i = 0; i < mtest_size; i++)
        ranks[i] = order < 0 ? mtest_size - 1 - i : i;
    CHECK_OK(MPI_Group_incl(world, mtest_size, ranks, &group));
    if (mtest_rank != absent) {
        rc = MPI_Comm_create_from_group(group, "brief", brief, MPI_ERRORS_RETURN, &comm);
        CHECK_CLASS(rc, MPIX_ERR_TIMEOUT);
        CHECK_OK(MPI_Error_string(rc, text, &length));
        check_names(text, absent, order);
    }
    CHECK_OK(MPI_Barrier(all));
    CHECK_OK(MPI_Comm_create_from_group(group, "brief", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    talk(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
}

/* The first half against the second, each led by its last. */
static void groups_without(int absent)
{
    int low = (mtest_size + 1) / 2, mine = mtest_rank < low, length, rc, sum;
    char text[MPI_MAX_ERROR_STRING] = "", name[64];
    MPI_Group halves[2];
    MPI_Comm inter;
    CHECK_OK(MPI_Group_range_incl(world, 1, (int[][3]){ { 0, low - 1, 1 } }, &halves[1]));
    CHECK_OK(MPI_Group_range_incl(world, 1, (int[][3]){ { low, mtest_size - 1, 1 } }, &halves[0]));
    int leader = mine ? low - 1 : mtest_size - low - 1, other = mine ? mtest_size - low - 1 : low - 1;
    if (mtest_rank != absent) {
        rc = MPI_Intercomm_create_from_groups(halves[mine], leader, halves[!mine], other, "halves", brief,
                                              MPI_ERRORS_RETURN, &inter);
        CHECK_CLASS(rc, MPIX_ERR_TIMEOUT);
        CHECK_OK(MPI_Error_string(rc, text, &length));
        snprintf(name, sizeof name, "(%d in the job)", absent);
        int leads = absent == low - 1 || absent == mtest_size - 1;
        if (!CHECK(strstr(text, name) ||
                   (!leads && (absent < low) != mine))) /* the other side may only see that no leader comes */
            fprintf(stderr, "rank %d without %d: %s\n", mtest_rank, absent, text);
    }
    CHECK_OK(MPI_Barrier(all));
    CHECK_OK(MPI_Intercomm_create_from_groups(halves[mine], leader, halves[!mine], other, "halves", MPI_INFO_NULL,
                                              MPI_ERRORS_RETURN, &inter));
    CHECK_OK(MPI_Allreduce(&mtest_rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    int below = low * (low - 1) / 2;
    CHECK(sum == (mine ? mtest_size * (mtest_size - 1) / 2 - below : below));
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Group_free(&halves[0]));
    CHECK_OK(MPI_Group_free(&halves[1]));
}

static void bad_values(void)
{
    static const char *const bad[] = { "", "soon", "-1", "1s", "nan", "1e99" };
    MPI_Comm comm;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    for (size_t i = 1; i < sizeof bad / sizeof *bad; i++) {
        CHECK_OK(MPI_Info_set(info, "plenum_meet_timeout", bad[i]));
        CHECK_CLASS(MPI_Comm_create_from_group(world, "bad", info, MPI_ERRORS_RETURN, &comm), MPI_ERR_INFO_VALUE);
    }
    CHECK_OK(MPI_Info_free(&info));
}

int main(void)
{
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    MPI_Group_rank(world, &mtest_rank);
    MPI_Group_size(world, &mtest_size);
    CHECK_OK(MPI_Info_create(&brief));
    CHECK_OK(MPI_Info_set(brief, "plenum_meet_timeout", "0.1"));
    bad_values();
    CHECK_OK(MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all));
    group_without(0, 1);
    group_without(0, -1);
    group_without(mtest_size - 1, 1);
    group_without(mtest_size / 2, 1);
    groups_without(mtest_size - 1);
    groups_without(0);
    CHECK_OK(MPI_Comm_free(&all));
    CHECK_OK(MPI_Info_free(&brief));
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
