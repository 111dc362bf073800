/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A receiver frees a communicator in which messages have arrived that it has not received, or before they arrive: their
 * senders, which wait for the receive, go on. They may get an error.
 */
/* ranks: 2 4 */
#include <stdlib.h>

#include "mtest.h"

enum { LONG = 4 << 20 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    char *buffer = calloc(1, LONG);
    int next = mtest_rank ^ 1;
    for (int round = 0; round < 20; round++) {
        MPI_Comm comm;
        MPI_Request requests[3];
        MPI_Status statuses[3];
        int flag = 0, size = round % 2 ? 10 : LONG, late = round % 4 > 1;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        if (late && mtest_rank % 2)
            CHECK_OK(MPI_Comm_free(&comm));
        if (late)
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (mtest_rank % 2 == 0) {
            CHECK_OK(MPI_Issend(buffer, size, MPI_BYTE, next, 1, comm, &requests[0]));
            CHECK_OK(MPI_Isend(buffer, size, MPI_BYTE, next, 2, comm, &requests[1]));
            CHECK_OK(MPI_Issend(buffer, size, MPI_BYTE, next, 3, comm, &requests[2]));
            MPI_Waitall(3, requests, statuses);
            for (int i = 0; i < 3; i++)
                CHECK(requests[i] == MPI_REQUEST_NULL);
        }
        while (!late && mtest_rank % 2 && !flag)
            CHECK_OK(MPI_Iprobe(next, 3, comm, &flag, MPI_STATUS_IGNORE));
        if (comm != MPI_COMM_NULL)
            CHECK_OK(MPI_Comm_free(&comm));
    }
    free(buffer);
    MTEST_END;
}
