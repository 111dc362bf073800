/* SPDX-License-Identifier: BSD-3-Clause */
/* With PLENUM_STRICT=1 MPI_Finalize names the objects left in the World, and finalizes all the same. */
#include "mtest.h"

int main(int argc, char **argv)
{
    setenv("PLENUM_STRICT", "1", 1);
    setenv("PLENUM_INITIAL_ERRHANDLER", "mpi_errors_return", 1);
    MTEST_INIT(argc, argv);
    MPI_Comm comm;
    int length, flag, value = 1;
    char text[MPI_MAX_ERROR_STRING];
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_name(comm, "forgotten"));
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 77, MPI_COMM_SELF));
    int rc = MPI_Finalize();
    CHECK_CLASS(rc, MPI_ERR_OTHER);
    CHECK_OK(MPI_Error_string(rc, text, &length));
    CHECK(strstr(text, "communicator \"forgotten\" (not freed)") != NULL);
    CHECK(strstr(text, "\"MPI_COMM_SELF\" (1 message not received, the first from rank 0 with tag 77)") != NULL);
    CHECK(strstr(text, "MPI_COMM_WORLD") == NULL);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK(flag);
    MTEST_END;
}
