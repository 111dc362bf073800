/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Finalize releases what the program has not freed (MPI-5.0 section 11.2.4 and good manners): communicators,
 * inactive persistent requests, receives that never matched. Their handles are then invalid: an error, not a crash. The
 * process has the descriptors and threads that it had before MPI_Init.
 */
#include "mtest.h"
#include "usage.h"

int main(int argc, char **argv)
{
    struct usage before = usage_now(), after;
    int value = 0, flag, size;
    setenv("PLENUM_INITIAL_ERRHANDLER", "mpi_errors_return", 1); /* for the errors after MPI_Finalize */
    MTEST_INIT(argc, argv);
    MPI_Comm comm;
    MPI_Request inactive, posted;
    MPI_Group group;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_group(comm, &group);
    CHECK_OK(MPI_Send_init(&value, 1, MPI_INT, 0, 1, comm, &inactive));
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &posted));
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Cancel(&posted));
    CHECK_OK(MPI_Finalize());

    after = usage_now();
    CHECK(after.descriptors == before.descriptors && after.threads == before.threads);
    CHECK_CLASS(MPI_Comm_size(comm, &size), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_size(MPI_COMM_WORLD, &size), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Start(&inactive), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Request_free(&inactive));
    CHECK_OK(MPI_Wait(&posted, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Finalized(&flag));
    CHECK(flag);
    MTEST_END;
}
