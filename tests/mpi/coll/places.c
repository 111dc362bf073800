/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives that go along the tree of the ranks' places on machines of many cores (MPI-5.0 chapter 6). All
 * lengths, many roots, in place or not, in several orders of the ranks; and many in a row, in which ranks run ahead of
 * each other.
 */
/* ranks: 5 9 70 */
/* seconds: 300 */
#include "mtest.h"

enum { LONGEST = 40000, LENGTHS = 9, ROW = 1300 };

static const int lengths[LENGTHS] = { 0, 1, 6, 7, 16, 500, 1024, 1025, LONGEST };
static int in[LONGEST + 1], out[LONGEST + 1], rank, size;
static MPI_Comm comm;

static int word(int from, int turn, int i)
{
    return (from + 1) * 31 + turn * 7 + i % 1009;
}

static int sum_of(int turn, int i)
{
    return size * (size + 1) / 2 * 31 + size * (turn * 7 + i % 1009);
}

static void fill(int *at, int count, int from, int turn)
{
    for (int i = 0; i < count; i++)
        at[i] = word(from, turn, i);
    at[count] = -1;
}

static int wrong_sums(int count, int turn)
{
    int bad = out[count] != -1;
    for (int i = 0; i < count; i++)
        bad += out[i] != sum_of(turn, i);
    return bad;
}

static void one_of_each(int count, int root, int turn)
{
    int bad, stays = turn % 2;
    fill(out, count, rank == root ? root : -1, turn);
    CHECK_OK(MPI_Bcast(out, count, MPI_INT, root, comm));
    bad = out[count] != -1;
    for (int i = 0; i < count; i++)
        bad += out[i] != word(root, turn, i);
    CHECK(bad == 0);
    fill(in, count, rank, turn);
    fill(out, count, rank, turn);
    CHECK_OK(MPI_Reduce(stays && rank == root ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, root, comm));
    CHECK(rank != root || wrong_sums(count, turn) == 0);
    fill(out, count, rank, turn);
    CHECK_OK(MPI_Allreduce(stays ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, comm));
    CHECK(wrong_sums(count, turn) == 0);
    CHECK_OK(MPI_Barrier(comm));
}

/* More operations than may be under way, with no barrier between them: with one root, then with others. */
static void in_a_row(void)
{
    int bad = 0;
    for (int n = 0; n < ROW; n++) {
        int root = n < ROW / 2 ? 0 : n * 5 % size, count = n % 3 ? 1 + n % 11 : 1 + n % 1024, got;
        fill(in, count, root, n);
        if (rank != root)
            in[0] = in[count - 1] = -2;
        bad += MPI_Bcast(in, count, MPI_INT, root, comm) != MPI_SUCCESS;
        bad += in[0] != word(root, n, 0) || in[count - 1] != word(root, n, count - 1);
        in[0] = word(rank, n, 0);
        if (n % 4 == 0) {
            bad += MPI_Reduce(in, &got, 1, MPI_INT, MPI_SUM, root, comm) != MPI_SUCCESS;
            bad += rank == root && got != sum_of(n, 0);
        }
    }
    CHECK(bad == 0);
}

static void on(MPI_Comm with)
{
    comm = with;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int l = 0, turn = 0; l < LENGTHS; l++)
        for (int r = 0; r < 4; r++, turn++)
            one_of_each(lengths[l], r < 2 ? r * (size - 1) : (turn * 13 + 1) % size, turn);
    in_a_row();
    if (comm != MPI_COMM_WORLD)
        CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm other;
    on(MPI_COMM_WORLD);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -mtest_rank, &other));
    on(other);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, mtest_rank * 7 % 5, &other)); /* neighbors are in other places */
    on(other);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, mtest_rank % 3 == 0, 0, &other));
    on(other);
    MTEST_END;
}
