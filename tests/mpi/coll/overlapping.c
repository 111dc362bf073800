/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several collectives under way at once (MPI-5.0 section 6.12), of different kinds, on one communicator and on several.
 * They complete in another order than they start, with point-to-point messages in between; operations and datatypes are
 * freed while they are in use.
 */
/* seconds: 300 */
#include "mtest.h"
#include "pattern.h"

enum { COMMS = 3, ROUNDS = 20, KINDS = 7, ALL = COMMS * KINDS };

static void add(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int i = 0; i < *count * 2; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* What one communicator has under way. */
struct work {
    int bcast[100], sum_in[8], sum_out[8], scan_in, scan_out;
    int *gathered, *sent, *received;
    int *pairs_sent, *pairs_received; /* [3 pairs for each rank] */
    int *counts, *places;             /* [2][ranks] of these, out and in */
    MPI_Datatype *types;
};

static void make(struct work *work)
{
    size_t n = (size_t)mtest_size;
    work->gathered = malloc(19 * n * sizeof(int));
    work->sent = work->gathered + n;
    work->received = work->sent + n;
    work->pairs_sent = work->received + n;
    work->pairs_received = work->pairs_sent + 6 * n;
    work->counts = work->pairs_received + 6 * n;
    work->places = work->counts + 2 * n;
    work->types = malloc(2 * n * sizeof *work->types);
}

/* Pairs of ints from one rank to another. */
static int pairs(int from, int to)
{
    return (from + 2 * to) % 3;
}

/* Counts and displacements of those that this rank sends, or receives, in bytes. */
static void place_pairs(int *counts, int *places, MPI_Datatype pair, MPI_Datatype *types, int in)
{
    for (int i = 0; i < mtest_size; i++) {
        counts[i] = in ? pairs(i, mtest_rank) : pairs(mtest_rank, i);
        places[i] = i * 6 * (int)sizeof(int);
        types[i] = pair;
    }
}

static void start_pairs(MPI_Comm comm, struct work *work, int seed, MPI_Datatype pair, MPI_Request *request)
{
    int n = mtest_size;
    place_pairs(work->counts, work->places, pair, work->types, 0);
    place_pairs(work->counts + n, work->places + n, pair, work->types + n, 1);
    for (int i = 0; i < 6 * mtest_size; i++) {
        work->pairs_sent[i] = seed + mtest_rank * 1000 + i;
        work->pairs_received[i] = -1;
    }
    CHECK_OK(MPI_Ialltoallw(work->pairs_sent, work->counts, work->places, work->types, work->pairs_received,
                            work->counts + n, work->places + n, work->types + n, comm, request));
}

static int pairs_are_right(const struct work *work, int seed)
{
    int right = 1;
    for (int from = 0; from < mtest_size; from++)
        for (int i = 0; i < 6; i++)
            right &= work->pairs_received[6 * from + i] ==
                     (i < 2 * pairs(from, mtest_rank) ? seed + from * 1000 + 6 * mtest_rank + i : -1);
    return right;
}

static void start(MPI_Comm comm, struct work *work, int seed, MPI_Request *requests)
{
    int root = seed % mtest_size;
    MPI_Datatype pair;
    MPI_Op op;
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    CHECK_OK(MPI_Type_commit(&pair));
    CHECK_OK(MPI_Op_create(add, 1, &op));
    for (int i = 0; i < 100; i++)
        work->bcast[i] = mtest_rank == root ? seed + i : -1;
    for (int i = 0; i < 8; i++)
        work->sum_in[i] = mtest_rank + seed + i;
    work->scan_in = mtest_rank + seed;
    for (int i = 0; i < mtest_size; i++)
        work->sent[i] = seed + mtest_rank * 100 + i;
    CHECK_OK(MPI_Ibcast(work->bcast, 100, MPI_INT, root, comm, &requests[0]));
    CHECK_OK(MPI_Iallreduce(work->sum_in, work->sum_out, 4, pair, op, comm, &requests[1]));
    CHECK_OK(MPI_Iallgather(&work->scan_in, 1, MPI_INT, work->gathered, 1, MPI_INT, comm, &requests[2]));
    CHECK_OK(MPI_Ialltoall(work->sent, 1, MPI_INT, work->received, 1, MPI_INT, comm, &requests[3]));
    CHECK_OK(MPI_Iscan(&work->scan_in, &work->scan_out, 1, MPI_INT, MPI_SUM, comm, &requests[4]));
    CHECK_OK(MPI_Ibarrier(comm, &requests[5]));
    start_pairs(comm, work, seed, pair, &requests[6]);
    CHECK_OK(MPI_Type_free(&pair));
    CHECK_OK(MPI_Op_free(&op));
}

static void check(const struct work *work, int seed)
{
    int right = 1, ranks = mtest_size * (mtest_size - 1) / 2;
    for (int i = 0; i < 100; i++)
        right &= work->bcast[i] == seed + i;
    for (int i = 0; i < 8; i++)
        right &= work->sum_out[i] == ranks + mtest_size * (seed + i);
    for (int i = 0; i < mtest_size; i++)
        right &= work->gathered[i] == i + seed && work->received[i] == seed + i * 100 + mtest_rank;
    right &= work->scan_out == mtest_rank * (mtest_rank + 1) / 2 + (mtest_rank + 1) * seed;
    CHECK(right);
    CHECK(pairs_are_right(work, seed));
}

/* Completes all, in each rank's own order, sometimes only by testing. */
static void complete(MPI_Request *requests, int round)
{
    int flag = 0, index, next = mtest_rank, partner = mtest_rank ^ 1, token = round, other = -1;
    if (partner < mtest_size) {
        CHECK_OK(MPI_Sendrecv(&token, 1, MPI_INT, partner, 5, &other, 1, MPI_INT, partner, 5, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
        CHECK(other == round);
    }
    if (round % 3 == 0) {
        int rc = MPI_SUCCESS;
        while (!flag && rc == MPI_SUCCESS)
            rc = MPI_Testall(ALL, requests, &flag, MPI_STATUSES_IGNORE);
        CHECK_OK(rc);
    } else if (round % 3 == 1) {
        for (int i = 0; i < ALL; i++, next++)
            CHECK_OK(MPI_Wait(&requests[(next * 7) % ALL], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Waitall(ALL, requests, MPI_STATUSES_IGNORE));
    } else {
        for (int i = 0; i < ALL; i++) {
            CHECK_OK(MPI_Waitany(ALL, requests, &index, MPI_STATUS_IGNORE));
            CHECK(index >= 0 && index < ALL);
        }
    }
    for (int i = 0; i < ALL; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS] = { MPI_COMM_WORLD };
    MPI_Request requests[ALL];
    struct work work[COMMS];
    MTEST_INIT(argc, argv);
    for (int i = 1; i < COMMS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < COMMS; i++)
        make(&work[i]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COMMS; i++)
            start(comms[(i + round) % COMMS], &work[i], round * 10 + i, &requests[i * KINDS]);
        complete(requests, round);
        for (int i = 0; i < COMMS; i++)
            check(&work[i], round * 10 + i);
    }
    for (int i = 0; i < COMMS; i++) {
        free(work[i].gathered);
        free(work[i].types);
    }
    for (int i = 1; i < COMMS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    MTEST_END;
}
