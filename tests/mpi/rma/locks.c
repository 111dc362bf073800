/* SPDX-License-Identifier: BSD-3-Clause */
/* Passive targets: the guarantees of exclusive and shared locks under contention, several locks held at once,
 * MPI_Win_lock_all, and what is visible after a flush. */
#include "rma.h"

enum { WORDS = 50, ROUNDS = 25, LONG = 1 << 17 };

static int all_equal(const int *words, int count)
{
    int different = 0;
    for (int i = 1; i < count; i++)
        different += words[i] != words[0];
    return different == 0;
}

/* An exclusive lock makes read, wait and write one step. Readers with a shared lock see all words equal. */
static void counter(const struct window *w, int target)
{
    int words[WORDS];
    for (int round = 0; round < ROUNDS; round++) {
        if ((round + mtest_rank) % 3 == 0) {
            CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
            CHECK_OK(MPI_Get(words, WORDS, MPI_INT, target, w->offset[target], WORDS, MPI_INT, w->win));
            CHECK_OK(MPI_Win_unlock(target, w->win));
            for (int i = 1; i < WORDS; i++)
                CHECK(words[i] == words[0]);
        }
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
        CHECK_OK(MPI_Get(words, WORDS, MPI_INT, target, w->offset[target], WORDS, MPI_INT, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        for (int i = 1; i < WORDS; i++)
            CHECK(words[i] == words[0]);
        for (int i = 0; i < WORDS; i++)
            words[i]++;
        CHECK_OK(MPI_Put(words, WORDS, MPI_INT, target, w->offset[target], WORDS, MPI_INT, w->win));
        CHECK_OK(MPI_Win_unlock(target, w->win));
        memset(words, 0xee, sizeof words);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
    CHECK_OK(MPI_Get(words, WORDS, MPI_INT, target, w->offset[target], WORDS, MPI_INT, w->win));
    CHECK_OK(MPI_Win_unlock(target, w->win));
    CHECK(words[WORDS - 1] == ROUNDS * mtest_size);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same of data that is too long for one message: it is fetched from the target's memory, and a lock that is given
 * up meanwhile, or MPI_Win_complete, must not let others change it. */
static void long_reads(const struct window *w)
{
    int target = 0, *words = malloc(LONG * sizeof *words);
    for (int round = 0; round < ROUNDS; round++) {
        int writes = (round + mtest_rank) % 3 == 0;
        CHECK_OK(MPI_Win_lock(writes ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, w->win));
        if (writes) {
            for (int i = 0; i < LONG; i++)
                words[i] = round * 1000 + mtest_rank;
            CHECK_OK(MPI_Put(words, LONG, MPI_INT, target, w->offset[target], LONG, MPI_INT, w->win));
        } else {
            CHECK_OK(MPI_Get(words, LONG, MPI_INT, target, w->offset[target], LONG, MPI_INT, w->win));
        }
        CHECK_OK(MPI_Win_unlock(target, w->win));
        CHECK(all_equal(words, LONG));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(words);
}

/* As soon as MPI_Win_wait returns, the target changes what its neighbor has read. */
static void long_reads_completed(const struct window *w)
{
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    int *words = malloc(LONG * sizeof *words), *mine = (int *)(void *)w->base;
    MPI_Group all, to, from;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    CHECK_OK(MPI_Group_incl(all, 1, &next, &to));
    CHECK_OK(MPI_Group_incl(all, 1, &last, &from));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LONG; i++)
            mine[i] = round;
        CHECK_OK(MPI_Win_post(from, 0, w->win));
        CHECK_OK(MPI_Win_start(to, 0, w->win));
        CHECK_OK(MPI_Get(words, LONG, MPI_INT, next, w->offset[next], LONG, MPI_INT, w->win));
        CHECK_OK(MPI_Win_complete(w->win));
        CHECK(words[0] == round && all_equal(words, LONG));
        CHECK_OK(MPI_Win_wait(w->win));
    }
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Group_free(&to));
    CHECK_OK(MPI_Group_free(&from));
    free(words);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Loads and stores on the process's own memory under its own lock, while other ranks access it on their paths. */
static void own(const struct window *w)
{
    int *mine = (int *)(void *)w->base + WORDS, next = (mtest_rank + 1) % mtest_size, value;
    MPI_Aint at = (MPI_Aint)(WORDS * sizeof(int));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mtest_rank, 0, w->win));
    *mine = 0;
    CHECK_OK(MPI_Win_unlock(mtest_rank, w->win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mtest_rank, 0, w->win));
        ++*mine;
        CHECK_OK(MPI_Win_unlock(mtest_rank, w->win));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, w->win));
        CHECK_OK(MPI_Get(&value, 1, MPI_INT, next, w->offset[next] + at, 1, MPI_INT, w->win));
        CHECK_OK(MPI_Win_flush_local(next, w->win));
        value++;
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, w->offset[next] + at, 1, MPI_INT, w->win));
        CHECK_OK(MPI_Win_unlock(next, w->win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, mtest_rank, 0, w->win));
    CHECK(*mine == 2 * ROUNDS);
    CHECK_OK(MPI_Win_unlock(mtest_rank, w->win));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Locks of several ranks, taken in ascending order to avoid deadlock, and released in another order. */
