/* SPDX-License-Identifier: BSD-3-Clause */
/* Epochs of some of the ranks: MPI_Win_post, start, complete, wait, test, with changing groups. */
#include "pattern.h"
#include "rma.h"

enum { SLOT = 64, ROUNDS = 20 };

static MPI_Group world;

static MPI_Group group_of(int count, const int ranks[])
{
    MPI_Group group;
    CHECK_OK(MPI_Group_incl(world, count, ranks, &group));
    return group;
}

/* By MPI_Win_wait or MPI_Win_test. */
static void finish(MPI_Win win, int polls)
{
    if (!polls) {
        CHECK_OK(MPI_Win_wait(win));
        return;
    }
    for (int done = 0; !done;)
        CHECK_OK(MPI_Win_test(win, &done));
}

/* A ring: each rank exposes its memory to the previous one and accesses the next, which may be itself. */
static void ring(const struct window *w)
{
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    MPI_Group to = group_of(1, &next), from = group_of(1, &last);
    for (int round = 0; round < ROUNDS; round++) {
        int out[4] = { mtest_rank, round, mtest_rank * round, -1 }, in[4] = { 0 };
        memcpy(w->base + SLOT, out, sizeof out);
        CHECK_OK(MPI_Win_post(from, 0, w->win));
        CHECK_OK(MPI_Win_start(to, 0, w->win));
        CHECK_OK(MPI_Put(out, 4, MPI_INT, next, w->offset[next], 4, MPI_INT, w->win));
        CHECK_OK(MPI_Get(in, 4, MPI_INT, next, w->offset[next] + SLOT, 4, MPI_INT, w->win));
        CHECK_OK(MPI_Win_complete(w->win));
        CHECK(in[0] == next && in[1] == round && in[2] == next * round && in[3] == -1);
        finish(w->win, round % 2);
        memcpy(in, w->base, sizeof in);
        CHECK(in[0] == last && in[1] == round && in[2] == last * round);
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

/* The same random choice on every rank: which ranks access which in a round. */
static int goes(int round, int origin, int target)
{
    uint64_t state = (uint64_t)(round * 1009 + origin * 31 + target) + 12345;
    pattern_random(&state);
    return pattern_random(&state) % 3 == 0;
}

/* Some ranks expose memory, some access it, some do both, some neither. Each has a slot in every window. */
static void changing(const struct window *w)
{
    int *origins = malloc((size_t)mtest_size * sizeof *origins);
    int *targets = malloc((size_t)mtest_size * sizeof *targets);
    int *sent = malloc((size_t)mtest_size * sizeof *sent);
    for (int round = 0; round < ROUNDS; round++) {
        int in = 0, out = 0;
        for (int i = 0; i < mtest_size; i++) {
            if (goes(round, i, mtest_rank))
                origins[in++] = i;
            if (goes(round, mtest_rank, i))
                targets[out++] = i;
        }
        MPI_Group from = group_of(in, origins), to = group_of(out, targets);
        memset(w->base, 0xff, (size_t)(SLOT * mtest_size));
        if (in)
            CHECK_OK(MPI_Win_post(from, 0, w->win));
        if (out) {
            CHECK_OK(MPI_Win_start(to, 0, w->win));
            MPI_Group_free(&to); /* the epoch keeps its own reference */
            for (int i = 0; i < out; i++) {
                sent[i] = mtest_rank * 1000 + targets[i] + round;
                CHECK_OK(MPI_Put(&sent[i], 1, MPI_INT, targets[i], w->offset[targets[i]] + SLOT * mtest_rank, 1,
                                 MPI_INT, w->win));
            }
            CHECK_OK(MPI_Win_complete(w->win));
        }
        if (in)
            finish(w->win, (round + mtest_rank) % 2);
        for (int i = 0; i < mtest_size; i++) {
            int got, wanted = goes(round, i, mtest_rank) ? i * 1000 + mtest_rank + round : -1;
            memcpy(&got, w->base + SLOT * i, sizeof got);
            CHECK(got == wanted);
        }
        MPI_Group_free(&from);
        if (!out)
            MPI_Group_free(&to);
    }
    free(origins);
    free(targets);
    free(sent);
}

/* An epoch with the empty group, and one without operations. */
static void nobody(const struct window *w)
{
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size, done = 0;
    MPI_Group to = group_of(1, &next), from = group_of(1, &last);
    CHECK_OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, w->win));
    CHECK_OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, w->win));
    CHECK_OK(MPI_Win_complete(w->win));
    CHECK_OK(MPI_Win_test(w->win, &done));
    if (!done)
        CHECK_OK(MPI_Win_wait(w->win));
    CHECK_OK(MPI_Win_post(from, MPI_MODE_NOSTORE | MPI_MODE_NOPUT, w->win));
    CHECK_OK(MPI_Win_start(to, 0, w->win));
    CHECK_OK(MPI_Win_complete(w->win));
    CHECK_OK(MPI_Win_wait(w->win));
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

/* All ranks add to rank 0, whose wait ends only after the last of them has completed. */
static void many_to_one(const struct window *w)
{
    int first = 0, sum = 0, *others = malloc((size_t)mtest_size * sizeof *others), one = mtest_rank + 1;
    for (int i = 0; i < mtest_size; i++) {
        others[i] = i;
        sum += i + 1;
    }
    MPI_Group to = group_of(1, &first), from = group_of(mtest_size, others);
    memset(w->base, 0, SLOT);
    for (int round = 1; round <= ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD); /* makes MPI_MODE_NOCHECK true: post comes before start */
        if (mtest_rank == 0)
            CHECK_OK(MPI_Win_post(from, round % 2 ? 0 : MPI_MODE_NOCHECK, w->win));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_Win_start(to, round % 2 ? 0 : MPI_MODE_NOCHECK, w->win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, w->offset[0], 1, MPI_INT, MPI_SUM, w->win));
        CHECK_OK(MPI_Win_complete(w->win));
        if (mtest_rank == 0) {
            finish(w->win, round % 3 == 0);
            CHECK(*(int *)(void *)w->base == round * sum);
        }
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    free(others);
}

/* Two ranks swap the roles of origin and target, with no other synchronization between them. */
static void turns(const struct window *w)
{
    int pair = mtest_rank ^ 1;
    if (pair >= mtest_size)
        return;
    MPI_Group other = group_of(1, &pair);
    int ball = 0;
    for (int turn = 0; turn < 2 * ROUNDS; turn++)
        if (turn % 2 == mtest_rank % 2) {
            ball++;
            CHECK_OK(MPI_Win_start(other, 0, w->win));
            CHECK_OK(MPI_Put(&ball, 1, MPI_INT, pair, w->offset[pair], 1, MPI_INT, w->win));
            CHECK_OK(MPI_Win_complete(w->win));
        } else {
            CHECK_OK(MPI_Win_post(other, 0, w->win));
            finish(w->win, turn % 4 < 2);
            memcpy(&ball, w->base, sizeof ball);
            CHECK(ball == turn + 1);
        }
    MPI_Group_free(&other);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_open(kind, MPI_COMM_WORLD, SLOT * (mtest_size + 1));
        ring(&w);
        changing(&w);
        nobody(&w);
        many_to_one(&w);
        turns(&w);
        window_close(&w, MPI_COMM_WORLD);
    }
    MPI_Group_free(&world);
    MTEST_END;
}
