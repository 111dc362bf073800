/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_split_type (MPI-5.0 section 7.4.2): MPI_COMM_TYPE_SHARED puts together all processes of this machine, in the
 * order of keys; MPI_UNDEFINED gives MPI_COMM_NULL; a type that is none is MPI_ERR_ARG.
 */
#include "mtest.h"

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int size, rank;
    MPI_Comm comm;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -mtest_rank, MPI_INFO_NULL, &comm));
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK(size == mtest_size && rank == mtest_size - 1 - mtest_rank); /* the tests run on one machine */
    CHECK_OK(MPI_Comm_free(&comm));

    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, mtest_rank % 2 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    CHECK((comm == MPI_COMM_NULL) == (mtest_rank % 2));
    if (comm != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_size(comm, &size));
        CHECK(size == (mtest_size + 1) / 2);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    MTEST_END;
}
