/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A progress thread serves the other ranks while this one does not call MPI: passive targets, long messages and
 * nonblocking collectives. Rank 0 starts its part, then sleeps outside MPI until the others have finished theirs, which
 * they say in memory of the test. Without progress at rank 0 each part would hang. The thread level stays what the
 * program asked for, and the program's functions run on its own thread.
 */
/* seconds: 300 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../rma/rma.h"
#include "pattern.h"
#include "progress.h"

enum { WORDS = 64, LONG = 1 << 20, EACH = 1 << 17 };

static _Atomic int *finished; /* parts that other ranks have finished, in memory that all ranks map */
static int parts;
static pthread_t program;

/* Rank 0 makes the memory, and the others map it by its name in /proc. */
static void share_memory(void)
{
    int64_t where[2] = { getpid(), -1 };
    char path[64];
    if (mtest_rank == 0)
        where[1] = memfd_create("progress", MFD_CLOEXEC);
    if (mtest_rank == 0)
        CHECK(ftruncate((int)where[1], sizeof *finished) == 0);
    CHECK_OK(MPI_Bcast(where, 2, MPI_INT64_T, 0, MPI_COMM_WORLD));
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)where[0], (int)where[1]);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    finished = mmap(NULL, sizeof *finished, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(fd >= 0 && finished != MAP_FAILED);
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mtest_rank == 0)
        close((int)where[1]);
}

/* Rank 0 does not call MPI until all others have finished this part. */
static void finish_part(void)
{
    parts++;
    if (mtest_rank > 0)
        atomic_fetch_add(finished, 1);
    while (mtest_rank == 0 && atomic_load(finished) < parts * (mtest_size - 1))
        usleep(1000);
}

