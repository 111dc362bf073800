/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows that are made again and again. Their memory is used once more, and must not show what it was used for before.
 * After the first ones they take none of the system calls by which memory is shared. If a rank is late, one more piece
 * of memory is made, and then used again. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rma.h"

enum { ROUNDS = 40, MOST = 12 /* more than are kept for later */, WARM = 3, COUNTED = 30 };

/* --- system calls of the library, which finds these functions before those of libc -------------------------------- */

static int calls;

ssize_t readlink(const char *restrict path, char *restrict target, size_t capacity)
{
    calls++; /* it opens another process's memory next */
    return syscall(SYS_readlinkat, AT_FDCWD, path, target, capacity);
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    calls++;
    return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

static void count_calls(int kind)
{
    for (int i = 0; i < WARM + COUNTED; i++) {
        if (i == WARM)
            calls = 0;
        struct window w = window_open(kind, MPI_COMM_WORLD, 1000);
        CHECK_OK(MPI_Win_fence(0, w.win));
        CHECK_OK(MPI_Win_fence(0, w.win));
        window_close(&w, MPI_COMM_WORLD);
    }
    CHECK(calls < COUNTED * mtest_size / 4); /* each window took two for each rank before */
}

/* --- what is in them ---------------------------------------------------------------------------------------------- */

static void use(const struct window *w, int value)
{
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, one = 1;
    int mine = value * 1000 + mtest_rank, *words = (int *)(void *)w->base;
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Put(&mine, 1, MPI_INT, to, w->offset[to], 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, w->offset[0] + 4, 1, MPI_INT, MPI_SUM, w->win));
    CHECK_OK(MPI_Win_unlock(0, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK(words[0] == value * 1000 + from);
    CHECK(words[1] == (mtest_rank ? 0 : mtest_size));
    CHECK_OK(MPI_Win_fence(0, w->win));
}

/* Several at once, of several sizes, freed in another order. */
static void use_again(void)
{
    struct window w[MOST];
    for (int round = 0; round < ROUNDS; round++) {
        int count = 1 + round % MOST;
        for (int i = 0; i < count; i++)
            w[i] = window_open((round + i) % WINDOW_KINDS, MPI_COMM_WORLD, i % 3 ? 64 : 5000);
        for (int i = 0; i < count; i++)
            use(&w[i], i + round);
        for (int i = 0; i < count; i++)
            window_close(&w[round % 2 ? count - 1 - i : i], MPI_COMM_WORLD);
    }
}

/* A window after many fences has another way to synchronize. */
static void many_fences(void)
{
    struct window w = window_open(WINDOW_CREATED, MPI_COMM_WORLD, 64);
    for (int i = 0; i < 100; i++) {
        int mine = i, to = (mtest_rank + i) % mtest_size;
        CHECK_OK(MPI_Win_fence(0, w.win));
        CHECK_OK(MPI_Put(&mine, 1, MPI_INT, to, 0, 1, MPI_INT, w.win));
        CHECK_OK(MPI_Win_fence(0, w.win));
        CHECK(*(int *)(void *)w.base == i);
    }
    window_close(&w, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    use_again();
    many_fences();
    if (window_can_share(MPI_COMM_WORLD)) {
        count_calls(WINDOW_ALLOCATED);
        count_calls(WINDOW_SHARED);
    }
    if (!window_by_messages()) {
        count_calls(WINDOW_CREATED);
        count_calls(WINDOW_DYNAMIC);
    }
    MTEST_END;
}
