/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided transfers of UCX: puts and gets of every size, with and without requests, in all kinds of epochs. They are
 * mixed with accumulates and data with gaps, which are messages. After windows have come and gone, the process has as
 * many descriptors and mappings as before.
 */
/* seconds: 300 */
#include <stdint.h>

#include "pattern.h"
#include "rma.h"
#include "usage.h"

enum { LARGE = 3 << 20, SUM = LARGE, BYTES = LARGE + 64, WARM_UP = 5, BLOCKS = 3, CYCLES = 20 };

static const int sizes[] = { 1, 8, 1000, 9000, 70000, LARGE };
enum { SIZES = sizeof sizes / sizeof *sizes };

static unsigned char *out, *in;

static int target(void)
{
    return (mtest_rank + 1) % mtest_size;
}

/* What the left neighbor has put here. */
static int origin(void)
{
    return (mtest_rank + mtest_size - 1) % mtest_size;
}

static void check_memory(const struct window *w, int bytes, int seed)
{
    CHECK(pattern_holds(w->base, (size_t)bytes, (uint64_t)(origin() * 100 + seed)));
}

static void fences(const struct window *w)
{
    MPI_Aint at = w->offset[target()];
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < SIZES; i++) {
        int bytes = sizes[i];
        pattern_fill(out, (size_t)bytes, (uint64_t)(mtest_rank * 100 + i));
        CHECK_OK(MPI_Put(out, bytes, MPI_BYTE, target(), at, bytes, MPI_BYTE, w->win));
        CHECK_OK(MPI_Win_fence(0, w->win));
        check_memory(w, bytes, i);
        memset(in, 0, (size_t)bytes);
        CHECK_OK(MPI_Get(in, bytes, MPI_BYTE, target(), at, bytes, MPI_BYTE, w->win));
        CHECK_OK(MPI_Win_fence(0, w->win));
        CHECK(memcmp(in, out, (size_t)bytes) == 0);
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

static void exposed(const struct window *w)
{
    MPI_Group all, to, from;
    int bytes = sizes[3];
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    CHECK_OK(MPI_Group_incl(all, 1, (int[]){ target() }, &to));
    CHECK_OK(MPI_Group_incl(all, 1, (int[]){ origin() }, &from));
    for (int round = 0; round < 10; round++) {
        pattern_fill(out, (size_t)bytes, (uint64_t)(mtest_rank * 100 + round));
        CHECK_OK(MPI_Win_post(from, 0, w->win));
        CHECK_OK(MPI_Win_start(to, 0, w->win));
        CHECK_OK(MPI_Put(out, bytes, MPI_BYTE, target(), w->offset[target()], bytes, MPI_BYTE, w->win));
        CHECK_OK(MPI_Win_complete(w->win));
        CHECK_OK(MPI_Win_wait(w->win));
        check_memory(w, bytes, round);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

/* The exclusive lock protects a sum that each rank reads by a get and writes by a put. */
static void locks(const struct window *w)
{
    enum { ROUNDS = 30 };
    MPI_Aint at = w->offset[0] + SUM;
    MPI_Barrier(MPI_COMM_WORLD);
    if (mtest_rank == 0)
        memset(w->base + SUM, 0, 8);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t sum = -1;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        CHECK_OK(MPI_Get(&sum, 8, MPI_BYTE, 0, at, 8, MPI_BYTE, w->win));
        CHECK_OK(MPI_Win_flush(0, w->win));
        sum++;
        CHECK_OK(MPI_Put(&sum, 8, MPI_BYTE, 0, at, 8, MPI_BYTE, w->win));
        CHECK_OK(MPI_Win_unlock(0, w->win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t sum = -1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    CHECK_OK(MPI_Get(&sum, 8, MPI_BYTE, 0, at, 8, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_unlock(0, w->win));
    CHECK(sum == (int64_t)ROUNDS * mtest_size);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The first operation asks for the lock; requests; flushes of each kind; messages in between. */
static void all_locked(const struct window *w)
{
    MPI_Aint at = w->offset[target()];
    MPI_Datatype gaps;
    int64_t one = 1, before = -1;
    CHECK_OK(MPI_Type_vector(100, 1, 2, MPI_INT64_T, &gaps));
    CHECK_OK(MPI_Type_commit(&gaps));
    memset(w->base + SUM, 0, 8);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int i = 0; i < SIZES; i++) {
        MPI_Request requests[2];
        int bytes = sizes[i];
        pattern_fill(out, (size_t)bytes, (uint64_t)(mtest_rank * 100 + i));
        CHECK_OK(MPI_Rput(out, bytes, MPI_BYTE, target(), at, bytes, MPI_BYTE, w->win, &requests[0]));
        CHECK_OK(MPI_Rget_accumulate(&one, 1, MPI_INT64_T, &before, 1, MPI_INT64_T, target(), at + SUM, 1, MPI_INT64_T,
                                     MPI_SUM, w->win, &requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(before == i);
        CHECK_OK(i % 2 ? MPI_Win_flush(target(), w->win) : MPI_Win_flush_all(w->win));
        memset(in, 0, (size_t)bytes);
        CHECK_OK(MPI_Rget(in, bytes, MPI_BYTE, target(), at, bytes, MPI_BYTE, w->win, &requests[0]));
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        CHECK(memcmp(in, out, (size_t)bytes) == 0);
    }
    memset(in, 0, 1600);
    CHECK_OK(MPI_Get(in, 1, gaps, target(), at, 1, gaps, w->win)); /* with gaps on both sides, then on one */
    CHECK_OK(MPI_Win_flush_local(target(), w->win));
    for (size_t i = 0; i < 1600; i++)
        CHECK(in[i] == (i % 16 < 8 && i < 1592 ? out[i] : 0));
    CHECK_OK(MPI_Get(in, 100, MPI_INT64_T, target(), at, 1, gaps, w->win));
    CHECK_OK(MPI_Win_flush_local_all(w->win));
    for (size_t i = 0; i < 800; i++)
        CHECK(in[i] == out[i / 8 * 16 + i % 8]);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Type_free(&gaps));
}

/* The end of a window is its end here, too. */
static void bounds(const struct window *w)
{
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target(), 0, w->win));
    if (w->kind != WINDOW_DYNAMIC)
        CHECK_CLASS(MPI_Put(out, 2, MPI_BYTE, target(), BYTES - 1, 2, MPI_BYTE, w->win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Get(in, 1, MPI_BYTE, target(), w->offset[target()] + BYTES - 1, 1, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_unlock(target(), w->win));
}

static void cycle(int n)
{
    MPI_Aint bytes = n % 3 == mtest_rank ? 0 : 1 << 16; /* a rank without memory has no key */
    struct window w = window_open(n % 2 ? WINDOW_CREATED : WINDOW_ALLOCATED, MPI_COMM_WORLD, bytes);
    int64_t put = n, got = -1;
    int to = target();
    if (n % 3 != to) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w.win));
        CHECK_OK(MPI_Put(&put, 8, MPI_BYTE, to, 8 * mtest_rank, 8, MPI_BYTE, w.win));
        CHECK_OK(MPI_Win_flush(to, w.win));
        CHECK_OK(MPI_Get(&got, 8, MPI_BYTE, to, 8 * mtest_rank, 8, MPI_BYTE, w.win));
        CHECK_OK(MPI_Win_unlock(to, w.win));
        CHECK(got == n);
    }
    window_close(&w, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    setenv("PLENUM_UCX_RMA", "1", 1);
    MTEST_INIT(argc, argv);
    out = malloc(BYTES);
    in = malloc(BYTES);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_open(kind, MPI_COMM_WORLD, BYTES);
        fences(&w);
        exposed(&w);
        locks(&w);
        all_locked(&w);
        bounds(&w);
        window_close(&w, MPI_COMM_WORLD);
    }
    for (int n = 0; n < WARM_UP; n++)
        cycle(n);
    /* While a rank is late, the next window gets other shared memory, which is kept. Not in every block, though. */
    int grown = CYCLES;
    for (int block = 0; block < BLOCKS; block++) {
        struct usage before = usage_now();
        for (int n = 0; n < CYCLES; n++)
            cycle(n);
        struct usage after = usage_now();
        CHECK(after.descriptors == before.descriptors);
        if (after.mappings - before.mappings < grown)
            grown = after.mappings - before.mappings;
    }
    CHECK(grown <= 2);
    free(in);
    free(out);
    MTEST_END;
}
