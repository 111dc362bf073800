/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory: the layout of the ranks' parts, and loads and stores beside operations on the same memory. */
#include <stdatomic.h>

#include "rma.h"

enum { WORDS = 1000, ROUNDS = 20 };

static MPI_Comm node;
static int me, ranks;

/* Parts of different sizes; some are empty. */
static MPI_Aint words_of(int rank)
{
    return rank % 3 == 1 ? 0 : WORDS + rank;
}

static void neighbours_are_seen(const char *noncontiguous)
{
    MPI_Info info;
    MPI_Win win;
    int *base = NULL, *first = NULL, unit = 0, lowest = -1;
    MPI_Aint size = -1;
    char *end = NULL;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "alloc_shared_noncontig", noncontiguous));
    CHECK_OK(MPI_Win_allocate_shared(words_of(me) * (MPI_Aint)sizeof(int), sizeof(int), info, node, &base, &win));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    for (MPI_Aint i = 0; i < words_of(me); i++)
        base[i] = me * 10000 + (int)i;
    CHECK_OK(MPI_Win_sync(win));
    MPI_Barrier(node);
    CHECK_OK(MPI_Win_sync(win));
    for (int rank = 0; rank < ranks; rank++) {
        int *there = NULL, wrong = 0;
        CHECK_OK(MPI_Win_shared_query(win, rank, &size, &unit, &there));
        CHECK(size == words_of(rank) * (MPI_Aint)sizeof(int) && unit == sizeof(int));
        if (size == 0)
            continue;
        if (lowest < 0) {
            lowest = rank;
            first = there;
        }
        if (strcmp(noncontiguous, "false") == 0 && end)
            CHECK((char *)there == end);
        end = (char *)there + size;
        if (rank == me)
            CHECK(there == base);
        for (MPI_Aint i = 0; i < words_of(rank); i++)
            wrong += there[i] != rank * 10000 + (int)i;
        CHECK(wrong == 0);
    }
    int *of_null = NULL;
    CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &of_null));
    CHECK(of_null == first && size == words_of(lowest) * (MPI_Aint)sizeof(int) && unit == sizeof(int));
    MPI_Barrier(node);
    /* Stores into the others' parts: a word for each rank. */
    for (int rank = 0; rank < ranks; rank++) {
        int *there = NULL;
        CHECK_OK(MPI_Win_shared_query(win, rank, &size, &unit, &there));
        if (size)
            there[me] = -me;
    }
    CHECK_OK(MPI_Win_sync(win));
    MPI_Barrier(node);
    CHECK_OK(MPI_Win_sync(win));
    for (int rank = 0; rank < ranks && words_of(me); rank++)
        CHECK(base[rank] == -rank);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_free(&win));
}

/* All ranks increment one word, by atomic instructions and by accumulates in turn. */
static void both_ways(void)
{
    MPI_Win win;
    long *base, *word, one = 1, got, before;
    int unit;
    MPI_Aint size;
    CHECK_OK(
        MPI_Win_allocate_shared(me ? 0 : (MPI_Aint)(2 * sizeof(long)), sizeof(long), MPI_INFO_NULL, node, &base, &win));
    CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &word));
    CHECK(size == 2 * sizeof(long));
    CHECK_OK(MPI_Win_lock_all(0, win));
    if (me == 0)
        word[0] = word[1] = 0;
    CHECK_OK(MPI_Win_sync(win));
    MPI_Barrier(node);
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win));
        CHECK_OK(MPI_Win_flush(0, win));
        MPI_Barrier(node);
        CHECK_OK(MPI_Win_sync(win));
        before = atomic_load((_Atomic long *)word);
        CHECK(before == (long)ranks * (2 * round + 1));
        MPI_Barrier(node);
        atomic_fetch_add((_Atomic long *)word, 1);
        CHECK_OK(MPI_Win_sync(win));
        MPI_Barrier(node);
        CHECK_OK(MPI_Fetch_and_op(NULL, &got, MPI_LONG, 0, 0, MPI_NO_OP, win));
        CHECK_OK(MPI_Win_flush(0, win));
        CHECK(got == (long)ranks * 2 * (round + 1));
        MPI_Barrier(node);
    }
    /* All ranks find what rank 0 puts in their memory. */
    if (me == 0) {
        CHECK_OK(MPI_Put(&got, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(0, win));
    }
    MPI_Barrier(node);
    CHECK_OK(MPI_Win_sync(win));
    CHECK(word[1] == (long)ranks * 2 * ROUNDS);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_free(&win));
}

/* A ring of stores, synchronized by fences alone. */
static void fenced(void)
{
    MPI_Win win;
    int *base, *next, unit;
    MPI_Aint size;
    CHECK_OK(MPI_Win_allocate_shared(WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &base, &win));
    CHECK_OK(MPI_Win_shared_query(win, (me + 1) % ranks, &size, &unit, &next));
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(MPI_Win_fence(0, win));
        for (int i = 0; i < WORDS; i++)
            next[i] = me + round * i;
        CHECK_OK(MPI_Win_fence(0, win));
        int wrong = 0, last = (me + ranks - 1) % ranks;
        for (int i = 0; i < WORDS; i++)
            wrong += base[i] != last + round * i;
        CHECK(wrong == 0);
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_OK(MPI_Win_free(&win));
}

#if MPI_VERSION >= 5
/* Other flavors may be queried, too: the size 0 means that the memory is not mapped; a process's own always is. */
static void other_flavors(void)
{
    MPI_Win win;
    int *base, *there, unit, wrong = 0;
    MPI_Aint size;
    CHECK_OK(MPI_Win_allocate(WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &base, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < WORDS; i++)
        base[i] = me + i;
    CHECK_OK(MPI_Win_fence(0, win));
    for (int rank = 0; rank < ranks; rank++) {
        CHECK_OK(MPI_Win_shared_query(win, rank, &size, &unit, &there));
        CHECK(size == 0 || (size == WORDS * sizeof(int) && unit == sizeof(int)));
        CHECK(rank != me || there == base);
        for (int i = 0; size && i < WORDS; i++)
            wrong += there[i] != rank + i;
    }
    CHECK(wrong == 0);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
}
#endif

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI_Comm_rank(node, &me);
    MPI_Comm_size(node, &ranks);
    neighbours_are_seen("false");
    neighbours_are_seen("true");
    both_ways();
    fenced();
    if (!window_can_share(MPI_COMM_WORLD)) {
        MPI_Win win = MPI_WIN_NULL;
        void *base;
        CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        CHECK_CLASS(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_RMA_SHARED);
        CHECK(win == MPI_WIN_NULL);
    }
#if MPI_VERSION >= 5
    other_flavors();
#endif
    CHECK_OK(MPI_Comm_free(&node));
    MTEST_END;
}
