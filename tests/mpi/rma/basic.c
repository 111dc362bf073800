/* SPDX-License-Identifier: BSD-3-Clause */
/* Put, get and accumulate between fences, short and long, plain and strided, in windows of each flavor. */
#include "../mtest.h"

enum { SLOTS = 40000 };

static int expected(int origin, int i)
{
    return origin * 1000003 + i;
}

static void put_and_get(MPI_Win win, int *memory, int shared)
{
    int right = (mtest_rank + 1) % mtest_size, left = (mtest_rank + mtest_size - 1) % mtest_size;
    int *mine = malloc(SLOTS * sizeof *mine), *got = malloc(SLOTS * sizeof *got);
    for (int length = 1; length <= SLOTS; length = length < SLOTS && length * 6 > SLOTS ? SLOTS : length * 6) {
        for (int i = 0; i < length; i++)
            mine[i] = expected(mtest_rank, i) + length;
        CHECK_OK(MPI_Win_fence(0, win));
        CHECK_OK(MPI_Put(mine, length, MPI_INT, right, 0, length, MPI_INT, win));
        CHECK_OK(MPI_Win_fence(0, win));
        int wrong = 0;
        for (int i = 0; memory && i < length; i++)
            wrong += memory[i] != expected(left, i) + length;
        CHECK(wrong == 0);
        memset(got, 0, SLOTS * sizeof *got);
        CHECK_OK(MPI_Get(got, length, MPI_INT, right, 0, length, MPI_INT, win));
        CHECK_OK(MPI_Win_fence(0, win));
        wrong = 0;
        for (int i = 0; i < length; i++)
            wrong += got[i] != mine[i];
        CHECK(wrong == 0);
        if (length == SLOTS)
            break;
    }
    (void)shared;
    free(mine);
    free(got);
}

static void accumulate(MPI_Win win, int *memory)
{
    int *mine = malloc(SLOTS * sizeof *mine);
    for (int length = 1; length <= SLOTS; length *= 199) {
        CHECK_OK(MPI_Win_fence(0, win));
        memset(memory, 0, SLOTS * sizeof *memory);
        for (int i = 0; i < length; i++)
            mine[i] = mtest_rank + i;
        CHECK_OK(MPI_Win_fence(0, win));
        for (int r = 0; r < mtest_size; r++)
            CHECK_OK(MPI_Accumulate(mine, length, MPI_INT, r, 0, length, MPI_INT, MPI_SUM, win));
        CHECK_OK(MPI_Win_fence(0, win));
        int wrong = 0;
        for (int i = 0; i < length; i++)
            wrong += memory[i] != mtest_size * (mtest_size - 1) / 2 + mtest_size * i;
        CHECK(wrong == 0);
    }
    free(mine);
}

/* Every second element here, to every third there. */
static void strided(MPI_Win win, int *memory)
{
    MPI_Datatype second, third;
    enum { COUNT = 5000 };
    int right = (mtest_rank + 1) % mtest_size, left = (mtest_rank + mtest_size - 1) % mtest_size, wrong = 0;
    int *mine = malloc(2 * COUNT * sizeof *mine);
    CHECK_OK(MPI_Type_vector(COUNT, 1, 2, MPI_INT, &second));
    CHECK_OK(MPI_Type_vector(COUNT, 1, 3, MPI_INT, &third));
    CHECK_OK(MPI_Type_commit(&second));
    CHECK_OK(MPI_Type_commit(&third));
    for (int i = 0; i < 2 * COUNT; i++)
        mine[i] = expected(mtest_rank, i);
    CHECK_OK(MPI_Win_fence(0, win));
    memset(memory, 0, SLOTS * sizeof *memory);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(mine, 1, second, right, 7, 1, third, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Accumulate(mine, 1, second, right, 7, 1, third, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 3 * COUNT; i++)
        wrong += memory[7 + i] != (i % 3 == 0 ? 2 * expected(left, i / 3 * 2) : 0);
    CHECK(wrong == 0);
    int *got = calloc(2 * COUNT, sizeof *got);
    CHECK_OK(MPI_Get(got, 1, second, right, 7, 1, third, win));
    CHECK_OK(MPI_Win_fence(0, win));
    wrong = 0;
    for (int i = 0; i < 2 * COUNT - 1; i++)
        wrong += got[i] != (i % 2 == 0 ? 2 * mine[i] : 0);
    CHECK(wrong == 0);
    CHECK_OK(MPI_Type_free(&second));
    CHECK_OK(MPI_Type_free(&third));
    free(mine);
    free(got);
}

static void all(MPI_Win win, int *memory)
{
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    put_and_get(win, memory, 0);
    accumulate(win, memory);
    strided(win, memory);
    CHECK_CLASS(MPI_Put(memory, 1, MPI_INT, 0, SLOTS, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(memory, 1, MPI_INT, mtest_size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_CLASS(MPI_Put(memory, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int *memory;
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Win_allocate(SLOTS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    all(win, memory);
    memory = malloc(SLOTS * sizeof *memory);
    CHECK_OK(MPI_Win_create(memory, SLOTS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    all(win, memory);
    free(memory);
    MTEST_END;
}
