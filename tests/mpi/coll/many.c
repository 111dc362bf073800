/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many collectives of one kind, in which some ranks publish nothing for a long time, or publish far ahead of the
 * readers, and then other kinds (MPI-5.0 chapter 6). Numbers in shared memory grow old, and no old number may be taken
 * for a new one.
 */
/* ranks: 2 3 7 */
#include "mtest.h"

enum { MANY = 140000, SOME = 300 };

static int size, rank;

static int word(int n, int from)
{
    return (int)((unsigned)n * 2654435761u >> 8) + from;
}

static int sum(int n, int last)
{
    int all = 0;
    for (int from = 0; from <= last; from++)
        all += word(n, from);
    return all;
}

/* Only the root publishes. */
static int broadcasts(int times, int root)
{
    int bad = 0;
    for (int n = 0; n < times; n++) {
        int data = rank == root ? word(n, root) : -1;
        MPI_Bcast(&data, 1, MPI_INT, root, MPI_COMM_WORLD);
        bad += data != word(n, root);
    }
    return bad;
}

/* The first is far ahead of the last. */
static int scans(int times)
{
    int bad = 0;
    for (int n = 0; n < times; n++) {
        int in = word(n, rank), out = -1;
        MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        bad += out != sum(n, rank);
    }
    return bad;
}

/* All kinds, each root in turn. */
static int mixed(int times)
{
    int bad = 0;
    for (int n = 0; n < times; n++) {
        int root = n / 3 % size, in = word(n, rank), out = -1, all[16] = { 0 };
        MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        bad += rank == root && out != sum(n, size - 1);
        MPI_Gather(&in, 1, MPI_INT, all, 1, MPI_INT, (root + 1) % size, MPI_COMM_WORLD);
        for (int i = 0; rank == (root + 1) % size && i < size; i++)
            bad += all[i] != word(n, i);
        bad += broadcasts(2, root);
        out = -1;
        MPI_Exscan(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        bad += rank > 0 && out != sum(n, rank - 1);
        if (n % 16 == 0) {
            MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            bad += out != sum(n, size - 1);
        }
    }
    return bad;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    size = mtest_size;
    rank = mtest_rank;
    CHECK(mixed(SOME) == 0);
    CHECK(broadcasts(MANY, 0) == 0);
    CHECK(mixed(SOME) == 0);
    CHECK(broadcasts(MANY, size - 1) == 0);
    CHECK(scans(MANY) == 0);
    CHECK(mixed(SOME) == 0);
    MTEST_END;
}
