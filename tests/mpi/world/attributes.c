/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The predefined attributes of MPI_COMM_WORLD (MPI-5.0 section 9.1.2), by the C binding a pointer to int each; they
 * cannot be changed; other communicators have MPI_TAG_UB too.
 */
#include "mtest.h"

static int get(MPI_Comm comm, int keyval, int *found)
{
    int *value = NULL;
    *found = -1;
    CHECK_OK(MPI_Comm_get_attr(comm, keyval, &value, found));
    return *found ? *value : -1;
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
    MTEST_END;
}
