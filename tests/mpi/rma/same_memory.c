/* SPDX-License-Identifier: BSD-3-Clause */
/* Several windows over the same memory: with different units, of different communicators, of parts of it, and of
 * another window's memory; each with its epochs, at the same time. */
#include "rma.h"

enum { WORDS = 64 };

static void two_units(void)
{
    int *memory = calloc(WORDS, sizeof *memory), next = (mtest_rank + 1) % mtest_size, value = mtest_rank + 1;
    int last = (mtest_rank + mtest_size - 1) % mtest_size, got[2] = { 0 };
    MPI_Win bytes, words;
    CHECK_OK(MPI_Win_create(memory, WORDS * sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bytes));
    CHECK_OK(MPI_Win_create(memory, WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &words));
    CHECK_OK(MPI_Win_fence(0, bytes));
    CHECK_OK(MPI_Win_fence(0, words));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, 5 * sizeof(int), 1, MPI_INT, bytes));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, 6, 1, MPI_INT, words));
    CHECK_OK(MPI_Win_fence(0, words));
    CHECK_OK(MPI_Win_fence(0, bytes));
    CHECK(memory[5] == last + 1 && memory[6] == last + 1);
    CHECK_OK(MPI_Get(&got[0], 1, MPI_INT, next, 5, 1, MPI_INT, words));
    CHECK_OK(MPI_Get(&got[1], 1, MPI_INT, next, 6 * sizeof(int), 1, MPI_INT, bytes));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, bytes));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, words));
    CHECK(got[0] == mtest_rank + 1 && got[1] == mtest_rank + 1);
    CHECK_OK(MPI_Win_free(&words));
    CHECK_OK(MPI_Win_free(&bytes));
    free(memory);
}

/* Locks of two windows are independent: both are held at once, and the counters differ. */
static void two_locks(const struct window *w)
{
    MPI_Win other;
    int one = 1, *words = (int *)(void *)w->base;
    CHECK_OK(MPI_Win_create(w->base, WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &other));
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < mtest_size; i++) {
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i, 0, w->win));
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i, 0, other));
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, i, w->offset[i], 1, MPI_INT, MPI_SUM, w->win));
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, i, 1, 1, MPI_INT, MPI_SUM, other));
            if (round % 2) {
                CHECK_OK(MPI_Win_unlock(i, other));
                CHECK_OK(MPI_Win_unlock(i, w->win));
            } else {
                CHECK_OK(MPI_Win_unlock(i, w->win));
                CHECK_OK(MPI_Win_unlock(i, other));
            }
        }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, mtest_rank, 0, w->win));
    CHECK(words[0] == 10 * mtest_size && words[1] == 10 * mtest_size);
    CHECK_OK(MPI_Win_unlock(mtest_rank, w->win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_free(&other));
}

/* A window for each row and each column of the ranks, with epochs of different kinds open at once. */
static void rows_and_columns(void)
{
    int *memory = calloc(2 * (size_t)mtest_size, sizeof *memory), width = 2, row_size, column_size;
    int *mine = malloc(sizeof *mine);
    MPI_Comm row, column;
    MPI_Win by_row, by_column;
    *mine = mtest_rank + 1;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, mtest_rank / width, mtest_rank, &row));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, mtest_rank % width, mtest_rank, &column));
    MPI_Comm_size(row, &row_size);
    MPI_Comm_size(column, &column_size);
    CHECK_OK(MPI_Win_create(memory, mtest_size * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, row, &by_row));
    CHECK_OK(MPI_Win_create(memory + mtest_size, mtest_size * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, column,
                            &by_column));
    CHECK_OK(MPI_Win_lock_all(0, by_column));
    CHECK_OK(MPI_Win_fence(0, by_row));
    for (int i = 0; i < row_size; i++)
        CHECK_OK(MPI_Put(mine, 1, MPI_INT, i, mtest_rank, 1, MPI_INT, by_row));
    for (int i = 0; i < column_size; i++)
        CHECK_OK(MPI_Accumulate(mine, 1, MPI_INT, i, mtest_rank, 1, MPI_INT, MPI_SUM, by_column));
    CHECK_OK(MPI_Win_fence(0, by_row));
    CHECK_OK(MPI_Win_unlock_all(by_column));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, mtest_rank / width, 0, by_column));
    for (int i = 0; i < mtest_size; i++) {
        CHECK(memory[i] == (i / width == mtest_rank / width ? i + 1 : 0));
        CHECK(memory[mtest_size + i] == (i % width == mtest_rank % width ? i + 1 : 0));
    }
    CHECK_OK(MPI_Win_unlock(mtest_rank / width, by_column));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_free(&by_column));
    CHECK_OK(MPI_Win_free(&by_row));
    CHECK_OK(MPI_Comm_free(&row));
    CHECK_OK(MPI_Comm_free(&column));
    free(memory);
    free(mine);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    two_units();
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_open(kind, MPI_COMM_WORLD, WORDS * sizeof(int));
        two_locks(&w);
        window_close(&w, MPI_COMM_WORLD);
    }
    rows_and_columns();
    MTEST_END;
}