static void several(const struct window *w)
{
    int one = 1, sum;
    MPI_Aint at = (MPI_Aint)((WORDS + 1) * sizeof(int));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < mtest_size; i++)
            CHECK_OK(MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, i, 0, w->win));
        for (int i = 0; i < mtest_size; i++)
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, i, w->offset[i] + at, 1, MPI_INT, MPI_SUM, w->win));
        CHECK_OK(MPI_Win_flush_all(w->win));
        for (int i = 0; i < mtest_size; i++)
            CHECK_OK(MPI_Win_unlock((i + mtest_rank) % mtest_size, w->win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mtest_rank, 0, w->win));
    memcpy(&sum, w->base + at, sizeof sum);
    CHECK(sum == 3 * mtest_size);
    CHECK_OK(MPI_Win_unlock(mtest_rank, w->win));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* After a flush, a rank that receives a message finds the data. After a local flush, the buffer is free. */
static void flushed(const struct window *w)
{
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size, told = -1;
    int words[WORDS], seen[WORDS];
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++)
            words[i] = round * 1000 + mtest_rank + i;
        CHECK_OK(MPI_Put(words, WORDS, MPI_INT, next, w->offset[next], WORDS, MPI_INT, w->win));
        if (round % 2)
            CHECK_OK(MPI_Win_flush_local(next, w->win));
        else
            CHECK_OK(MPI_Win_flush_local_all(w->win));
        memset(words, 0x77, sizeof words);
        if (round % 3)
            CHECK_OK(MPI_Win_flush(next, w->win));
        else
            CHECK_OK(MPI_Win_flush_all(w->win));
        CHECK_OK(
            MPI_Sendrecv(&round, 1, MPI_INT, next, 0, &told, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(told == round);
        CHECK_OK(MPI_Win_sync(w->win));
        memcpy(seen, w->base, sizeof seen);
        for (int i = 0; i < WORDS; i++)
            CHECK(seen[i] == round * 1000 + last + i);
        CHECK_OK(MPI_Get(seen, WORDS, MPI_INT, next, w->offset[next], WORDS, MPI_INT, w->win));
        CHECK_OK(MPI_Win_flush(next, w->win));
        for (int i = 0; i < WORDS; i++)
            CHECK(seen[i] == round * 1000 + mtest_rank + i);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

/* Shared locks and MPI_Win_lock_all coexist; an exclusive lock waits for all of them. */
static void all_and_one(const struct window *w)
{
    int one = 1, sum = -1;
    MPI_Aint at = (MPI_Aint)((WORDS + 2) * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        int target = round % mtest_size;
        if (mtest_rank % 2) {
            CHECK_OK(MPI_Win_lock_all(0, w->win));
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, target, w->offset[target] + at, 1, MPI_INT, MPI_SUM, w->win));
            CHECK_OK(MPI_Win_unlock_all(w->win));
        } else {
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, target, w->offset[target] + at, 1, MPI_INT, MPI_SUM, w->win));
            CHECK_OK(MPI_Win_unlock(target, w->win));
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win));
    int total = 0;
    for (int i = 0; i < mtest_size; i++) {
        CHECK_OK(MPI_Fetch_and_op(NULL, &sum, MPI_INT, i, w->offset[i] + at, MPI_NO_OP, w->win));
        CHECK_OK(MPI_Win_flush(i, w->win));
        total += sum;
    }
    CHECK(total == ROUNDS * mtest_size);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranks that take locks one by one have agreed on an order; MPI_Win_lock_all must not deadlock with any order. */
static void all_and_several(const struct window *w)
{
    int one = 1, sum;
    MPI_Aint at = (MPI_Aint)((WORDS + 3) * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 2 * ROUNDS; round++) {
        int down = round < ROUNDS;
        if (mtest_rank % 2 == 0)
            CHECK_OK(MPI_Win_lock_all(0, w->win));
        for (int i = 0; i < mtest_size; i++) {
            int rank = down ? mtest_size - 1 - i : i;
            if (mtest_rank % 2)
                CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win));
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, rank, w->offset[rank] + at, 1, MPI_INT, MPI_SUM, w->win));
        }
        if (mtest_rank % 2 == 0)
            CHECK_OK(MPI_Win_unlock_all(w->win));
        for (int i = 0; i < mtest_size && mtest_rank % 2; i++)
            CHECK_OK(MPI_Win_unlock(i, w->win));
        if (round == ROUNDS - 1)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mtest_rank, 0, w->win));
    memcpy(&sum, w->base + at, sizeof sum);
    CHECK(sum == 2 * ROUNDS * mtest_size);
    CHECK_OK(MPI_Win_unlock(mtest_rank, w->win));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Two ranks in MPI_Win_lock_all use two targets in opposite order, while other ranks want exclusive locks on them. */
