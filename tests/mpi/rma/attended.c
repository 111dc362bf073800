/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random operations on the memory of a rank that is in MPI meanwhile, so that it may execute them for the others. They
 * are of all kinds, with gaps or not on both sides, of few bytes and of many. What is read, and in the end all of the
 * memory, is compared with a model.
 */
/* ranks: 2 3 */
#include <stdint.h>

#include "pattern.h"
#include "rma.h"

enum { INTS = 12000, LONG_INTS = 4500, SHORT_INTS = 40, STEPS = 600, DONE = 77 };

static struct window w;
static int model[INTS], given[INTS], taken[INTS];
static uint64_t seed;

static int below(int bound)
{
    return (int)(pattern_random(&seed) % (uint32_t)bound);
}

/* A block of ints in a part of the memory, whose elements are `stride` ints apart. */
struct block {
    int at, count, stride;
};

static struct block draw(void)
{
    struct block b = { .count = 1 + below(below(8) ? SHORT_INTS : LONG_INTS), .stride = below(2) ? 1 : 1 + below(3) };
    if (b.count * b.stride > INTS)
        b.stride = 1;
    b.at = below(INTS - b.count * b.stride + 1);
    return b;
}

static MPI_Datatype type_of(const struct block *b)
{
    MPI_Datatype type;
    MPI_Type_vector(b->count, 1, b->stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Where the part of this rank begins in the memory of rank 0, in bytes, plus an index. */
static MPI_Aint place(int at)
{
    return w.offset[0] + ((MPI_Aint)(mtest_rank - 1) * INTS + at) * (MPI_Aint)sizeof(int);
}

/* The origin's buffer has gaps, too, in every other step. */
static void transfer(int put)
{
    struct block b = draw(), near = { 0, b.count, b.count * 2 <= INTS && below(2) ? 2 : 1 };
    MPI_Datatype there = type_of(&b), here = type_of(&near);
    for (int i = 0; i < b.count; i++)
        if (put)
            model[b.at + i * b.stride] = given[i * near.stride] = (int)pattern_random(&seed);
    if (put)
        CHECK_OK(MPI_Put(given, 1, here, 0, place(b.at), 1, there, w.win));
    else
        CHECK_OK(MPI_Get(taken, 1, here, 0, place(b.at), 1, there, w.win));
    CHECK_OK(below(2) ? MPI_Win_flush(0, w.win) : MPI_Win_flush_all(w.win));
    int wrong = 0;
    for (int i = 0; i < b.count; i++)
        wrong += !put && taken[i * near.stride] != model[b.at + i * b.stride];
    CHECK(wrong == 0);
    MPI_Type_free(&there);
    MPI_Type_free(&here);
}

static void accumulate(int fetches)
{
    struct block b = draw();
    MPI_Op op = below(3) ? MPI_SUM : fetches && below(2) ? MPI_NO_OP : MPI_REPLACE;
    MPI_Datatype there = type_of(&b);
    int wrong = 0;
    for (int i = 0; i < b.count; i++)
        given[i] = below(1 << 20);
    if (fetches)
        CHECK_OK(
            MPI_Get_accumulate(given, b.count, MPI_INT, taken, b.count, MPI_INT, 0, place(b.at), 1, there, op, w.win));
    else
        CHECK_OK(MPI_Accumulate(given, b.count, MPI_INT, 0, place(b.at), 1, there, op, w.win));
    CHECK_OK(MPI_Win_flush(0, w.win));
    for (int i = 0; i < b.count; i++) {
        int *old = &model[b.at + i * b.stride];
        wrong += fetches && taken[i] != *old;
        *old = op == MPI_SUM ? (int)((unsigned)*old + (unsigned)given[i]) : op == MPI_REPLACE ? given[i] : *old;
    }
    CHECK(wrong == 0);
    MPI_Type_free(&there);
}

static void one_element(int swaps)
{
    int at = below(INTS), value = below(1000), old = -1, compare = below(2) ? model[at] : model[at] + 1;
    if (swaps)
        CHECK_OK(MPI_Compare_and_swap(&value, &compare, &old, MPI_INT, 0, place(at), w.win));
    else
        CHECK_OK(MPI_Fetch_and_op(&value, &old, MPI_INT, 0, place(at), MPI_REPLACE, w.win));
    CHECK_OK(MPI_Win_flush(0, w.win));
    CHECK(old == model[at]);
    model[at] = !swaps || compare == model[at] ? value : model[at];
}

/* Very many short operations before a flush, none of them beside the one before. */
static void scattered(void)
{
    int wrong = 0;
    for (int i = 0; i < INTS; i += 2) {
        model[i] = given[i] = i + mtest_rank;
        CHECK_OK(MPI_Put(&given[i], 1, MPI_INT, 0, place(i), 1, MPI_INT, w.win));
    }
    CHECK_OK(MPI_Win_flush(0, w.win));
    for (int i = 0; i < INTS; i += 2)
        CHECK_OK(MPI_Get(&taken[i], 1, MPI_INT, 0, place(i), 1, MPI_INT, w.win));
    CHECK_OK(MPI_Win_flush(0, w.win));
    for (int i = 0; i < INTS; i += 2)
        wrong += taken[i] != model[i];
    CHECK(wrong == 0);
}

static void operate(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
    scattered();
    for (int i = 0; i < STEPS; i++) {
        int kind = below(6);
        if (kind < 2)
            transfer(kind);
        else if (kind < 4)
            accumulate(kind - 2);
        else
            one_element(kind - 4);
    }
    MPI_Win_unlock(0, w.win);
    MPI_Send(model, INTS, MPI_INT, 0, DONE, MPI_COMM_WORLD);
}

/* Rank 0 polls for the end of the others, or waits for it. */
static void attend(int polls)
{
    for (int done = 1; done < mtest_size; done++) {
        MPI_Status status;
        for (int came = 0; polls && !came;)
            CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, DONE, MPI_COMM_WORLD, &came, &status));
        CHECK_OK(MPI_Recv(model, INTS, MPI_INT, MPI_ANY_SOURCE, DONE, MPI_COMM_WORLD, &status));
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
        CHECK(memcmp(w.base + (size_t)(status.MPI_SOURCE - 1) * sizeof model, model, sizeof model) == 0);
        MPI_Win_unlock(0, w.win);
    }
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    seed = (uint64_t)mtest_rank + 99;
    for (int kind = 0; kind < WINDOW_KINDS; kind++)
        for (int polls = 0; polls < 2; polls++) {
            memset(model, 0, sizeof model);
            w = window_open(kind, MPI_COMM_WORLD, (MPI_Aint)sizeof model * (mtest_size - 1));
            MPI_Barrier(MPI_COMM_WORLD);
            if (mtest_rank == 0)
                attend(polls);
            else
                operate();
            window_close(&w, MPI_COMM_WORLD);
        }
    MTEST_END;
}
