/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of collectives to which one rank comes late. Each rank has its own number in all of `in`, so that what comes
 * from it is known by that. The program defines LATE_LONG, the ints of a long block.
 */
#ifndef PLENUM_TESTS_LATE_H
#define PLENUM_TESTS_LATE_H

#include <time.h>

#include "mtest.h"

enum { SHORT = 3, LONG = LATE_LONG, RANKS_MAX = 16, KINDS_OF_ALL = 13 };

static int in[RANKS_MAX * LONG], counts[RANKS_MAX], places[RANKS_MAX], rank, size;

static void open_late(int *argc, char ***argv)
{
    mtest_init(argc, argv);
    rank = mtest_rank;
    size = mtest_size;
    if (size > RANKS_MAX)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < size * LONG; i++)
        in[i] = rank;
    /* Every second rank has a long block, which other messages of the collective may not wait for. */
    for (int i = 0, at = 0; i < size; at += counts[i++]) {
        counts[i] = i % 2 ? LONG : SHORT;
        places[i] = at;
    }
}

static void sleep_if_late(int late)
{
    const struct timespec pause = { 1, 400000000 };
    if (rank == late)
        nanosleep(&pause, NULL);
}

static int wrong_from(const int *at, int count, int from)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += at[i] != from;
    return wrong;
}

/* Blocks of `count` ints, the first from rank `from`, each next one from `step` ranks higher. */
static int wrong_blocks(const int *at, int blocks, int count, int from, int step)
{
    int wrong = 0;
    for (int i = 0; i < blocks; i++)
        wrong += wrong_from(at + i * count, count, from + i * step);
    return wrong;
}

static int wrong_varied(const int *at)
{
    int wrong = 0;
    for (int i = 0; i < size; i++)
        wrong += wrong_from(at + places[i], counts[i], i);
    return wrong;
}

/* The number of wrong values after one of the first KINDS_OF_ALL kinds, those of all ranks; `gathered`: the ints of a
 * rank in a gather. */
static int wrong_of_all(int kind, int root, const int *at, int gathered)
{
    int sum = size * (size - 1) / 2, before = rank * (rank - 1) / 2;
    switch (kind) {
    case 0: return 0; /* a barrier */
    case 1: return rank == root ? 0 : wrong_from(at, LONG, root);
    case 2: return rank == root ? wrong_blocks(at, size, gathered, 0, 1) : 0;
    case 3: return rank == root ? wrong_varied(at) : 0;
    case 4: return wrong_from(at, SHORT, root);
    case 5: return wrong_from(at, counts[rank], root);
    case 6: return wrong_varied(at);
    case 7: return wrong_blocks(at, size, LONG, 0, 1);
    case 8: return rank == root ? wrong_from(at, LONG, sum) : 0;
    case 9: return wrong_from(at, LONG, sum);
    case 10: return wrong_from(at, counts[rank], sum);
    case 11: return wrong_from(at, LONG, before + rank);
    default: return rank ? wrong_from(at, LONG, before) : 0;
    }
}

#endif
