/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks accumulate on the same elements at the same time, by several functions. Nothing is lost, every value is
 * fetched once, and the accumulates of one rank on an element take effect in the order of its calls. */
#include <stdint.h>

#include "rma.h"

enum { ROUNDS = 60, WIDE = 300, SUM = 0, TICKET = 8, SWAP = 16, FLOAT = 24, SLOTS = 32, MOST = 64 };
enum { ARRAY = SLOTS + 8 * MOST, BYTES = ARRAY + 8 * WIDE };

static int64_t read_at(const struct window *w, int target, MPI_Aint at)
{
    int64_t value = -1;
    CHECK_OK(MPI_Fetch_and_op(NULL, &value, MPI_INT64_T, target, w->offset[target] + at, MPI_NO_OP, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    return value;
}

/* One exact sum by all functions. */
static void mixed_ways(const struct window *w, int target)
{
    int64_t one = 1, two[2] = { 1, 0 }, old[2], wide[WIDE], ticket;
    char *seen = calloc((size_t)(ROUNDS * mtest_size), 1), *all = calloc((size_t)(ROUNDS * mtest_size), 1);
    double half = 0.5;
    int unlike = 0;
    for (int i = 0; i < WIDE; i++)
        wide[i] = i + 1;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Aint at = w->offset[target];
        switch ((round + mtest_rank) % 4) {
        case 0:
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, at + SUM, 1, MPI_INT64_T, MPI_SUM, w->win));
            break;
        case 1: CHECK_OK(MPI_Fetch_and_op(&one, old, MPI_INT64_T, target, at + SUM, MPI_SUM, w->win)); break;
        case 2:
            CHECK_OK(MPI_Get_accumulate(two, 1, MPI_INT64_T, old, 1, MPI_INT64_T, target, at + SUM, 1, MPI_INT64_T,
                                        MPI_SUM, w->win));
            break;
        default: CHECK_OK(MPI_Accumulate(two, 2, MPI_INT64_T, target, at + SUM, 2, MPI_INT64_T, MPI_SUM, w->win));
        }
        CHECK_OK(MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, target, at + TICKET, MPI_SUM, w->win));
        CHECK_OK(MPI_Accumulate(&half, 1, MPI_DOUBLE, target, at + FLOAT, 1, MPI_DOUBLE, MPI_SUM, w->win));
        if (round % 8 == 0) /* large enough for separate data */
            CHECK_OK(MPI_Accumulate(wide, WIDE, MPI_INT64_T, target, at + ARRAY, WIDE, MPI_INT64_T, MPI_SUM, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        CHECK(ticket >= 0 && ticket < ROUNDS * mtest_size);
        if (ticket >= 0 && ticket < ROUNDS * mtest_size) {
            CHECK(!seen[ticket]);
            seen[ticket] = 1;
        }
    }
    CHECK_OK(MPI_Allreduce(seen, all, ROUNDS * mtest_size, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < ROUNDS * mtest_size; i++)
        unlike += all[i] != 1;
    CHECK(unlike == 0);
    CHECK(read_at(w, target, SUM) == ROUNDS * mtest_size);
    CHECK_OK(MPI_Fetch_and_op(NULL, &half, MPI_DOUBLE, target, w->offset[target] + FLOAT, MPI_NO_OP, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK(half == 0.5 * ROUNDS * mtest_size);
    CHECK_OK(MPI_Get(wide, WIDE, MPI_INT64_T, target, w->offset[target] + ARRAY, WIDE, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    unlike = 0;
    for (int i = 0; i < WIDE; i++)
        unlike += wide[i] != (int64_t)(i + 1) * ((ROUNDS + 7) / 8) * mtest_size;
    CHECK(unlike == 0);
    free(seen);
    free(all);
}

/* A counter by compare and swap: each value succeeds once. */
static void swaps(const struct window *w, int target)
{
    int64_t guess = 0, next, found;
    for (int done = 0; done < ROUNDS / 4;) {
        next = guess + 1;
        CHECK_OK(MPI_Compare_and_swap(&next, &guess, &found, MPI_INT64_T, target, w->offset[target] + SWAP, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        CHECK(found >= guess);
        done += found == guess;
        guess = found == guess ? next : found;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(read_at(w, target, SWAP) == (int64_t)(ROUNDS / 4) * mtest_size);
}

/* Each rank increments its own element by MPI_REPLACE, without a flush in between, and reads all ranks' elements: no
 * count decreases, and a rank reads the last count that it wrote itself. */
static void in_order(const struct window *w, int target)
{
    int64_t *last = calloc((size_t)mtest_size, sizeof *last), values[ROUNDS], *got = calloc(ROUNDS, sizeof *got);
    int64_t *others = calloc((size_t)mtest_size, sizeof *others);
    MPI_Aint mine = w->offset[target] + SLOTS + 8 * mtest_rank;
    for (int round = 0; round < ROUNDS; round++) {
        values[round] = round + 1;
        CHECK_OK(MPI_Accumulate(&values[round], 1, MPI_INT64_T, target, mine, 1, MPI_INT64_T, MPI_REPLACE, w->win));
        CHECK_OK(MPI_Fetch_and_op(NULL, &got[round], MPI_INT64_T, target, mine, MPI_NO_OP, w->win));
        if (round % 6)
            continue;
        CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, others, mtest_size, MPI_INT64_T, target,
                                    w->offset[target] + SLOTS, mtest_size, MPI_INT64_T, MPI_NO_OP, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        for (int i = 0; i < mtest_size; i++) {
            CHECK(others[i] >= last[i]);
            last[i] = others[i];
        }
        CHECK(others[mtest_rank] == round + 1);
    }
    CHECK_OK(MPI_Win_flush(target, w->win));
    for (int round = 0; round < ROUNDS; round++)
        CHECK(got[round] == round + 1);
    free(last);
    free(others);
    free(got);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_open(kind, MPI_COMM_WORLD, BYTES);
        int target = (mtest_size - 1) * (kind % 2);
        CHECK_OK(MPI_Win_lock_all(0, w.win));
        mixed_ways(&w, target);
        swaps(&w, target);
        in_order(&w, target);
        CHECK_OK(MPI_Win_unlock_all(w.win));
        window_close(&w, MPI_COMM_WORLD);
    }
    MTEST_END;
}
