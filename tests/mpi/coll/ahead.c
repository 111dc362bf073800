/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that only send in collectives do not run ahead of an absent rank without limit: their messages would fill its
 * memory. A scatterv whose algorithm is forced uses messages wherever the ranks are (docs/collectives.md).
 */
/* ranks: 2 3 */
#include <unistd.h>

#include "mtest.h"

enum { MANY = 2000, AHEAD = 256, POLLS = 100 };

static int sent[3], counts[3] = { 1, 1, 1 }, displs[3] = { 0, 1, 2 };
static int told[MANY];
static MPI_Request telling[MANY];

static int value(int n, int rank)
{
    return n * 3 + rank;
}

/* Receives the numbers that the root has sent so far; returns the last one. */
static int listen_to_root(int known)
{
    int here = 1;
    while (known < MANY && here) {
        CHECK_OK(MPI_Iprobe(0, 1, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE));
        if (here)
            CHECK_OK(MPI_Recv(&known, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    return known;
}

static void scatter(int n)
{
    int got = -1;
    for (int i = 0; i < mtest_size; i++)
        sent[i] = value(n, i);
    CHECK_OK(MPI_Scatterv(sent, counts, displs, MPI_INT, &got, 1, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK(got == value(n, mtest_rank));
}

int main(int argc, char **argv)
{
    setenv("PLENUM_COLL_SCATTERV", "linear", 1);
    MTEST_INIT(argc, argv);
    int last = mtest_size - 1, known = 0;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int look = 0; look < POLLS && mtest_rank == last; look++) {
        usleep(500);
        known = listen_to_root(known);
    }
    CHECK(known < AHEAD);
    for (int n = 1; n <= MANY; n++) {
        scatter(n);
        told[n - 1] = n;
        if (mtest_rank == 0)
            CHECK_OK(MPI_Isend(&told[n - 1], 1, MPI_INT, last, 1, MPI_COMM_WORLD, &telling[n - 1]));
    }
    while (mtest_rank == last && known < MANY)
        known = listen_to_root(known);
    if (mtest_rank == 0)
        CHECK_OK(MPI_Waitall(MANY, telling, MPI_STATUSES_IGNORE));
    MTEST_END;
}
