/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations with requests: many at once, completed by every completion function, beside messages; of all sizes; to
 * MPI_PROC_NULL. */
#include <stdint.h>

#include "pattern.h"
#include "rma.h"

enum { MANY = 120, CHUNK = 200, BYTES = MANY * CHUNK, LARGE = 300000 };

static void puts_and_gets(const struct window *w)
{
    static unsigned char out[BYTES], in[BYTES];
    MPI_Request requests[MANY];
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    int left, wrong = 0, done[MANY];
    MPI_Aint at = w->offset[next];
    MPI_Status statuses[MANY];
    pattern_fill(out, BYTES, (uint64_t)mtest_rank);
    for (int i = 0; i < MANY; i++)
        CHECK_OK(
            MPI_Rput(out + i * CHUNK, CHUNK, MPI_BYTE, next, at + i * CHUNK, CHUNK, MPI_BYTE, w->win, &requests[i]));
    CHECK_OK(MPI_Waitall(MANY, requests, statuses));
    memset(out, 0, BYTES); /* the buffer may be reused */
    for (int i = 0; i < MANY; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Win_flush(next, w->win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_sync(w->win));
    CHECK(pattern_holds(w->base, BYTES, (uint64_t)last));

    memset(in, 0, BYTES);
    for (int i = 0; i < MANY; i++)
        CHECK_OK(
            MPI_Rget(in + i * CHUNK, CHUNK, MPI_BYTE, next, at + i * CHUNK, CHUNK, MPI_BYTE, w->win, &requests[i]));
    for (left = MANY; left > 0;) {
        int count = 0;
        CHECK_OK(MPI_Waitsome(MANY, requests, &count, done, statuses));
        for (int i = 0; i < count; i++) /* the data has come when the request completes */
            for (int b = done[i] * CHUNK; b < (done[i] + 1) * CHUNK; b++)
                wrong += in[b] != pattern_byte((uint64_t)mtest_rank, (size_t)b);
        left -= count;
    }
    CHECK(wrong == 0);
    CHECK(pattern_holds(in, BYTES, (uint64_t)mtest_rank));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void accumulates(const struct window *w)
{
    int64_t values[MANY], before[MANY], *there = (void *)w->base, target = (mtest_rank + 1) % mtest_size;
    MPI_Request requests[MANY];
    MPI_Aint at = w->offset[target];
    memset(w->base, 0, MANY * sizeof(int64_t));
    CHECK_OK(MPI_Win_sync(w->win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++)
        values[i] = i + mtest_rank;
    for (int i = 0; i < MANY; i++)
        if (i % 2)
            CHECK_OK(MPI_Raccumulate(&values[i], 1, MPI_INT64_T, (int)target, at + 8 * i, 1, MPI_INT64_T, MPI_SUM,
                                     w->win, &requests[i]));
        else
            CHECK_OK(MPI_Rget_accumulate(&values[i], 1, MPI_INT64_T, &before[i], 1, MPI_INT64_T, (int)target,
                                         at + 8 * i, 1, MPI_INT64_T, MPI_REPLACE, w->win, &requests[i]));
    for (int i = 0; i < MANY; i++) {
        int flag = 0, index;
        if (i % 3 == 0) {
            while (!flag)
                CHECK_OK(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
        } else if (i % 3 == 1) {
            CHECK_OK(MPI_Waitany(1, &requests[i], &index, MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        }
    }
    for (int i = 0; i < MANY; i += 2)
        CHECK(before[i] == 0);
    CHECK_OK(MPI_Win_flush_all(w->win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_sync(w->win));
    for (int i = 0; i < MANY; i++)
        CHECK(there[i] == i + (mtest_rank + mtest_size - 1) % mtest_size);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Long operations, beside messages of a communicator. */
static void beside_messages(const struct window *w)
{
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    unsigned char *out = malloc(LARGE), *in = malloc(LARGE), *message = malloc(LARGE), *came = malloc(LARGE);
    MPI_Request requests[4];
    MPI_Status statuses[4];
    pattern_fill(out, LARGE, (uint64_t)(mtest_rank + 50));
    pattern_fill(message, LARGE, (uint64_t)(mtest_rank + 90));
    CHECK_OK(MPI_Rput(out, LARGE, MPI_BYTE, next, w->offset[next], LARGE, MPI_BYTE, w->win, &requests[0]));
    CHECK_OK(MPI_Irecv(came, LARGE, MPI_BYTE, last, 5, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Isend(message, LARGE, MPI_BYTE, next, 5, MPI_COMM_WORLD, &requests[2]));
    CHECK_OK(MPI_Win_flush(next, w->win));
    CHECK_OK(MPI_Rget(in, LARGE, MPI_BYTE, next, w->offset[next], LARGE, MPI_BYTE, w->win, &requests[3]));
    CHECK_OK(MPI_Waitall(4, requests, statuses));
    CHECK(pattern_holds(in, LARGE, (uint64_t)(mtest_rank + 50)));
    CHECK(pattern_holds(came, LARGE, (uint64_t)(last + 90)));
    MPI_Barrier(MPI_COMM_WORLD);
    free(out);
    free(in);
    free(message);
    free(came);
}

static void to_proc_null(const struct window *w)
{
    int value = 17, before = 18;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    CHECK_OK(MPI_Rput(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &requests[0]));
    CHECK_OK(MPI_Rget(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &requests[1]));
    CHECK_OK(MPI_Raccumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win, &requests[2]));
    CHECK_OK(MPI_Rget_accumulate(&value, 1, MPI_INT, &before, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win,
                                 &requests[3]));
    CHECK_OK(MPI_Waitall(4, requests, statuses));
    CHECK(value == 17 && before == 18);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_open(kind, MPI_COMM_WORLD, LARGE + 8);
        CHECK_OK(MPI_Win_lock_all(0, w.win));
        puts_and_gets(&w);
        accumulates(&w);
        beside_messages(&w);
        to_proc_null(&w);
        CHECK_OK(MPI_Win_unlock_all(w.win));
        window_close(&w, MPI_COMM_WORLD);
    }
    MTEST_END;
}
