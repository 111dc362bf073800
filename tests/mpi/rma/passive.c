/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 */
/*
 * Passive targets are passive: the other ranks access the memory of rank 0 while it polls, outside MPI, a plain flag
 * there. On the message path it would poll for ever, so the test skips that path unless it has a progress thread.
 */
#include "rma.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WORDS = 100, LONG = 50000, FLAG = 0, SUM = 1, SEEN = 2, FIRST = 8, BYTES = (FIRST + WORDS + LONG) * 8 };

static volatile int64_t *memory; /* of rank 0, at rank 0 */

/* The operations of one rank between lock and unlock: puts, strided and long ones, sums, and a get of other parts. */
static void act(const struct window *w, int type)
{
    static int64_t words[WORDS], many[LONG], back[WORDS];
    MPI_Datatype strided;
    int64_t one = 1, before = -1, offset = w->offset[0];
    for (int i = 0; i < WORDS; i++)
        words[i] = mtest_rank * 1000 + i;
    for (int i = 0; i < LONG; i++)
        many[i] = i;
    CHECK_OK(MPI_Type_vector(WORDS / 2, 1, 2, MPI_INT64_T, &strided));
    CHECK_OK(MPI_Type_commit(&strided));
    CHECK_OK(MPI_Win_lock(type, 0, 0, w->win));
    if (type == MPI_LOCK_EXCLUSIVE) {
        CHECK_OK(MPI_Put(words, WORDS, MPI_INT64_T, 0, offset + FIRST * 8, WORDS, MPI_INT64_T, w->win));
        CHECK_OK(MPI_Win_flush(0, w->win));
        CHECK_OK(MPI_Put(words, WORDS / 2, MPI_INT64_T, 0, offset + FIRST * 8, 1, strided, w->win));
        CHECK_OK(MPI_Put(many, LONG, MPI_INT64_T, 0, offset + (FIRST + WORDS) * 8, LONG, MPI_INT64_T, w->win));
        CHECK_OK(MPI_Win_flush_local(0, w->win));
        CHECK_OK(MPI_Win_flush(0, w->win)); /* a get may pass puts */
        CHECK_OK(MPI_Get(back, WORDS, MPI_INT64_T, 0, offset + FIRST * 8, WORDS, MPI_INT64_T, w->win));
        CHECK_OK(MPI_Win_flush(0, w->win));
        for (int i = 0; i < WORDS; i++)
            CHECK(back[i] == (i % 2 ? words[i] : words[i / 2]));
    }
    CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, offset + SUM * 8, MPI_SUM, w->win));
    CHECK_OK(MPI_Win_unlock(0, w->win));
    CHECK(before >= 0 && before < 2 * mtest_size);
    CHECK_OK(MPI_Type_free(&strided));
}

