/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long collectives between short ones, in random sequences without synchronization (MPI-5.0 chapter 6): all kinds, all
 * roots, in place or not. Sizes lie around every limit of a chunk in the collective area, and beyond what that holds at
 * once. Buffers lie at any place of a cache line, another one in each call and on each rank. Some ranks have data with
 * gaps. All have the same bits of a sum.
 */
#include <stdbool.h>
#include <unistd.h>

#include "mtest.h"

enum { OPERATIONS = 160, INTS = 1 << 21 /* ints */, KINDS = 12, PLACES = 32 /* ints: two lines */ };

static int size, rank, *memory[2], *in, *out;
static MPI_Datatype pair; /* two ints with a gap behind each */

/* The operation under way. */
static struct {
    int kind, number, root, count; /* ints in a block, or in the vector */
    bool in_place;
    int gap;        /* distance of this rank's ints: 1 or 2 */
    int counts[64]; /* reduce_scatter: ints that each rank gets */
} now;

/* The int at index i from one rank to another. */
static int word(int from, int to, int i)
{
    return now.number * 131 + from * 1009 + to * 100003 + i;
}

static int sum(int last, int i)
{
    return (last + 1) * (now.number * 131 + i) + 1009 * (last * (last + 1) / 2);
}

/* Fills in block `block` of a buffer, or counts what is wrong in it. */
static void fill(int *buffer, int block, int to)
{
    for (int i = 0; i < now.count; i++)
        buffer[(block * now.count + i) * now.gap] = word(rank, to, i);
}

static int wrong(int block, int from, int to)
{
    int bad = 0;
    for (int i = 0; i < now.count; i++)
        bad += out[(block * now.count + i) * now.gap] != word(from, to, i);
    return bad;
}

static int wrong_sum(int last, int first, int count)
{
    int bad = 0;
    for (int i = 0; i < count; i++)
        bad += out[i] != sum(last, first + i);
    return bad;
}

/* Blocks: pairs of ints, at some ranks with gaps. */
static int move(MPI_Comm comm)
{
    int n = now.gap == 2 ? now.count / 2 : now.count, bad = 0, own = rank == now.root;
    MPI_Datatype type = now.gap == 2 ? pair : MPI_INT;
    void *from = now.in_place ? MPI_IN_PLACE : in;
    switch (now.kind) {
    case 0:
        fill(out, 0, own ? 0 : 1);
        CHECK_OK(MPI_Bcast(out, n, type, now.root, comm));
        return wrong(0, now.root, 0);
    case 1:
        fill(in, 0, 0);
        fill(out, rank, 0);
        CHECK_OK(MPI_Gather(own ? from : in, n, type, out, n, type, now.root, comm));
        for (int i = 0; own && i < size; i++)
            bad += wrong(i, i, 0);
        return bad;
    case 2:
        for (int i = 0; own && i < size; i++)
            fill(in, i, i);
        fill(out, 0, rank);
        CHECK_OK(MPI_Scatter(in, n, type, own && now.in_place ? MPI_IN_PLACE : out, n, type, now.root, comm));
        return wrong(0, own && now.in_place ? rank : now.root, rank);
    case 3:
        fill(in, 0, 0);
        fill(out, rank, 0);
        CHECK_OK(MPI_Allgather(from, n, type, out, n, type, comm));
        for (int i = 0; i < size; i++)
            bad += wrong(i, i, 0);
        return bad;
    default:
        for (int i = 0; i < size; i++)
            fill(now.in_place ? out : in, i, i);
        CHECK_OK(MPI_Alltoall(from, n, type, out, n, type, comm));
        for (int i = 0; i < size; i++)
            bad += wrong(i, i, rank);
        return bad;
    }
}

/* Vectors of ints. */
static int combine(MPI_Comm comm)
{
    int *from = now.in_place ? out : in, total = now.count, begin = 0;
    const void *given = now.in_place ? MPI_IN_PLACE : in;
    if (now.kind == 9)
        total *= size;
    for (int i = 0; i < size; i++) {
        now.counts[i] = (i * 37 + now.number) % 3 == 0 ? 0 : now.count / (i + 1);
        begin += i < rank ? now.counts[i] : 0;
    }
    for (int i = 0; now.kind == 10 && i < size; i++)
        total = (i > 0 ? total : 0) + now.counts[i];
    for (int i = 0; i < total; i++)
        from[i] = word(rank, 0, i);
    switch (now.kind) {
    case 5:
        if (now.in_place && rank != now.root)
            given = out;
        CHECK_OK(MPI_Reduce(given, out, total, MPI_INT, MPI_SUM, now.root, comm));
        return rank == now.root ? wrong_sum(size - 1, 0, total) : 0;
    case 6: CHECK_OK(MPI_Allreduce(given, out, total, MPI_INT, MPI_SUM, comm)); return wrong_sum(size - 1, 0, total);
    case 7: CHECK_OK(MPI_Scan(given, out, total, MPI_INT, MPI_SUM, comm)); return wrong_sum(rank, 0, total);
    case 8:
        CHECK_OK(MPI_Exscan(given, out, total, MPI_INT, MPI_SUM, comm));
        return rank > 0 ? wrong_sum(rank - 1, 0, total) : 0;
    case 9:
        CHECK_OK(MPI_Reduce_scatter_block(given, out, now.count, MPI_INT, MPI_SUM, comm));
        return wrong_sum(size - 1, rank * now.count, now.count);
    case 10:
        CHECK_OK(MPI_Reduce_scatter(given, out, now.counts, MPI_INT, MPI_SUM, comm));
        return wrong_sum(size - 1, begin, now.counts[rank]);
    default: CHECK_OK(MPI_Barrier(comm)); return 0;
    }
}

