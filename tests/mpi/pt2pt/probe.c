/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Probe and MPI_Iprobe find a message without receiving it (MPI-5.0 section 3.8.1). The status is that of the
 * receive that would follow, which then gets the same message, also among several and with wildcards.
 */
#include "mtest.h"
#include "pattern.h"

enum { LONGEST = 300000 };
static const int sizes[] = { 0, 12, 9000, LONGEST };

static void look_and_take(int from, int source, int tag, int bytes, unsigned char *in)
{
    MPI_Status seen, again, got;
    int flag = 0, count;
    CHECK_OK(MPI_Probe(source, tag, MPI_COMM_WORLD, &seen));
    MPI_Get_count(&seen, MPI_BYTE, &count);
    CHECK(seen.MPI_SOURCE == from && count == bytes);
    CHECK_OK(MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &again));
    CHECK(flag && again.MPI_SOURCE == from && again.MPI_TAG == seen.MPI_TAG);
    CHECK_OK(MPI_Recv(in, count, MPI_BYTE, seen.MPI_SOURCE, seen.MPI_TAG, MPI_COMM_WORLD, &got));
    MPI_Get_count(&got, MPI_BYTE, &count);
    CHECK(count == bytes && pattern_holds(in, (size_t)bytes, (uint64_t)(from * 10 + seen.MPI_TAG)));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    enum { KINDS = sizeof sizes / sizeof *sizes };
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, flag = 1;
    unsigned char *out[KINDS], *in = malloc(LONGEST);
    MPI_Request requests[KINDS];

    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);

    for (int i = 0; i < KINDS; i++) {
        out[i] = malloc(LONGEST);
        pattern_fill(out[i], (size_t)sizes[i], (uint64_t)(mtest_rank * 10 + i));
        CHECK_OK(MPI_Isend(out[i], sizes[i], MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[i]));
    }
    look_and_take(from, from, 2, sizes[2], in);                     /* out of order, by tag */
    look_and_take(from, MPI_ANY_SOURCE, MPI_ANY_TAG, sizes[0], in); /* then in order */
    look_and_take(from, MPI_ANY_SOURCE, 3, sizes[3], in);
    look_and_take(from, from, MPI_ANY_TAG, sizes[1], in);
    CHECK_OK(MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Iprobe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);

    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < KINDS; i++)
        free(out[i]);
    free(in);
    MTEST_END;
}
