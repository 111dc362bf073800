/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank comes late to a collective, by more than the time after which the others ask each other whether their calls
 * differ. They do not: the data is right, and no communicator breaks. tests/hosts runs this over several nodes.
 */
/* ranks: 4 */
/* sleeps: 35 */
#include <time.h>

#include "mtest.h"

enum { SHORT = 3, LONG = 20000, RANKS_MAX = 16, KINDS = 13 };

static int in[RANKS_MAX * LONG], out[RANKS_MAX * LONG], counts[RANKS_MAX], places[RANKS_MAX], rank, size;

/* Every second rank has a long block, which other messages of the collective may not wait for. */
static void share_out(void)
{
    for (int i = 0, at = 0; i < size; at += counts[i++]) {
        counts[i] = i % 2 ? LONG : SHORT;
        places[i] = at;
    }
}

static int wrong_from(const int *at, int count, int from)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += at[i] != from;
    return wrong;
}

static int wrong_gathered(void)
{
    int wrong = 0;
    for (int i = 0; i < size; i++)
        wrong += wrong_from(out + places[i], counts[i], i);
    return wrong;
}

/* The number of wrong values. All ranks have their own number in all of `in`. */
static int call(int kind, int root)
{
    const MPI_Comm comm = MPI_COMM_WORLD;
    int sum = size * (size - 1) / 2, before = rank * (rank - 1) / 2, wrong = 0;
    switch (kind) {
    case 0: CHECK_OK(MPI_Barrier(comm)); return 0;
    case 1:
        CHECK_OK(MPI_Bcast(rank == root ? in : out, LONG, MPI_INT, root, comm));
        return rank == root ? 0 : wrong_from(out, LONG, root);
    case 2:
        CHECK_OK(MPI_Gather(in, SHORT, MPI_INT, out, SHORT, MPI_INT, root, comm));
        for (int i = 0; i < size && rank == root; i++)
            wrong += wrong_from(out + i * SHORT, SHORT, i);
        return wrong;
    case 3:
        CHECK_OK(MPI_Gatherv(in, counts[rank], MPI_INT, out, counts, places, MPI_INT, root, comm));
        return rank == root ? wrong_gathered() : 0;
    case 4:
        CHECK_OK(MPI_Scatter(in, SHORT, MPI_INT, out, SHORT, MPI_INT, root, comm));
        return wrong_from(out, SHORT, root);
    case 5:
        CHECK_OK(MPI_Scatterv(in, counts, places, MPI_INT, out, counts[rank], MPI_INT, root, comm));
        return wrong_from(out, counts[rank], root);
    case 6:
        CHECK_OK(MPI_Allgatherv(in, counts[rank], MPI_INT, out, counts, places, MPI_INT, comm));
        return wrong_gathered();
    case 7:
        CHECK_OK(MPI_Alltoall(in, LONG, MPI_INT, out, LONG, MPI_INT, comm));
        for (int i = 0; i < size; i++)
            wrong += wrong_from(out + i * LONG, LONG, i);
        return wrong;
    case 8:
        CHECK_OK(MPI_Reduce(in, out, LONG, MPI_INT, MPI_SUM, root, comm));
        return rank == root ? wrong_from(out, LONG, sum) : 0;
    case 9: CHECK_OK(MPI_Allreduce(in, out, LONG, MPI_INT, MPI_SUM, comm)); return wrong_from(out, LONG, sum);
    case 10:
        CHECK_OK(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm));
        return wrong_from(out, counts[rank], sum);
    case 11: CHECK_OK(MPI_Scan(in, out, LONG, MPI_INT, MPI_SUM, comm)); return wrong_from(out, LONG, before + rank);
    default:
        CHECK_OK(MPI_Exscan(in, out, LONG, MPI_INT, MPI_SUM, comm));
        return rank ? wrong_from(out, LONG, before) : 0;
    }
}

static void come(int kind, int late)
{
    const struct timespec pause = { 1, 400000000 };
    if (rank == late)
        nanosleep(&pause, NULL);
    if (call(kind, (late + 1) % size) != 0)
        CHECK(!"the data is right");
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* the next one is not late yet */
}

int main(int argc, char **argv)
{
    mtest_init(&argc, &argv);
    rank = mtest_rank;
    size = mtest_size;
    if (size > RANKS_MAX)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < size * LONG; i++)
        in[i] = rank;
    share_out();
    for (int kind = 0; kind < KINDS; kind++)
        come(kind, kind % size);
    for (int late = 0; late < size; late++) { /* whose messages depend on other ranks' */
        come(3, late);
        come(5, late);
        come(11, late);
    }
    MTEST_END;
}
