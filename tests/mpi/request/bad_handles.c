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

    /* MPI_Startall: with a wrong argument none is started; one that cannot start leaves the others started. */
    int got[2] = { -1, -1 };
    CHECK_OK(MPI_Recv_init(&got[0], 1, MPI_INT, mtest_rank, 1, MPI_COMM_WORLD, &pair[0]));
    pair[1] = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Startall(2, pair), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Start(&pair[0])); /* so it was not active */
    CHECK_OK(MPI_Send(&mtest_size, 1, MPI_INT, mtest_rank, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&pair[0], MPI_STATUS_IGNORE));
    CHECK(got[0] == mtest_size);
    MPI_Request three[3] = { pair[0], pair[0], MPI_REQUEST_NULL };
    CHECK_OK(MPI_Recv_init(&got[1], 1, MPI_INT, mtest_rank, 2, MPI_COMM_WORLD, &three[2]));
    CHECK_CLASS(MPI_Startall(3, three), MPI_ERR_REQUEST); /* the same one twice */
    for (int tag = 1; tag <= 2; tag++)
        CHECK_OK(MPI_Send(&tag, 1, MPI_INT, mtest_rank, tag, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&three[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&three[2], MPI_STATUS_IGNORE));
    CHECK(got[0] == 1 && got[1] == 2);

    /* One request twice in an array that completes it. */
    MPI_Irecv(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    pair[0] = pair[1] = request;
    int code = MPI_Waitall(2, pair, statuses);
    char text[MPI_MAX_ERROR_STRING];
    CHECK_CLASS(code, MPI_ERR_REQUEST);
    MPI_Error_string(code, text, &index);
    CHECK(strstr(text, "array_of_requests[1]") != NULL);
    MPI_Irecv(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    pair[0] = pair[1] = request;
    CHECK_CLASS(MPI_Testsome(2, pair, &index, indices, statuses), MPI_ERR_REQUEST);
    CHECK(pair[0] == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Request_free(&three[0]));
    CHECK_OK(MPI_Request_free(&three[2]));
    MTEST_END;
}
