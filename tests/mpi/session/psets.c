/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process sets (MPI-5.0 section 11.3.2): number and names, the length rules of MPI_Session_get_nth_pset, information
 * about a set, groups from sets; mpi://WORLD and mpi://SELF are always there; what does not exist is an error.
 */
#include "mtest.h"

static MPI_Session session;

static void lengths(int n)
{
    char whole[MPI_MAX_PSET_NAME_LEN], cut[4] = "???";
    int needed = 0, length = MPI_MAX_PSET_NAME_LEN;
    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &needed, NULL)); /* only asks */
    CHECK(needed > 1 && needed <= MPI_MAX_PSET_NAME_LEN);
    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, whole));
    CHECK((int)strlen(whole) + 1 == needed && length == needed);
    length = 3;
    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, cut));
    CHECK(memcmp(cut, whole, 2) == 0 && cut[2] == '\0' && length == needed);
}

/* "mpi_size" of a set and the size of its group agree. */
static int size_of(const char *name)
{
    char text[16] = "";
    int capacity = sizeof text, flag = 0, size = -1;
    MPI_Info info;
    MPI_Group group;
    CHECK_OK(MPI_Session_get_pset_info(session, name, &info));
    CHECK_OK(MPI_Info_get_string(info, "mpi_size", &capacity, text, &flag));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Group_from_session_pset(session, name, &group));
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK(flag && atoi(text) == size);
    CHECK_OK(MPI_Group_free(&group));
    return size;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int count = 0, length = 0, world = 0, self = 0;
    char name[MPI_MAX_PSET_NAME_LEN];
    MPI_Info info;
    MPI_Group group;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    CHECK(count >= 2);
    for (int n = 0; n < count; n++) {
        length = sizeof name;
        lengths(n);
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, name));
        world += strcmp(name, "mpi://WORLD") == 0;
        self += strcmp(name, "mpi://SELF") == 0;
        CHECK(size_of(name) >= 1);
    }
    CHECK(world == 1 && self == 1);
    CHECK(size_of("mpi://WORLD") == mtest_size);
    CHECK(size_of("mpi://SELF") == 1);
    CHECK(size_of("MPI://world") == mtest_size); /* scheme and name are not case sensitive */

    length = sizeof name;
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, count, &length, name), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_pset_info(session, "mpi://NOWHERE", &info), MPI_ERR_ARG);
    group = MPI_GROUP_EMPTY;
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://NOWHERE", &group), MPI_ERR_ARG);
    CHECK(group == MPI_GROUP_NULL);
    CHECK_CLASS(MPI_Group_from_session_pset(session, "", &group), MPI_ERR_ARG);
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