static void use_window(const struct window *w)
{
    int64_t words[WORDS], back[WORDS], one = 1, none = 0, mine = mtest_rank, before = -1, was = -1;
    MPI_Aint own = w->offset[0] + (MPI_Aint)sizeof words * mtest_rank;
    for (int i = 0; i < WORDS; i++)
        words[i] = mtest_rank * 1000 + i;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
    CHECK_OK(MPI_Put(words, WORDS, MPI_INT64_T, 0, own, WORDS, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_flush(0, w->win));
    CHECK_OK(MPI_Get(back, WORDS, MPI_INT64_T, 0, own, WORDS, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, w->offset[0], MPI_SUM, w->win));
    CHECK_OK(MPI_Win_unlock(0, w->win));
    CHECK(memcmp(words, back, sizeof words) == 0);
    CHECK(before >= 0 && before < mtest_size - 1);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    CHECK_OK(MPI_Accumulate(words, WORDS, MPI_INT64_T, 0, own, WORDS, MPI_INT64_T, MPI_SUM, w->win));
    CHECK_OK(MPI_Compare_and_swap(&mine, &none, &was, MPI_INT64_T, 0, w->offset[0] + 8, w->win));
    CHECK_OK(MPI_Win_unlock(0, w->win));
    CHECK(was >= 0 && was < mtest_size);
}

static void passive_target(int kind)
{
    struct window w = window_open(kind, MPI_COMM_WORLD, (MPI_Aint)(8 * WORDS * (mtest_size + 1)));
    if (mtest_rank > 0)
        use_window(&w);
    finish_part();
    if (mtest_rank == 0 && mtest_size > 1) {
        const int64_t *memory = (const void *)w.base;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        CHECK(memory[0] == mtest_size - 1 && memory[1] > 0);
        for (int r = 1; r < mtest_size; r++)
            for (int i = 0; i < WORDS; i++)
                CHECK(memory[r * WORDS + i] == 2 * (r * 1000 + i));
        CHECK_OK(MPI_Win_unlock(0, w.win));
    }
    window_close(&w, MPI_COMM_WORLD);
}

/* Messages by rendezvous, both ways. */
static void long_messages(void)
{
    unsigned char *out = malloc(LONG), *in = malloc((size_t)LONG * (size_t)mtest_size);
    MPI_Request *requests = malloc(sizeof(MPI_Request) * 2 * (size_t)mtest_size);
    int count = 0;
    pattern_fill(out, LONG, (uint64_t)mtest_rank);
    for (int r = mtest_rank == 0 ? 1 : 0; r < (mtest_rank == 0 ? mtest_size : 1); r++) {
        CHECK_OK(MPI_Irecv(in + (size_t)r * LONG, LONG, MPI_BYTE, r, 1, MPI_COMM_WORLD, &requests[count++]));
        CHECK_OK(MPI_Isend(out, LONG, MPI_BYTE, r, 1, MPI_COMM_WORLD, &requests[count++]));
    }
    if (mtest_rank > 0)
        CHECK_OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    finish_part();
    if (mtest_rank == 0)
        CHECK_OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    for (int r = mtest_rank == 0 ? 1 : 0; r < (mtest_rank == 0 ? mtest_size : 1); r++)
        CHECK(pattern_holds(in + (size_t)r * LONG, LONG, (uint64_t)r));
    free(requests);
    free(in);
    free(out);
}

static void wait_unless_first(MPI_Request *request)
{
    if (mtest_rank > 0)
        CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    finish_part();
    if (mtest_rank == 0)
        CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

/* Other ranks need not only what rank 0 has sent at the start, but what it passes on. */
static void collectives(void)
{
    MPI_Request request;
    size_t bytes = (size_t)EACH * (size_t)mtest_size;
    unsigned char *out = malloc(bytes), *in = malloc(bytes);
    for (int r = 0; r < mtest_size; r++)
        pattern_fill(out + (size_t)r * EACH, EACH, (uint64_t)(mtest_rank * 100 + r));
    CHECK_OK(MPI_Ialltoall(out, EACH, MPI_BYTE, in, EACH, MPI_BYTE, MPI_COMM_WORLD, &request));
    wait_unless_first(&request);
    for (int r = 0; r < mtest_size; r++)
        CHECK(pattern_holds(in + (size_t)r * EACH, EACH, (uint64_t)(r * 100 + mtest_rank)));

    int64_t *values = (int64_t *)(void *)out, *sums = (int64_t *)(void *)in;
    for (int i = 0; i < EACH / 8; i++)
        values[i] = mtest_rank + i;
    CHECK_OK(MPI_Iallreduce(values, sums, EACH / 8, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request));
    wait_unless_first(&request);
    for (int i = 0; i < EACH / 8; i++)
        CHECK(sums[i] == (int64_t)mtest_size * i + mtest_size * (mtest_size - 1) / 2);

    int root = mtest_size - 1;
    pattern_fill(in, EACH, mtest_rank == root ? 5 : 6);
    CHECK_OK(MPI_Ibcast(in, EACH, MPI_BYTE, root, MPI_COMM_WORLD, &request));
    wait_unless_first(&request);
    CHECK(pattern_holds(in, EACH, 5));
    CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    wait_unless_first(&request);
    free(in);
    free(out);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    CHECK(pthread_equal(pthread_self(), program));
    for (int i = 0; i < *count; i++)
        ((int64_t *)inout)[i] += ((int64_t *)in)[i];
}

/* The messages arrive while the program sleeps, and its operation waits until it calls MPI. */
static void operation_of_program(void)
{
    MPI_Op op;
    CHECK_OK(MPI_Op_create(add, 1, &op));
    for (int round = 0; round < 20; round++) {
        MPI_Request request;
        int64_t sums[2] = { -1, -1 };
        CHECK_OK(MPI_Iallreduce((int64_t[]){ mtest_rank, round }, sums, 2, MPI_INT64_T, op, MPI_COMM_WORLD, &request));
        if (round % mtest_size == mtest_rank)
            usleep(5000);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(sums[0] == mtest_size * (mtest_size - 1) / 2 && sums[1] == (int64_t)mtest_size * round);
    }
    CHECK_OK(MPI_Op_free(&op));
}

/* Both are in MPI now and then, and wait for each other in short and long waits. */
static void beside_blocking(void)
{
    int right = (mtest_rank + 1) % mtest_size, left = (mtest_rank + mtest_size - 1) % mtest_size;
    for (int round = 0; round < 300; round++) {
        int out = mtest_rank * 1000 + round, in = -1, sum = -1;
        if (round % 50 == mtest_rank)
            usleep(3000);
        CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, right, 2, &in, 1, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(in == left * 1000 + round);
        CHECK_OK(MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(sum == round * mtest_size);
    }
}

int main(int argc, char **argv)
{
    int level = -1;
    setenv("PLENUM_PROGRESS", "thread", 1);
    CHECK(progress_threads() == 0);
    CHECK(mtest_init_thread(&argc, &argv, MPI_THREAD_SINGLE) == MPI_THREAD_SINGLE);
    CHECK_OK(MPI_Query_thread(&level));
    CHECK(level == MPI_THREAD_SINGLE);
    CHECK(progress_threads() == 1);
    program = pthread_self();
    share_memory();
    for (int kind = 0; kind < WINDOW_KINDS; kind++)
        passive_target(kind);
    long_messages();
    collectives();
    operation_of_program();
    beside_blocking();
    munmap(finished, sizeof *finished);
    int result = mtest_end(__FILE__);
    return progress_threads() == 0 ? result : EXIT_FAILURE;
}
