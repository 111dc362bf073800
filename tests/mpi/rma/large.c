/* SPDX-License-Identifier: BSD-3-Clause */
/* Much data: operations of several megabytes, in one run and strided, and very many small ones without a flush in
 * between. */
#include <stdint.h>

#include "pattern.h"
#include "rma.h"

enum { BYTES = 2400000, SMALL = 1500, FLOOD = 700 };

static unsigned char *out, *in;

static void whole(const struct window *w, int next, int last)
{
    pattern_fill(out, BYTES, (uint64_t)(mtest_rank + w->kind));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    CHECK_OK(MPI_Put(out, BYTES, MPI_BYTE, next, w->offset[next], BYTES, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK(pattern_holds(w->base, BYTES, (uint64_t)(last + w->kind)));
    CHECK_OK(MPI_Get(in, BYTES, MPI_BYTE, next, w->offset[next], BYTES, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK(pattern_holds(in, BYTES, (uint64_t)(mtest_rank + w->kind)));
}

/* Every other run of 1000 bytes here, every third of 600 there; and back. */
static void strided(const struct window *w, int next, int last)
{
    MPI_Datatype here, there;
    int wrong = 0, sent = BYTES / 3 / 3000 * 3000;
    MPI_Type_vector(sent / 1000, 1000, 2000, MPI_BYTE, &here);
    MPI_Type_vector(sent / 600, 600, 1800, MPI_BYTE, &there);
    MPI_Type_commit(&here);
    MPI_Type_commit(&there);
    memset(in, 0, BYTES);
    CHECK_OK(MPI_Put(out, 1, here, next, w->offset[next], 1, there, w->win));
    MPI_Type_free(&here);
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < sent; i++)
        wrong += (unsigned char)w->base[i / 600 * 1800 + i % 600] !=
                 pattern_byte((uint64_t)(last + w->kind), (size_t)(i / 1000 * 2000 + i % 1000));
    CHECK_OK(MPI_Get(in, sent, MPI_BYTE, next, w->offset[next], 1, there, w->win));
    MPI_Type_free(&there);
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < sent; i++)
        wrong += in[i] != out[i / 1000 * 2000 + i % 1000];
    CHECK(wrong == 0);
}

/* Sums of whole arrays that fetch the previous contents. */
static void sums(const struct window *w, int next)
{
    int words = BYTES / 8 / 3, wrong = 0;
    int64_t *values = (void *)out, *before = (void *)in, *mine = (void *)w->base;
    for (int i = 0; i < words; i++) {
        mine[i] = i;
        values[i] = 2 * i + 1;
    }
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Accumulate(values, words, MPI_INT64_T, next, w->offset[next], words, MPI_INT64_T, MPI_SUM, w->win));
    CHECK_OK(MPI_Get_accumulate(values, words, MPI_INT64_T, before, words, MPI_INT64_T, next, w->offset[next], words,
                                MPI_INT64_T, MPI_REPLACE, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < words; i++)
        wrong += before[i] != 3 * i + 1 || mine[i] != 2 * i + 1;
    CHECK(wrong == 0);
}

/* Accumulates of one origin are executed in order, also shorter ones behind a long one. */
static void in_order(const struct window *w, int next)
{
    enum { MIDDLE = 1200 };
    static int64_t middle[MIDDLE];
    int words = BYTES / 8 / 3, wrong = 0;
    int64_t *values = (void *)out, *mine = (void *)w->base, last = -5, before = 0;
    for (int i = 0; i < words; i++)
        values[i] = 3 * i + 7;
    for (int i = 0; i < MIDDLE; i++)
        middle[i] = -i;
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(
        MPI_Accumulate(values, words, MPI_INT64_T, next, w->offset[next], words, MPI_INT64_T, MPI_REPLACE, w->win));
    CHECK_OK(MPI_Get_accumulate(&last, 1, MPI_INT64_T, &before, 1, MPI_INT64_T, next, w->offset[next], 1, MPI_INT64_T,
                                MPI_REPLACE, w->win));
    CHECK_OK(MPI_Accumulate(values, words, MPI_INT64_T, next, w->offset[next], words, MPI_INT64_T, MPI_SUM, w->win));
    CHECK_OK(MPI_Accumulate(&last, 1, MPI_INT64_T, next, w->offset[next] + 8, 1, MPI_INT64_T, MPI_REPLACE, w->win));
    CHECK_OK(MPI_Accumulate(middle, MIDDLE, MPI_INT64_T, next, w->offset[next] + 16, MIDDLE, MPI_INT64_T, MPI_REPLACE,
                            w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK(before == values[0] && mine[0] == last + values[0] && mine[1] == last);
    for (int i = 2; i < words; i++)
        wrong += mine[i] != (i < 2 + MIDDLE ? middle[i - 2] : 2 * values[i]);
    CHECK(wrong == 0);
}

/* Pairs have gaps, and many of them do not fit the memory in which they are combined at a time. */
static void many_pairs(const struct window *w, int next)
{
    enum { PAIRS = 3000 };
    struct pair {
        double value;
        int index;
    } *values = (void *)out, *mine = (void *)w->base;
    int wrong = 0;
    for (int i = 0; i < PAIRS; i++) {
        mine[i].value = i;
        values[i].value = i % 3 ? i + 1 : i - 1;
        mine[i].index = 1;
        values[i].index = 2;
    }
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Accumulate(values, PAIRS, MPI_DOUBLE_INT, next, w->offset[next], PAIRS, MPI_DOUBLE_INT, MPI_MAXLOC,
                            w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < PAIRS; i++)
        wrong += mine[i].value != (i % 3 ? i + 1 : i) || mine[i].index != (i % 3 ? 2 : 1);
    CHECK(wrong == 0);
}

/* All ranks send small operations of many lengths to rank 0. */
static void flood(const struct window *w)
{
    int64_t at = 0, sum = 0;
    int length = BYTES / mtest_size, mine = mtest_rank * length, wrong = 0;
    pattern_fill(out, (size_t)length, (uint64_t)mtest_rank + 77);
    memset(w->base, 0, BYTES);
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < FLOOD && at < length; i++) {
        int64_t bytes = i * 37 % SMALL + 1;
        bytes = at + bytes < length ? bytes : length - at;
        CHECK_OK(MPI_Put(out + at, (int)bytes, MPI_BYTE, 0, w->offset[0] + mine + at, (int)bytes, MPI_BYTE, w->win));
        at += bytes;
    }
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Get(in, (int)at, MPI_BYTE, 0, w->offset[0] + mine, (int)at, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    CHECK(pattern_holds(in, (size_t)at, (uint64_t)mtest_rank + 77));
    CHECK_OK(MPI_Allreduce(&at, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    for (int64_t i = at; mtest_rank == 0 && i < length; i++)
        wrong += w->base[i] != 0;
    CHECK(wrong == 0);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    out = malloc(BYTES);
    in = malloc(BYTES);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_open(kind, MPI_COMM_WORLD, BYTES);
        whole(&w, next, last);
        strided(&w, next, last);
        sums(&w, next);
        in_order(&w, next);
        many_pairs(&w, next);
        flood(&w);
        window_close(&w, MPI_COMM_WORLD);
    }
    free(out);
    free(in);
    MTEST_END;
}