/* Bytes: a short message, one chunk of every size that occurs, several chunks, more than a ring. */
static int bytes_of(unsigned long random)
{
    static const int bytes[] = { 0, 8, 2000, 4096, 4104, 20000, 65536, 65544, 131072, 140000, 262144, 700000 };
    int some = bytes[random % 12];
    if (now.kind >= 1 && now.kind <= 4)
        some /= size / 2 + 1;
    if (now.kind == 9)
        some /= size;
    return some / 8 * 8;
}

static void sequence(MPI_Comm comm)
{
    unsigned long state = 4711;
    for (int n = 0; n < OPERATIONS; n++) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        now.kind = n < 2 * KINDS ? n / 2 : (int)(state >> 33) % KINDS;
        now.number = n;
        now.root = (int)(state >> 40) % size;
        now.count =
            (n < 2 * KINDS ? 700000 / (now.kind < 5 || now.kind == 9 ? size : 1) / 8 * 8 : bytes_of(state >> 48)) / 4;
        now.in_place = state >> 63;
        now.gap = 1 + (rank + n) % 3 / 2;
        in = memory[0] + (7 * n + 5 * rank) % PLACES;
        out = memory[1] + (3 * n + 11 * rank) % PLACES;
        int bad = now.kind < 5 ? move(comm) : combine(comm);
        if (!CHECK(bad == 0))
            fprintf(stderr, "operation %d of kind %d, root %d, %d ints, gap %d: %d wrong\n", n, now.kind, now.root,
                    now.count, now.gap, bad);
    }
}

/* All ranks have the same bits, also of an inexact sum, and the same again. */
static void same_bits(MPI_Comm comm)
{
    enum { DOUBLES = 40001 };
    double *mine = (double *)memory[0], *first = (double *)memory[1], *again = first + DOUBLES;
    int different = 0;
    for (int i = 0; i < DOUBLES; i++)
        mine[i] = (rank % 2 ? -1e16 : 1e16) / (i + 3) + 0.1 * rank;
    CHECK_OK(MPI_Allreduce(mine, first, DOUBLES, MPI_DOUBLE, MPI_SUM, comm));
    CHECK_OK(MPI_Allreduce(mine, again, DOUBLES, MPI_DOUBLE, MPI_SUM, comm));
    different += memcmp(first, again, DOUBLES * sizeof *first) != 0;
    CHECK_OK(MPI_Bcast(again, DOUBLES, MPI_DOUBLE, size - 1, comm));
    different += memcmp(first, again, DOUBLES * sizeof *first) != 0;
    CHECK(different == 0);
}

/* A root with far more data than there is space, and ranks that arrive late. */
static void late(MPI_Comm comm)
{
    enum { MANY = 500000 };
    int bad = 0;
    for (int n = 0; n < 4; n++) {
        for (int i = 0; rank == 0 && i < MANY; i++)
            in[i] = n + i;
        if (rank != 0 && n % 2 == 0)
            usleep(10000);
        CHECK_OK(MPI_Bcast(in, MANY, MPI_INT, 0, comm));
        for (int i = 0; i < MANY; i++)
            bad += in[i] != n + i;
    }
    CHECK(bad == 0);
}

int main(int argc, char **argv)
{
    MPI_Datatype spread;
    MPI_Comm comm;
    MTEST_INIT(argc, argv);
    size = mtest_size;
    rank = mtest_rank;
    for (int i = 0; i < 2; i++)
        memory[i] = calloc(INTS + PLACES, sizeof **memory);
    CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &spread));
    CHECK_OK(MPI_Type_create_resized(spread, 0, 4 * sizeof(int), &pair));
    CHECK_OK(MPI_Type_commit(&pair));
    CHECK_OK(MPI_Type_free(&spread));

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    sequence(comm);
    same_bits(comm);
    late(comm);
    CHECK_OK(MPI_Comm_free(&comm));

    CHECK_OK(MPI_Type_free(&pair));
    free(memory[0]);
    free(memory[1]);
    MTEST_END;
}