/* The last rank sets the flag. */
static void set_flag(const struct window *w)
{
    int64_t one = 1, others = mtest_size - 1, before = -1, flag = 77;
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPI_Get_accumulate(&one, 1, MPI_INT64_T, &before, 1, MPI_INT64_T, 0, w->offset[0] + SEEN * 8, 1,
                                MPI_INT64_T, MPI_SUM, w->win));
    CHECK_OK(MPI_Win_flush(0, w->win));
    if (before == others - 1) {
        int64_t none = 0, was = -1;
        CHECK_OK(MPI_Compare_and_swap(&flag, &none, &was, MPI_INT64_T, 0, w->offset[0] + FLAG * 8, w->win));
        CHECK_OK(MPI_Win_flush(0, w->win));
        CHECK(was == 0);
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

static void run(int kind)
{
    struct window w = window_open(kind, MPI_COMM_WORLD, BYTES);
    memory = (volatile int64_t *)w.base;
    if (mtest_rank == 0) {
        while (memory[FLAG] != 77)
            sched_yield();
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        CHECK(memory[SUM] == 2 * (mtest_size - 1) && memory[SEEN] == mtest_size - 1);
        CHECK(memory[FIRST + WORDS + LONG - 1] == LONG - 1 && memory[FIRST + WORDS + 1] == 1);
        int64_t origin = memory[FIRST] / 1000;
        CHECK(origin > 0 && origin < mtest_size);
        for (int i = 0; i < WORDS; i++)
            CHECK(memory[FIRST + i] == origin * 1000 + (i % 2 ? i : i / 2));
        CHECK_OK(MPI_Win_unlock(0, w.win));
    } else {
        act(&w, MPI_LOCK_EXCLUSIVE);
        act(&w, MPI_LOCK_SHARED);
        set_flag(&w);
    }
    window_close(&w, MPI_COMM_WORLD);
}

/* The target unmaps memory of an existing window: the origin gets an error, and both processes go on. */
static void gone(void)
{
    enum { CHUNK = 1 << 16 };
    static char data[CHUNK];
    char *base = mmap(NULL, 2 * CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Win win;
    CHECK(base != MAP_FAILED);
    CHECK_OK(MPI_Win_create(base, 2 * CHUNK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    if (mtest_rank == 0)
        munmap(base + CHUNK, CHUNK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mtest_rank == 0) {
        while (*(volatile char *)base != mtest_size - 1)
            sched_yield();
    } else {
        char text[MPI_MAX_ERROR_STRING];
        int length, one = 1;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        CHECK_OK(MPI_Put(data, 1, MPI_BYTE, 0, 8, 1, MPI_BYTE, win));
        CHECK_OK(MPI_Put(data, 8, MPI_BYTE, 0, CHUNK + 16, 8, MPI_BYTE, win));
        int failed = MPI_Win_flush(0, win);
        CHECK_CLASS(failed, MPI_ERR_RMA_RANGE);
        CHECK_OK(MPI_Error_string(failed, text, &length));
        CHECK(strstr(text, "MPI_Win_flush") && strstr(text, "target_disp 65552 of rank 0"));
        CHECK_OK(MPI_Win_flush(0, win)); /* reported once */
        CHECK_OK(MPI_Get(data, CHUNK, MPI_BYTE, 0, CHUNK / 2, CHUNK, MPI_BYTE, win));
        CHECK_CLASS(MPI_Win_flush(0, win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Accumulate(&one, 1, MPI_INT, 0, CHUNK, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE);
        CHECK_OK(MPI_Accumulate(&(char){ 1 }, 1, MPI_SIGNED_CHAR, 0, 0, 1, MPI_SIGNED_CHAR, MPI_SUM, win));
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    CHECK_OK(MPI_Win_free(&win));
    munmap(base, mtest_rank == 0 ? CHUNK : 2 * CHUNK);
}

/* Does the kernel let all other ranks copy from and to the memory of rank 0, and do windows use CMA? */
static int is_reached(void)
{
    static int64_t word;
    int64_t copy, who[2] = { (int64_t)getpid(), (int64_t)(intptr_t)&word };
    int own = !window_by_messages(), all = 0;
    struct iovec near = { &copy, sizeof copy };
    CHECK_OK(MPI_Bcast(who, 2, MPI_INT64_T, 0, MPI_COMM_WORLD));
    struct iovec far = { (void *)(intptr_t)who[1], sizeof word };
    if (mtest_rank > 0 && process_vm_readv((pid_t)who[0], &near, 1, &far, 1, 0) != sizeof word)
        own = 0;
    CHECK_OK(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (!all && mtest_rank == 0)
        printf("memory of MPI_Win_create needs the target's progress here\n");
    return all;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    const char *progress = getenv("PLENUM_PROGRESS");
    int by_cma = is_reached(), served = progress && strcmp(progress, "thread") == 0;
    if (!served && !window_can_share(MPI_COMM_WORLD)) {
        if (mtest_rank == 0)
            printf("the target has to make progress without shared memory\n");
        MPI_Finalize();
        return 77;
    }
    for (int kind = 0; kind < WINDOW_KINDS; kind++)
        if (kind == WINDOW_ALLOCATED || kind == WINDOW_SHARED || by_cma || served)
            run(kind);
    if (by_cma)
        gone();
    MTEST_END;
}
