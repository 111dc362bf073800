/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations between fences: predefined and derived datatypes at both ends, in all directions, on windows of all
 * flavors. A message to the process itself with the same datatypes gives the expected contents. */
#include "pattern.h"
#include "rma.h"

enum { BYTES = 4096, TYPES = 9, ROUNDS = 3 };

/* Datatypes of 24 ints each, and the offset that keeps their lowest byte in the buffer. */
static MPI_Datatype types[TYPES];
static const MPI_Aint starts[TYPES] = { 0, 0, 0, 800, 0, 0, 16, 0, 0 };

static void make_types(void)
{
    int offsets[12], lengths[6] = { 1, 2, 3, 4, 6, 8 }, starts_at[6] = { 60, 50, 10, 20, 30, 0 };
    const int sizes[] = { 6, 8, 5 }, subsizes[] = { 3, 4, 2 }, from[] = { 1, 2, 3 };
    MPI_Datatype pair, inner;
    for (int i = 0; i < 12; i++)
        offsets[i] = 3 * i + i / 5;
    MPI_Type_contiguous(24, MPI_INT, &types[0]);
    MPI_Type_vector(24, 1, 2, MPI_INT, &types[1]);
    MPI_Type_vector(4, 6, 9, MPI_INT, &types[2]);
    MPI_Type_create_hvector(6, 4, -100, MPI_INT, &types[3]);
    MPI_Type_create_indexed_block(12, 2, offsets, MPI_INT, &types[4]);
    MPI_Type_indexed(6, lengths, starts_at, MPI_INT, &types[5]);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, -4, 20, &inner);
    MPI_Type_contiguous(12, inner, &types[6]);
    MPI_Type_create_subarray(3, sizes, subsizes, from, MPI_ORDER_FORTRAN, MPI_INT, &types[7]);
    MPI_Type_create_struct(3, (int[]){ 8, 1, 4 }, (MPI_Aint[]){ 0, 40, 160 },
                           (MPI_Datatype[]){ MPI_INT, types[0], MPI_INT }, &types[8]);
    MPI_Type_free(&types[8]);
    MPI_Type_create_struct(3, (int[]){ 8, 3, 10 }, (MPI_Aint[]){ 0, 40, 160 },
                           (MPI_Datatype[]){ MPI_INT, pair, MPI_INT }, &types[8]);
    MPI_Type_free(&pair);
    MPI_Type_free(&inner);
    for (int i = 0; i < TYPES; i++)
        MPI_Type_commit(&types[i]);
}

