/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank starts a persistent collective several times before another rank starts it once, and a third rank waits for
 * both. The messages of later starts are correct, and the third rank's wait may be long. With long data the first rank
 * waits, too, as nothing takes its message yet. Ranks that wait for long ask others, and nothing breaks.
 */
/* ranks: 3 5 */
/* sleeps: 5 */
#include <unistd.h>

#include "mtest.h"

enum { STARTS = 5, LATE_US = 1200000, LONG = 100000 };

static int mine[LONG], received[64 * LONG];

static void run_ahead(int count)
{
    int sources[64], in = 0, out, next = 0;
    MPI_Comm comm;
    MPI_Request request;
    for (int r = 1; mtest_rank == 0 && r < mtest_size; r++) /* all others send to rank 0 */
        sources[in++] = r;
    out = mtest_rank != 0;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, MPI_UNWEIGHTED, out, &next, MPI_UNWEIGHTED,
                                            MPI_INFO_NULL, 0, &comm));
    CHECK_OK(
        MPI_Neighbor_allgather_init(mine, count, MPI_INT, received, count, MPI_INT, comm, MPI_INFO_NULL, &request));
    for (int i = 0; i < STARTS; i++) {
        if (i < 2 && mtest_rank == mtest_size - 1)
            usleep(LATE_US);
        for (int k = 0; k < count; k++)
            mine[k] = 100 * mtest_rank + i;
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        int wrong = 0;
        for (int k = 0; k < in * count; k++)
            wrong += received[k] != 100 * sources[k / count] + i;
        CHECK(wrong == 0);
    }
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    run_ahead(1);
    run_ahead(LONG);
    MTEST_END;
}
