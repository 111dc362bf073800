/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request handle that is used after its operation was completed or freed gives MPI_ERR_REQUEST and does no harm, in
 * every function that takes one.
 */
#include "mtest.h"

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int data = 0, flag, index, indices[2];
    MPI_Request request, stale, pair[2];
    MPI_Status status, statuses[2];
    CHECK_OK(MPI_Irecv(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request));
    stale = request;
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));

    CHECK_CLASS((request = stale, MPI_Wait(&request, &status)), MPI_ERR_REQUEST);
    CHECK_CLASS((request = stale, MPI_Test(&request, &flag, &status)), MPI_ERR_REQUEST);
    CHECK_CLASS((request = stale, MPI_Cancel(&request)), MPI_ERR_REQUEST);
    CHECK_CLASS((request = stale, MPI_Start(&request)), MPI_ERR_REQUEST);
    CHECK_CLASS((request = stale, MPI_Request_free(&request)), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_get_status(stale, &flag, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Grequest_complete(stale), MPI_ERR_REQUEST);
    pair[0] = MPI_REQUEST_NULL;
    pair[1] = stale;
    CHECK_CLASS(MPI_Waitall(2, pair, statuses), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Waitany(2, pair, &index, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Testsome(2, pair, &index, indices, statuses), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Startall(2, pair), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Waitall(-1, pair, statuses), MPI_ERR_ARG);

    CHECK_OK(MPI_Irecv(&data, 1, MPI_INT, mtest_rank, 0, MPI_COMM_WORLD, &request));
    CHECK_CLASS(MPI_Grequest_complete(request), MPI_ERR_REQUEST); /* it is not a generalized one */
    CHECK_OK(MPI_Send(&mtest_size, 1, MPI_INT, mtest_rank, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(data == mtest_size);
    MTEST_END;
}