static void crosswise(const struct window *w)
{
    int one = 1, pair = mtest_rank / 2 % 2;
    int64_t sum = 0, all = 0;
    int mine = 0;
    MPI_Aint at = (MPI_Aint)((WORDS + 2) * sizeof(int));
    memset(w->base + at, 0, sizeof mine);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS && mtest_size > 1; round++)
        if (mtest_rank % 2) {
            CHECK_OK(MPI_Win_lock_all(0, w->win));
            for (int i = 0; i < 2; i++) {
                int target = pair ^ i;
                CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, target, w->offset[target] + at, 1, MPI_INT, MPI_SUM, w->win));
                CHECK_OK(MPI_Win_flush(target, w->win));
            }
            CHECK_OK(MPI_Win_unlock_all(w->win));
        } else {
            int target = 1 - pair;
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, target, w->offset[target] + at, 1, MPI_INT, MPI_SUM, w->win));
            CHECK_OK(MPI_Win_unlock(target, w->win));
        }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, mtest_rank, 0, w->win));
    memcpy(&mine, w->base + at, sizeof mine);
    CHECK_OK(MPI_Win_unlock(mtest_rank, w->win));
    sum = mine;
    CHECK_OK(MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    CHECK(mtest_size == 1 || all == ROUNDS * (mtest_size + mtest_size / 2));
}

/* While rank 1 is in MPI_Win_lock_all() and has accessed rank 0, no rank gets an exclusive lock there. */
static void all_excludes(const struct window *w)
{
    enum { GO = 7, DONE = 8 };
    int value = 1, got = -1, early = 0;
    MPI_Aint at = (MPI_Aint)((WORDS + 2) * sizeof(int));
    MPI_Status status;
    if (mtest_rank == 0)
        memset(w->base + at, 0, sizeof value);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mtest_rank == 0 && mtest_size > 1) {
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 1, GO, MPI_COMM_WORLD, &status));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, 0, w->offset[0] + at, 1, MPI_INT, w->win));
        CHECK_OK(MPI_Win_unlock(0, w->win));
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, DONE, MPI_COMM_WORLD));
    } else if (mtest_rank == 1) {
        CHECK_OK(MPI_Win_lock_all(0, w->win));
        CHECK_OK(MPI_Get(&got, 1, MPI_INT, 0, w->offset[0] + at, 1, MPI_INT, w->win));
        CHECK_OK(MPI_Win_flush(0, w->win));
        CHECK(got == 0);
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, GO, MPI_COMM_WORLD));
        for (double end = MPI_Wtime() + 0.02; MPI_Wtime() < end && !early;)
            CHECK_OK(MPI_Iprobe(0, DONE, MPI_COMM_WORLD, &early, &status));
        CHECK(!early);
        CHECK_OK(MPI_Get(&got, 1, MPI_INT, 0, w->offset[0] + at, 1, MPI_INT, w->win));
        CHECK_OK(MPI_Win_unlock_all(w->win));
        CHECK(got == 0);
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, DONE, MPI_COMM_WORLD, &status));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* To give one of two locks back does not end the epoch of the other. */
static void one_of_two(const struct window *w)
{
    int other = (mtest_rank + 1) % mtest_size, value = -1;
    if (mtest_size == 1)
        return;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, mtest_rank, 0, w->win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, w->win));
    CHECK_OK(MPI_Win_unlock(mtest_rank, w->win));
    CHECK_OK(MPI_Get(&value, 1, MPI_INT, other, w->offset[other], 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush_all(w->win));
    CHECK_CLASS(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock(other, w->win));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_open(kind, MPI_COMM_WORLD, (MPI_Aint)((WORDS + 4) * sizeof(int)));
        counter(&w, kind % mtest_size);
        own(&w);
        several(&w);
        flushed(&w);
        all_and_one(&w);
        all_and_several(&w);
        crosswise(&w);
        all_excludes(&w);
        one_of_two(&w);
        window_close(&w, MPI_COMM_WORLD);
        w = window_open(kind, MPI_COMM_WORLD, (MPI_Aint)(LONG * sizeof(int)));
        long_reads(&w);
        long_reads_completed(&w);
        window_close(&w, MPI_COMM_WORLD);
    }
    MTEST_END;
}
