/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent collectives (MPI-5.0 section 6.13): started again and again with new data, several with MPI_Startall,
 * inactive in between; the communicator, datatype and operation may be freed after the request is made.
 */
#include "mtest.h"

enum { TIMES = 30, N = 3 };

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm comm;
    MPI_Datatype pair;
    MPI_Request requests[N];
    MPI_Status statuses[N];
    int bcast[4], in[4], out[4], flag, *all = malloc((size_t)mtest_size * sizeof *all);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    CHECK_OK(MPI_Type_commit(&pair));
    CHECK_OK(MPI_Bcast_init(bcast, 2, pair, mtest_size - 1, comm, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Allreduce_init(in, out, 4, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Allgather_init(in, 1, MPI_INT, all, 1, MPI_INT, comm, MPI_INFO_NULL, &requests[2]));
    CHECK_OK(MPI_Type_free(&pair));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Waitall(N, requests, statuses)); /* all inactive: returns at once */
    for (int time = 0; time < TIMES; time++) {
        for (int i = 0; i < 4; i++) {
            bcast[i] = mtest_rank == mtest_size - 1 ? time * 4 + i : -1;
            in[i] = mtest_rank * 10 + time + i;
        }
        if (time % 2 == 0) {
            CHECK_OK(MPI_Startall(N, requests));
            CHECK_OK(MPI_Waitall(N, requests, statuses));
        } else {
            for (int i = 0; i < N; i++) {
                CHECK_OK(MPI_Start(&requests[i]));
                int rc = MPI_SUCCESS;
                for (flag = 0; !flag && rc == MPI_SUCCESS;)
                    rc = MPI_Test(&requests[i], &flag, &statuses[i]);
                CHECK_OK(rc);
            }
        }
        for (int i = 0; i < 4; i++) {
            CHECK(bcast[i] == time * 4 + i);
            CHECK(out[i] == (mtest_size - 1) * 10 + time + i);
        }
        for (int i = 0; i < mtest_size; i++)
            CHECK(all[i] == i * 10 + time);
        for (int i = 0; i < N; i++)
            CHECK(requests[i] != MPI_REQUEST_NULL);
    }
    for (int i = 0; i < N; i++)
        CHECK_OK(MPI_Request_free(&requests[i]));
    free(all);
    MTEST_END;
}
