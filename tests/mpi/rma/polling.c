/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/*
 * A rank polls a word of its own memory by one kind of call alone. Each kind makes progress, so the word that another
 * rank adds to, where that is a message, arrives.
 */
#include "rma.h"

enum { WORD = 0, OTHER = 1, BYTES = 2 * 8, READY = 6 };

struct reader {
    const struct window *w;
    MPI_Request never; /* no message comes */
};

static MPI_Aint offset_of(const struct window *w, int word)
{
    return w->offset[mtest_rank] + word * 8;
}

static int64_t by_rget(struct reader *r)
{
    int64_t value = -1;
    MPI_Request request;
    CHECK_OK(MPI_Rget(&value, 1, MPI_INT64_T, mtest_rank, offset_of(r->w, WORD), 1, MPI_INT64_T, r->w->win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return value;
}

static int64_t by_rget_accumulate(struct reader *r)
{
    int64_t value = -1;
    MPI_Request request;
    int flag = 0;
    CHECK_OK(MPI_Rget_accumulate(NULL, 0, MPI_INT64_T, &value, 1, MPI_INT64_T, mtest_rank, offset_of(r->w, WORD), 1,
                                 MPI_INT64_T, MPI_NO_OP, r->w->win, &request));
    while (!flag)
        CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    return value;
}

/* The word itself, after an operation with a request that is complete at once. */
static int64_t by_rput(struct reader *r)
{
    int64_t value = 5;
    MPI_Request request;
    CHECK_OK(MPI_Rput(&value, 1, MPI_INT64_T, mtest_rank, offset_of(r->w, OTHER), 1, MPI_INT64_T, r->w->win, &request));
    CHECK_OK(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
    return *(volatile int64_t *)r->w->base;
}

static int64_t by_raccumulate_to_none(struct reader *r)
{
    int64_t value = 5;
    MPI_Request request;
    CHECK_OK(MPI_Raccumulate(&value, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, MPI_SUM, r->w->win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return *(volatile int64_t *)r->w->base;
}

static int64_t by_fetch(struct reader *r)
{
    int64_t value = -1;
    CHECK_OK(MPI_Fetch_and_op(NULL, &value, MPI_INT64_T, mtest_rank, offset_of(r->w, WORD), MPI_NO_OP, r->w->win));
    CHECK_OK(MPI_Win_flush(mtest_rank, r->w->win));
    return value;
}

static int64_t by_swap(struct reader *r)
{
    int64_t value = -1, zero = 0;
    CHECK_OK(MPI_Compare_and_swap(&zero, &zero, &value, MPI_INT64_T, mtest_rank, offset_of(r->w, WORD), r->w->win));
    CHECK_OK(MPI_Win_flush_all(r->w->win));
    return value;
}

static int64_t by_get(struct reader *r)
{
    int64_t value = -1;
    CHECK_OK(MPI_Get(&value, 1, MPI_INT64_T, mtest_rank, offset_of(r->w, WORD), 1, MPI_INT64_T, r->w->win));
    CHECK_OK(MPI_Win_flush_local(mtest_rank, r->w->win));
    return value;
}

static int64_t by_get_all(struct reader *r)
{
    int64_t value = -1;
    CHECK_OK(MPI_Get(&value, 1, MPI_INT64_T, mtest_rank, offset_of(r->w, WORD), 1, MPI_INT64_T, r->w->win));
    CHECK_OK(MPI_Win_flush_local_all(r->w->win));
    return value;
}

static int64_t by_sync(struct reader *r)
{
    CHECK_OK(MPI_Win_sync(r->w->win));
    return *(volatile int64_t *)r->w->base;
}

static int64_t by_test(struct reader *r)
{
    int flag = 1;
    CHECK_OK(MPI_Test(&r->never, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    return *(volatile int64_t *)r->w->base;
}

static int64_t by_probe(struct reader *r)
{
    int flag = 1;
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, READY + 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    return *(volatile int64_t *)r->w->base;
}

/* Outside the epoch of the others. */
static int64_t by_lock(struct reader *r)
{
    int64_t value = -1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, mtest_rank, 0, r->w->win));
    CHECK_OK(MPI_Get(&value, 1, MPI_INT64_T, mtest_rank, offset_of(r->w, WORD), 1, MPI_INT64_T, r->w->win));
    CHECK_OK(MPI_Win_unlock(mtest_rank, r->w->win));
    return value;
}

static int64_t by_lock_all(struct reader *r)
{
    int64_t value = -1;
    CHECK_OK(MPI_Win_lock_all(0, r->w->win));
    CHECK_OK(MPI_Get(&value, 1, MPI_INT64_T, mtest_rank, offset_of(r->w, WORD), 1, MPI_INT64_T, r->w->win));
    CHECK_OK(MPI_Win_unlock_all(r->w->win));
    return value;
}

static const struct {
    int64_t (*read)(struct reader *r);
    int locked; /* within MPI_Win_lock_all */
} readers[] = {
    { by_rget, 1 },     { by_rget_accumulate, 1 },
    { by_rput, 1 },     { by_raccumulate_to_none, 1 },
    { by_fetch, 1 },    { by_swap, 1 },
    { by_get, 1 },      { by_get_all, 1 },
    { by_sync, 1 },     { by_test, 1 },
    { by_probe, 1 },    { by_lock, 0 },
    { by_lock_all, 0 },
};

static void read_until_added(const struct window *w, int kind)
{
    struct reader r = { .w = w };
    *(volatile int64_t *)w->base = 0;
    CHECK_OK(MPI_Irecv(NULL, 0, MPI_BYTE, 1, READY + 2, MPI_COMM_WORLD, &r.never));
    if (readers[kind].locked)
        CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPI_Win_sync(w->win));
    CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, READY, MPI_COMM_WORLD));
    while (readers[kind].read(&r) != 7 + kind)
        ;
    if (readers[kind].locked)
        CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_OK(MPI_Cancel(&r.never));
    CHECK_OK(MPI_Wait(&r.never, MPI_STATUS_IGNORE));
}

static void add(const struct window *w, int kind)
{
    int64_t value = 7 + kind;
    CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    CHECK_OK(MPI_Accumulate(&value, 1, MPI_INT64_T, 0, w->offset[0], 1, MPI_INT64_T, MPI_SUM, w->win));
    CHECK_OK(MPI_Win_unlock(0, w->win));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_open(kind, MPI_COMM_WORLD, BYTES);
        for (int i = 0; i < (int)(sizeof readers / sizeof readers[0]); i++) {
            if (mtest_rank == 0)
                read_until_added(&w, i);
            else if (mtest_rank == 1)
                add(&w, i);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        window_close(&w, MPI_COMM_WORLD);
    }
    MTEST_END;
}
