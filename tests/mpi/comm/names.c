/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of communicators (MPI-5.0 section 7.8): the predefined ones, the user's, the longest, a longer one that is cut,
 * none for a new communicator, those of the null handles. Error messages include the name.
 */
#include "mtest.h"

static const char *name_of(MPI_Comm comm)
{
    static char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    memset(name, 'x', sizeof name);
    CHECK_OK(MPI_Comm_get_name(comm, name, &length));
    CHECK(length == (int)strlen(name));
    return name;
}

static void null_handles(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    CHECK(strcmp(name_of(MPI_COMM_NULL), "MPI_COMM_NULL") == 0);
    CHECK_OK(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length));
    CHECK(strcmp(name, "MPI_DATATYPE_NULL") == 0 && length == 17);
    CHECK_OK(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
    CHECK(strcmp(name, "MPI_WIN_NULL") == 0 && length == 12);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    char longest[MPI_MAX_OBJECT_NAME], beyond[2 * MPI_MAX_OBJECT_NAME], text[MPI_MAX_ERROR_STRING];
    int rc, length;
    MPI_Comm comm, copy;
    CHECK(strcmp(name_of(MPI_COMM_WORLD), "MPI_COMM_WORLD") == 0);
    CHECK(strcmp(name_of(MPI_COMM_SELF), "MPI_COMM_SELF") == 0);
    null_handles();

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(strcmp(name_of(comm), "") == 0);
    CHECK_OK(MPI_Comm_set_name(comm, "ocean"));
    CHECK(strcmp(name_of(comm), "ocean") == 0);
    MPI_Comm_dup(comm, &copy);
    CHECK(strcmp(name_of(copy), "") == 0); /* a name is not copied */
    MPI_Comm_free(&copy);

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rc = MPI_Send(NULL, 0, MPI_INT, mtest_size, 0, comm);
    CHECK_CLASS(rc, MPI_ERR_RANK);
    MPI_Error_string(rc, text, &length);
    CHECK(strstr(text, "\"ocean\"") != NULL);

    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    CHECK_OK(MPI_Comm_set_name(comm, longest));
    CHECK(strcmp(name_of(comm), longest) == 0);
    memset(beyond, 'b', sizeof beyond);
    beyond[sizeof beyond - 1] = '\0';
    CHECK_OK(MPI_Comm_set_name(comm, beyond));
    CHECK(strlen(name_of(comm)) == MPI_MAX_OBJECT_NAME - 1 && name_of(comm)[0] == 'b');
    CHECK_OK(MPI_Comm_set_name(comm, "short"));
    CHECK(strcmp(name_of(comm), "short") == 0);
    MPI_Comm_free(&comm);

    CHECK_OK(MPI_Comm_set_name(MPI_COMM_WORLD, "everybody"));
    CHECK(strcmp(name_of(MPI_COMM_WORLD), "everybody") == 0);
    MTEST_END;
}