static void copy(const char *from, int from_type, char *to, int to_type)
{
    MPI_Sendrecv(from + starts[from_type], 1, types[from_type], 0, 0, to + starts[to_type], 1, types[to_type], 0, 0,
                 MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void fill(char *memory, int rank, int round)
{
    for (size_t i = 0; i < BYTES / sizeof(int); i++)
        ((int *)(void *)memory)[i] = (rank * 37 + round * 11 + (int)i) % 1000;
}

/* Every rank puts to the next rank and gets from the previous one, in separate halves of the windows. */
static void both_ways(const struct window *w, int origin, int target, int round)
{
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    static char out[BYTES], in[BYTES], wanted[BYTES], given[BYTES], memory[2 * BYTES];
    fill(out, mtest_rank, round);
    fill(w->base, mtest_rank + 100, round);
    memset(w->base + BYTES, 7, BYTES);
    memset(in, 9, BYTES);
    CHECK_OK(MPI_Win_fence(round ? 0 : MPI_MODE_NOPRECEDE, w->win));
    CHECK_OK(MPI_Put(out + starts[origin], 1, types[origin], next, w->offset[next] + BYTES + starts[target], 1,
                     types[target], w->win));
    CHECK_OK(MPI_Get(in + starts[origin], 1, types[origin], last, w->offset[last] + starts[target], 1, types[target],
                     w->win));
    CHECK_OK(MPI_Win_fence(round < ROUNDS - 1 ? 0 : MPI_MODE_NOSUCCEED, w->win));
    memset(wanted, 9, BYTES);
    fill(given, last + 100, round);
    copy(given, target, wanted, origin);
    CHECK(memcmp(in, wanted, BYTES) == 0);
    fill(memory, mtest_rank + 100, round);
    memset(memory + BYTES, 7, BYTES);
    fill(given, last, round);
    copy(given, origin, memory + BYTES, target);
    CHECK(memcmp(w->base, memory, 2 * BYTES) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks add to all, each with its own datatype. */
static void add(const struct window *w, int target)
{
    static char out[BYTES], own[BYTES], sent[BYTES], placed[BYTES];
    int *sums = calloc(BYTES, 1), origin = (mtest_rank + target) % TYPES;
    fill(w->base, mtest_rank, 0);
    fill(own, mtest_rank, 0);
    fill(out, mtest_rank, target);
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < mtest_size; i++)
        CHECK_OK(MPI_Accumulate(out + starts[origin], 1, types[origin], i, w->offset[i] + starts[target], 1,
                                types[target], MPI_SUM, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int from = 0; from < mtest_size; from++) {
        fill(sent, from, target);
        memset(placed, 0, BYTES);
        copy(sent, (from + target) % TYPES, placed, target);
        for (size_t i = 0; i < BYTES / sizeof(int); i++)
            sums[i] += ((int *)(void *)placed)[i];
    }
    int wrong = 0;
    for (size_t i = 0; i < BYTES / sizeof(int); i++)
        wrong += ((int *)(void *)w->base)[i] != ((int *)(void *)own)[i] + sums[i];
    CHECK(wrong == 0);
    free(sums);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Different elements, and different counts at origin and target. */
static void mixed(const struct window *w)
{
    struct {
        double d;
        char c;
        int i;
        short s;
    } items[10], *there = (void *)w->base;
    struct {
        short s;
        int i;
        char c;
        double d;
    } back[10];
    MPI_Datatype here, other, at, plain;
    MPI_Aint gap = (char *)&items[0].c - (char *)&items[0], int_at = (char *)&items[0].i - (char *)&items[0],
             short_at = (char *)&items[0].s - (char *)&items[0];
    int to = mtest_size - 1 - mtest_rank;
    const int ones[] = { 1, 1, 1, 1 };
    memset(items, 0, sizeof items);
    for (int i = 0; i < 10; i++) {
        items[i].d = i + mtest_rank;
        items[i].c = (char)i;
        items[i].i = 1000 * mtest_rank + i;
        items[i].s = (short)-i;
    }
    MPI_Type_create_struct(4, ones, (MPI_Aint[]){ 0, gap, int_at, short_at },
                           (MPI_Datatype[]){ MPI_DOUBLE, MPI_CHAR, MPI_INT, MPI_SHORT }, &plain);
    MPI_Type_create_resized(plain, 0, sizeof items[0], &here);
    MPI_Type_contiguous(5, here, &at);
    MPI_Type_free(&plain);
    MPI_Type_create_struct(4, ones,
                           (MPI_Aint[]){ (char *)&back[0].d - (char *)back, (char *)&back[0].c - (char *)back,
                                         (char *)&back[0].i - (char *)back, (char *)&back[0].s - (char *)back },
                           (MPI_Datatype[]){ MPI_DOUBLE, MPI_CHAR, MPI_INT, MPI_SHORT }, &plain);
    MPI_Type_create_resized(plain, 0, sizeof back[0], &other);
    MPI_Type_free(&plain);
    MPI_Type_commit(&here);
    MPI_Type_commit(&at);
    MPI_Type_commit(&other);
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Put(items, 10, here, to, w->offset[to], 2, at, w->win));
    MPI_Type_free(&at); /* while it is in use */
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < 10; i++)
        CHECK(there[i].d == i + to && there[i].c == i && there[i].i == 1000 * to + i && there[i].s == -i);
    CHECK_OK(MPI_Get(back, 10, other, to, w->offset[to], 10, here, w->win));
    MPI_Type_free(&here);
    MPI_Type_free(&other);
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < 10; i++) /* this rank's own data came back */
        CHECK(back[i].d == i + mtest_rank && back[i].c == i && back[i].i == 1000 * mtest_rank + i && back[i].s == -i);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    make_types();
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_open(kind, MPI_COMM_WORLD, 2 * BYTES);
        for (int target = 0; target < TYPES; target++)
            for (int round = 0; round < ROUNDS; round++)
                both_ways(&w, (target + 2 * round + kind) % TYPES, target, round);
        for (int target = 0; target < TYPES; target++)
            add(&w, target);
        mixed(&w);
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
        window_close(&w, MPI_COMM_WORLD);
    }
    for (int i = 0; i < TYPES; i++)
        MPI_Type_free(&types[i]);
    MTEST_END;
}
