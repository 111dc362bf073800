/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread level belongs to a session (MPI-5.0 section 11.3.1): requested by the info key thread_level, or by the
 * other name that programs use, and returned by MPI_Session_get_info. Sessions of different levels work side by side.
 */
#include "mtest.h"

static const char *const levels[] = { "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                      "MPI_THREAD_MULTIPLE" };
enum { LEVELS = sizeof levels / sizeof *levels };

static const char *const keys[] = { "thread_level", "mpi_thread_support_level" };

static void has_level(MPI_Session session, const char *level)
{
    MPI_Info info;
    CHECK_OK(MPI_Session_get_info(session, &info));
    for (int i = 0; i < 2; i++) {
        char text[32] = "";
        int capacity = sizeof text, flag = 0;
        CHECK_OK(MPI_Info_get_string(info, keys[i], &capacity, text, &flag));
        CHECK(flag && strcmp(text, level) == 0);
    }
    CHECK_OK(MPI_Info_free(&info));
}

static void refused(const char *key)
{
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, key, "MPI_THREAD_WISHFUL"));
    CHECK_CLASS(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO_VALUE);
    CHECK_OK(MPI_Info_free(&info));
}

/* If both keys are there, the standard's counts. */
static void both_keys(void)
{
    MPI_Session session;
    MPI_Info info;
    for (int i = 0; i < LEVELS; i++) {
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, keys[0], levels[i]));
        CHECK_OK(MPI_Info_set(info, keys[1], levels[LEVELS - 1 - i]));
        CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
        CHECK_OK(MPI_Info_free(&info));
        has_level(session, levels[i]);
        CHECK_OK(MPI_Session_finalize(&session));
    }
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Session sessions[LEVELS];
    MPI_Comm comms[LEVELS];
    MPI_Group group;
    MPI_Info info;
    for (int i = 0; i < LEVELS; i++) {
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, keys[i % 2], levels[i]));
        CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &sessions[i]));
        CHECK_OK(MPI_Info_free(&info));
        has_level(sessions[i], levels[i]);
        CHECK_OK(MPI_Group_from_session_pset(sessions[i], "mpi://WORLD", &group));
        CHECK_OK(MPI_Comm_create_from_group(group, levels[i], MPI_INFO_NULL, MPI_ERRORS_RETURN, &comms[i]));
        CHECK_OK(MPI_Group_free(&group));
    }
    for (int i = LEVELS - 1; i >= 0; i--) {
        int sum = -1;
        CHECK_OK(MPI_Allreduce(&mtest_rank, &sum, 1, MPI_INT, MPI_SUM, comms[i]));
        CHECK(sum == mtest_size * (mtest_size - 1) / 2);
        CHECK_OK(MPI_Comm_free(&comms[i]));
        CHECK_OK(MPI_Session_finalize(&sessions[i]));
    }
    both_keys();
    refused(keys[0]);
    refused(keys[1]);
    MTEST_END;
}
