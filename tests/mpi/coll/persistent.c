/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent collectives (MPI-5.0 section 6.13): started again and again with new data, several with MPI_Startall,
 * inactive in between; the communicator, datatype and operation may be freed after the request is made.
 */
#include "mtest.h"

enum { TIMES = 30, N = 6 };

/* An alltoallv: as many ints from one rank to another, some of them in long blocks. */
static int length(int from, int to)
{
    return (from + to) % 5 == 4 ? 2000 : (from + 2 * to) % 4;
}

static struct pairs {
    int *in, *out, *counts_in, *places_in, *counts_out, *places_out;
    int *gathered, *scattered; /* by rank 0: what it gets, and what it gives */
} pairs;

static void pairs_make(void)
{
    int total_in = 0, total_out = 0;
    pairs.counts_in = malloc(4 * (size_t)mtest_size * sizeof(int));
    pairs.places_in = pairs.counts_in + mtest_size;
    pairs.counts_out = pairs.places_in + mtest_size;
    pairs.places_out = pairs.counts_out + mtest_size;
    for (int i = 0; i < mtest_size; i++) {
        pairs.places_in[i] = total_in;
        pairs.places_out[i] = total_out;
        total_in += pairs.counts_in[i] = length(mtest_rank, i);
        total_out += pairs.counts_out[i] = length(i, mtest_rank);
    }
    pairs.in = calloc((size_t)total_in + 1, sizeof(int));
    pairs.out = calloc((size_t)total_out + 1, sizeof(int));
    pairs.gathered = calloc((size_t)total_out + 1, sizeof(int));
    pairs.scattered = calloc((size_t)pairs.counts_out[0] + 1, sizeof(int));
}

static void pairs_init(MPI_Comm comm, MPI_Request *requests)
{
    CHECK_OK(MPI_Alltoallv_init(pairs.in, pairs.counts_in, pairs.places_in, MPI_INT, pairs.out, pairs.counts_out,
                                pairs.places_out, MPI_INT, comm, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Gatherv_init(pairs.in + pairs.places_in[0], pairs.counts_in[0], MPI_INT, pairs.gathered,
                              pairs.counts_out, pairs.places_out, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Scatterv_init(pairs.in, pairs.counts_in, pairs.places_in, MPI_INT, pairs.scattered,
                               pairs.counts_out[0], MPI_INT, 0, comm, MPI_INFO_NULL, &requests[2]));
}

static int pairs_word(int from, int to, int i, int time)
{
    return from * 1000003 + to * 10007 + i + time * 31;
}

static void pairs_fill(int time)
{
    for (int to = 0; to < mtest_size; to++)
        for (int i = 0; i < pairs.counts_in[to]; i++)
            pairs.in[pairs.places_in[to] + i] = pairs_word(mtest_rank, to, i, time);
}

static int pairs_are_right(int time)
{
    int right = 1;
    for (int from = 0; from < mtest_size; from++)
        for (int i = 0; i < pairs.counts_out[from]; i++)
            right &= pairs.out[pairs.places_out[from] + i] == pairs_word(from, mtest_rank, i, time) &&
                     (mtest_rank != 0 || pairs.gathered[pairs.places_out[from] + i] == pairs_word(from, 0, i, time)) &&
                     (from != 0 || pairs.scattered[i] == pairs_word(0, mtest_rank, i, time));
    return right;
}

static void pairs_free(void)
{
    free(pairs.in);
    free(pairs.out);
    free(pairs.gathered);
    free(pairs.scattered);
    free(pairs.counts_in);
}

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
    pairs_make();
    pairs_init(comm, &requests[3]);
    CHECK_OK(MPI_Type_free(&pair));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Waitall(N, requests, statuses)); /* all inactive: returns at once */
    for (int time = 0; time < TIMES; time++) {
        for (int i = 0; i < 4; i++) {
            bcast[i] = mtest_rank == mtest_size - 1 ? time * 4 + i : -1;
            in[i] = mtest_rank * 10 + time + i;
        }
        pairs_fill(time);
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
        CHECK(pairs_are_right(time));
        for (int i = 0; i < N; i++)
            CHECK(requests[i] != MPI_REQUEST_NULL);
    }
    for (int i = 0; i < N; i++)
        CHECK_OK(MPI_Request_free(&requests[i]));
    free(all);
    pairs_free();
    MTEST_END;
}
