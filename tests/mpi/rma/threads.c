/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads: each fences a window of its own, and all use one shared window at once, with operations of all kinds and
 * flushes, in one epoch of MPI_Win_lock_all. Each creates and frees windows on a communicator of its own. */
/* seconds: 300 */
#include <pthread.h>
#include <stdint.h>

#include "rma.h"

enum { THREADS = 3, ROUNDS = 40, WORDS = 60 };

static struct window shared, own[THREADS];
static MPI_Comm comms[THREADS];

static void *fences(void *argument)
{
    int thread = (int)(intptr_t)argument, next = (mtest_rank + 1) % mtest_size;
    int last = (mtest_rank + mtest_size - 1) % mtest_size, words[WORDS], got[WORDS], *base;
    const struct window *w = &own[thread];
    base = (int *)(void *)w->base;
    for (int round = 0; round < ROUNDS / 4; round++) {
        for (int i = 0; i < WORDS; i++)
            words[i] = thread * 10000 + round * 100 + mtest_rank + i;
        CHECK_OK(MPI_Win_fence(0, w->win));
        CHECK_OK(MPI_Put(words, WORDS, MPI_INT, next, w->offset[next], WORDS, MPI_INT, w->win));
        CHECK_OK(MPI_Win_fence(0, w->win));
        for (int i = 0; i < WORDS; i++)
            CHECK(base[i] == thread * 10000 + round * 100 + last + i);
        CHECK_OK(MPI_Get(got, WORDS, MPI_INT, next, w->offset[next], WORDS, MPI_INT, w->win));
        CHECK_OK(MPI_Win_fence(0, w->win));
        CHECK(memcmp(got, words, sizeof words) == 0);
    }
    return NULL;
}

/* Each thread writes its own part of the next rank's memory; all threads add to the first word. */
static void *flushes(void *argument)
{
    int thread = (int)(intptr_t)argument, next = (mtest_rank + 1) % mtest_size;
    int64_t words[WORDS], got[WORDS], one = 1, before, last_seen = -1;
    MPI_Aint at = shared.offset[next] + 8 * (1 + thread * WORDS);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        for (int i = 0; i < WORDS; i++)
            words[i] = thread * 10000 + round * 100 + i;
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, shared.offset[0], MPI_SUM, shared.win));
        CHECK_OK(MPI_Rput(words, WORDS, MPI_INT64_T, next, at, WORDS, MPI_INT64_T, shared.win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Win_flush(next, shared.win));
        CHECK_OK(MPI_Rget(got, WORDS, MPI_INT64_T, next, at, WORDS, MPI_INT64_T, shared.win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(memcmp(got, words, sizeof words) == 0);
        CHECK_OK(MPI_Win_flush(0, shared.win));
        CHECK(before > last_seen);
        last_seen = before;
    }
    return NULL;
}

/* Exclusive locks at all ranks in turn, of a window that only this thread uses. */
static void *locks(void *argument)
{
    int thread = (int)(intptr_t)argument, value;
    const struct window *w = &own[thread];
    for (int round = 0; round < ROUNDS / 2; round++) {
        int target = (round + mtest_rank) % mtest_size;
        MPI_Aint at = w->offset[target] + 8 * WORDS;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
        CHECK_OK(MPI_Get(&value, 1, MPI_INT, target, at, 1, MPI_INT, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        value++;
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, target, at, 1, MPI_INT, w->win));
        CHECK_OK(MPI_Win_unlock(target, w->win));
    }
    return NULL;
}

static void *creates(void *argument)
{
    int thread = (int)(intptr_t)argument, next = (mtest_rank + 1) % mtest_size;
    int last = (mtest_rank + mtest_size - 1) % mtest_size;
    for (int round = 0; round < ROUNDS; round++) {
        struct window w = window_open((thread + round) % WINDOW_KINDS, comms[thread], round % 3 ? 64 : 9000);
        int value = thread * 10000 + round * 100 + mtest_rank;
        CHECK_OK(MPI_Win_fence(0, w.win));
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, w.offset[next] + 4 * thread, 1, MPI_INT, w.win));
        CHECK_OK(MPI_Win_fence(0, w.win));
        CHECK(((int *)(void *)w.base)[thread] == value - mtest_rank + last);
        window_close(&w, comms[thread]);
    }
    return NULL;
}

static void in_threads(void *(*run)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    if (mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE) {
        printf("no threads here\n");
        MPI_Finalize();
        return 77;
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    in_threads(creates);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        int64_t count = 0;
        shared = window_open(kind, MPI_COMM_WORLD, 8 * (1 + THREADS * WORDS));
        for (int i = 0; i < THREADS; i++)
            own[i] = window_open((kind + i) % WINDOW_KINDS, MPI_COMM_WORLD, 8 * (WORDS + 1));
        in_threads(fences);
        in_threads(locks);
        for (int i = 0, sum = 0; i < THREADS; i++, sum = 0) {
            int mine;
            CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, mtest_rank, 0, own[i].win));
            memcpy(&mine, own[i].base + 8 * WORDS, sizeof mine);
            CHECK_OK(MPI_Win_unlock(mtest_rank, own[i].win));
            CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            CHECK(sum == ROUNDS / 2 * mtest_size);
        }
        CHECK_OK(MPI_Win_lock_all(0, shared.win));
        in_threads(flushes);
        CHECK_OK(MPI_Fetch_and_op(NULL, &count, MPI_INT64_T, 0, shared.offset[0], MPI_NO_OP, shared.win));
        CHECK_OK(MPI_Win_flush(0, shared.win));
        CHECK(count == (int64_t)THREADS * ROUNDS * mtest_size);
        CHECK_OK(MPI_Win_unlock_all(shared.win));
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < THREADS; i++)
            window_close(&own[i], MPI_COMM_WORLD);
        window_close(&shared, MPI_COMM_WORLD);
    }
    MTEST_END;
}
