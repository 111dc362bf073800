/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank starts a persistent collective several times before another rank starts it once, and a third rank waits for
 * both. The messages of later starts are correct, and the third rank's wait may be long.
 */
/* ranks: 3 5 */
#include <unistd.h>

#include "mtest.h"

enum { STARTS = 5, LATE_US = 200000 };

int main(int argc, char **argv)
{
    int sources[64], mine = -1, received[64], in = 0, out, next = 0;
    MPI_Comm comm;
    MPI_Request request;
    MTEST_INIT(argc, argv);
    for (int r = 1; mtest_rank == 0 && r < mtest_size; r++) /* all others send to rank 0 */
        sources[in++] = r;
    out = mtest_rank != 0;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, MPI_UNWEIGHTED, out, &next, MPI_UNWEIGHTED,
                                            MPI_INFO_NULL, 0, &comm));
    CHECK_OK(MPI_Neighbor_allgather_init(&mine, 1, MPI_INT, received, 1, MPI_INT, comm, MPI_INFO_NULL, &request));
    for (int i = 0; i < STARTS; i++) {
        if (i < 2 && mtest_rank == mtest_size - 1)
            usleep(LATE_US);
        mine = 100 * mtest_rank + i;
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int k = 0; k < in; k++)
            CHECK(received[k] == 100 * sources[k] + i);
    }
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Comm_free(&comm));
    MTEST_END;
}
