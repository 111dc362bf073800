/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short collectives in long random sequences without synchronization (MPI-5.0 chapter 6): all kinds, all roots, sizes
 * around every limit of the collective area. Roots run far ahead of the others. Equal reductions give equal bits, the
 * first and the last. Communicators with areas come and go without a trace.
 */
#include "mtest.h"
#include "usage.h"

enum { OPERATIONS = 3000, MOST = 1100 /* ints */, KINDS = 11, CYCLES = 60 };

static int size, rank, in[MOST * 16], out[MOST * 16];

/* The int at index i that a rank sends in operation n, to any rank; every rank knows all. */
static int word(int n, int from, int i)
{
    return (int)(((unsigned)n * 2654435761u) ^ ((unsigned)from << 20) ^ (unsigned)i) % 1000003;
}

static int sum(int n, int last, int i)
{
    int all = 0;
    for (int from = 0; from <= last; from++)
        all += word(n, from, i);
    return all;
}

static int wrong(const int *got, int n, int from, int first, int count)
{
    int bad = 0;
    for (int i = 0; i < count; i++)
        bad += got[i] != word(n, from, first + i);
    return bad;
}

static int wrong_sum(const int *got, int n, int last, int first, int count)
{
    int bad = 0;
    for (int i = 0; i < count; i++)
        bad += got[i] != sum(n, last, first + i);
    return bad;
}

/* Data to all ranks, from all or from a root. Returns the number of wrong ints. */
static int move(MPI_Comm comm, int kind, int n, int root, int count)
{
    int bad = 0;
    switch (kind) {
    case 0:
        CHECK_OK(MPI_Bcast(rank == root ? in : out, count, MPI_INT, root, comm));
        return rank == root ? 0 : wrong(out, n, root, 0, count);
    case 1:
        CHECK_OK(MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, comm));
        for (int i = 0; rank == root && i < size; i++)
            bad += wrong(out + i * count, n, i, 0, count);
        return bad;
    case 2:
        CHECK_OK(MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, comm));
        return wrong(out, n, root, rank * count, count);
    case 3:
        CHECK_OK(MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm));
        for (int i = 0; i < size; i++)
            bad += wrong(out + i * count, n, i, 0, count);
        return bad;
    default:
        memcpy(out, in, sizeof(int) * (size_t)(size * count));
        CHECK_OK(MPI_Alltoall(root % 2 ? MPI_IN_PLACE : in, count, MPI_INT, out, count, MPI_INT, comm));
        for (int i = 0; i < size; i++)
            bad += wrong(out + i * count, n, i, rank * count, count);
        return bad;
    }
}

static int combine(MPI_Comm comm, int kind, int n, int root, int count)
{
    switch (kind) {
    case 5:
        CHECK_OK(MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, comm));
        return rank == root ? wrong_sum(out, n, size - 1, 0, count) : 0;
    case 6:
        memcpy(out, in, sizeof(int) * (size_t)count);
        CHECK_OK(MPI_Allreduce(root % 2 ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, comm));
        return wrong_sum(out, n, size - 1, 0, count);
    case 7: CHECK_OK(MPI_Scan(in, out, count, MPI_INT, MPI_SUM, comm)); return wrong_sum(out, n, rank, 0, count);
    case 8:
        CHECK_OK(MPI_Exscan(in, out, count, MPI_INT, MPI_SUM, comm));
        return rank > 0 ? wrong_sum(out, n, rank - 1, 0, count) : 0;
    case 9:
        CHECK_OK(MPI_Reduce_scatter_block(in, out, count, MPI_INT, MPI_SUM, comm));
        return wrong_sum(out, n, size - 1, rank * count, count);
    default: CHECK_OK(MPI_Barrier(comm)); return 0;
    }
}

static void sequence(MPI_Comm comm, int operations)
{
    static const int counts[] = { 1, 2, 0, 12, 13, 100, 1, 3, 1024, 1025, 11 };
    unsigned long state = 12345;
    int bad = 0;
    for (int n = 0; n < operations; n++) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        int kind = (int)(state >> 33) % KINDS, root = (int)(state >> 40) % size, count = counts[(state >> 50) % 11];
        for (int i = 0; i < size * count; i++)
            in[i] = word(n, rank, i);
        bad += kind < 5 ? move(comm, kind, n, root, count) : combine(comm, kind, n, root, count);
    }
    CHECK(bad == 0);
}

/* A root that sends a thousand times before any rank receives, and one that receives as often. */
static void run_ahead(MPI_Comm comm)
{
    int bad = 0;
    for (int n = 0; n < 1000; n++) {
        int value = rank == 0 ? n : -1, all = -1, ones = 1;
        CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, 0, comm));
        CHECK_OK(MPI_Reduce(&ones, &all, 1, MPI_INT, MPI_SUM, size - 1, comm));
        bad += value != n || (rank == size - 1 && all != size);
    }
    CHECK(bad == 0);
}

static void same_bits(MPI_Comm comm)
{
    double first[3], reduced[3], again[3], mine[3] = { 0.1 * (rank + 1), 1e16 / (rank + 3), -1e-9 * rank };
    int different = 0;
    CHECK_OK(MPI_Allreduce(mine, first, 3, MPI_DOUBLE, MPI_SUM, comm));
    CHECK_OK(MPI_Reduce(mine, reduced, 3, MPI_DOUBLE, MPI_SUM, 0, comm)); /* may be added in another order */
    for (int i = 0; i < 20; i++) {
        CHECK_OK(MPI_Allreduce(mine, again, 3, MPI_DOUBLE, MPI_SUM, comm));
        different += memcmp(first, again, sizeof first) != 0;
        CHECK_OK(MPI_Bcast(again, 3, MPI_DOUBLE, size - 1, comm));
        different += memcmp(first, again, sizeof first) != 0;
        CHECK_OK(MPI_Reduce(mine, again, 3, MPI_DOUBLE, MPI_SUM, 0, comm));
        different += rank == 0 && memcmp(reduced, again, sizeof reduced) != 0;
    }
    CHECK(different == 0);
}

/* A rank that is late is asked by others, which connects it to them. Here all are connected before it counts. */
static void meet_all(void)
{
    for (int step = 1; step < size; step++)
        CHECK_OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, (rank + step) % size, step, NULL, 0, MPI_BYTE,
                              (rank + size - step) % size, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void come_and_go(void)
{
    struct usage before = { 0 }, after;
    meet_all();
    for (int i = 0; i < CYCLES; i++) {
        MPI_Comm comm;
        int all = 0;
        if (i == CYCLES / 2)
            before = usage_now();
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        CHECK_OK(MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, comm));
        CHECK(all == i * size);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    after = usage_now();
    CHECK(after.mappings <= before.mappings + 10);
    CHECK(after.descriptors <= before.descriptors);
}

int main(int argc, char **argv)
{
    MPI_Comm part;
    MTEST_INIT(argc, argv);
    size = mtest_size;
    rank = mtest_rank;
    same_bits(MPI_COMM_WORLD);
    sequence(MPI_COMM_WORLD, OPERATIONS / (size > 4 ? 4 : 1));
    run_ahead(MPI_COMM_WORLD);
    come_and_go();
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, mtest_rank % 2, -mtest_rank, &part));
    MPI_Comm_rank(part, &rank);
    MPI_Comm_size(part, &size);
    sequence(part, OPERATIONS / 8);
    CHECK_OK(MPI_Comm_free(&part));
    MTEST_END;
}
