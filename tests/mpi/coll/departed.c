/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/*
 * Collectives that miss ranks which have finalized MPI: the error says so, whether the ranks share memory for the
 * communicator or not, and whether the collective is blocking or not.
 */
#include "mtest.h"

static void says(int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    CHECK_CLASS(code, MPI_ERR_PROC_ABORTED);
    MPI_Error_string(code, text, &length);
    mtest_check(strstr(text, "has finalized") != NULL, __FILE__, __LINE__, "the words of the error", text);
}

int main(int argc, char **argv)
{
    enum { USED, FRESH, STARTED, COMMS };
    MPI_Comm comm[COMMS];
    MPI_Request request;
    int mine = 1, all[16];
    MTEST_INIT(argc, argv);
    for (int i = 0; i < COMMS; i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
        CHECK_OK(MPI_Comm_set_errhandler(comm[i], MPI_ERRORS_RETURN));
    }
    for (int i = 0; i < 8; i++)
        CHECK_OK(MPI_Barrier(comm[USED]));
    if (mtest_rank == 0) {
        says(MPI_Barrier(comm[USED]));
        says(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm[FRESH]));
        int code = MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm[STARTED], &request);
        says(code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Finalize());
    return mtest_failures != 0;
}
