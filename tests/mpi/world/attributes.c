/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The predefined attributes of MPI_COMM_WORLD (MPI-5.0 section 9.1.2), in C a pointer to int each. They cannot be
 * changed. Other communicators have MPI_TAG_UB too, and in a session it is the only attribute that describes the
 * environment.
 */
#include "mtest.h"

static int get(MPI_Comm comm, int keyval, int *found)
{
    int *value = NULL;
    *found = -1;
    CHECK_OK(MPI_Comm_get_attr(comm, keyval, &value, found));
    return *found ? *value : -1;
}

static void in_session(void)
{
    const int of_world[] = { MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_UNIVERSE_SIZE };
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int found;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "plenum.tests.attributes", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK(get(comm, MPI_TAG_UB, &found) >= 32767 && found);
    for (size_t i = 0; i < sizeof of_world / sizeof of_world[0]; i++) {
        get(comm, of_world[i], &found);
        CHECK(!found);
    }
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int found, value;
    MPI_Comm dup;
    value = get(MPI_COMM_WORLD, MPI_TAG_UB, &found);
    CHECK(found && value >= 32767);
    value = get(MPI_COMM_WORLD, MPI_IO, &found);
    CHECK(!found || value == MPI_ANY_SOURCE || value == MPI_PROC_NULL || (value >= 0 && value < mtest_size));
    value = get(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &found);
    CHECK(!found || value == 0 || value == 1);
    value = get(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &found);
    CHECK(!found || value >= mtest_size);
    value = get(MPI_COMM_WORLD, MPI_APPNUM, &found);
    CHECK(!found || value == 0);
    get(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &found);
    CHECK(found);

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    value = get(dup, MPI_TAG_UB, &found);
    CHECK(found && value == get(MPI_COMM_WORLD, MPI_TAG_UB, &found));
    MPI_Comm_free(&dup);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB), MPI_ERR_KEYVAL);
    in_session();
    MTEST_END;
}
