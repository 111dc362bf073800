/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is attached to a window and detached from it while the window is in use: several regions, adjacent ones,
 * empty ones, in any order, and a list that grows at remote ranks. */
#include <stdbool.h>
#include <stdint.h>

#include "pattern.h"
#include "rma.h"

enum { REGIONS = 20, BYTES = 3000, ROUNDS = 4, NODES = 12 };

static MPI_Win win;

static MPI_Aint address_of(const void *at)
{
    MPI_Aint address;
    CHECK_OK(MPI_Get_address(at, &address));
    return address;
}

/* Each rank attaches and detaches regions in its own order; all attached regions are written and read. */
static void regions(void)
{
    char *region[REGIONS] = { NULL };
    MPI_Aint mine[REGIONS], there[REGIONS];
    static unsigned char out[BYTES], in[BYTES];
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    uint64_t state = (uint64_t)mtest_rank + 5;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < REGIONS; i++) {
            if (!region[i]) {
                region[i] = malloc(BYTES);
                CHECK_OK(MPI_Win_attach(win, region[i], BYTES));
            }
            mine[i] = address_of(region[i]);
        }
        CHECK_OK(MPI_Sendrecv(mine, REGIONS, MPI_AINT, last, 0, there, REGIONS, MPI_AINT, next, 0, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
        for (int i = 0; i < REGIONS; i++) {
            pattern_fill(out, BYTES, (uint64_t)(mtest_rank + i + round));
            CHECK_OK(MPI_Put(out, BYTES, MPI_BYTE, next, there[i], BYTES, MPI_BYTE, win));
            CHECK_OK(MPI_Win_flush_local(next, win));
        }
        CHECK_OK(MPI_Win_flush(next, win));
        for (int i = 0; i < REGIONS; i++) { /* from an address inside, too */
            CHECK_OK(MPI_Get(in, BYTES - 100, MPI_BYTE, next, MPI_Aint_add(there[i], 100), BYTES - 100, MPI_BYTE, win));
            CHECK_OK(MPI_Win_flush(next, win));
            pattern_fill(out, BYTES, (uint64_t)(mtest_rank + i + round));
            CHECK(memcmp(in, out + 100, BYTES - 100) == 0);
        }
        CHECK_OK(MPI_Win_unlock(next, win));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, mtest_rank, 0, win));
        for (int i = 0; i < REGIONS; i++)
            CHECK(pattern_holds(region[i], BYTES, (uint64_t)(last + i + round)));
        CHECK_OK(MPI_Win_unlock(mtest_rank, win));
        for (int i = 0; i < REGIONS; i++)
            if (round == ROUNDS - 1 || pattern_random(&state) % 2) {
                CHECK_OK(MPI_Win_detach(win, region[i]));
                free(region[i]);
                region[i] = NULL;
            }
    }
}

/* All adjacent regions at once; and the first byte of them by a type whose data lies far behind its displacement. */
static void span_all(MPI_Aint there, int next, int last, const int array[100])
{
    int all[100], one = -mtest_rank - 1, wrong = 0;
    MPI_Datatype behind;
    for (int i = 0; i < 100; i++)
        all[i] = 5000 * mtest_rank + i;
    MPI_Type_create_hindexed_block(1, 1, (MPI_Aint[]){ 4096 }, MPI_INT, &behind);
    MPI_Type_commit(&behind);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(all, 100, MPI_INT, next, there, 100, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 100; i++)
        wrong += array[i] != 5000 * last + i;
    CHECK(wrong == 0);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&one, 1, MPI_INT, next, MPI_Aint_add(there, -4096), 1, behind, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK(array[0] == -last - 1 && array[1] == 5000 * last + 1);
    MPI_Type_free(&behind);
}

/* Adjacent regions of one array. */
static void neighbours(void)
{
    static int array[100];
    int out[30], next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    MPI_Aint mine = address_of(array), there;
    for (int i = 0; i < 30; i++)
        out[i] = 1000 * mtest_rank + i;
    CHECK_OK(MPI_Win_attach(win, array + 50, 50 * sizeof(int)));
    CHECK_OK(MPI_Win_attach(win, array, 20 * sizeof(int)));
    CHECK_OK(MPI_Win_attach(win, array + 20, 30 * sizeof(int)));
    CHECK_OK(
        MPI_Sendrecv(&mine, 1, MPI_AINT, last, 0, &there, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(out, 10, MPI_INT, next, there, 10, MPI_INT, win));
    CHECK_OK(MPI_Put(out, 30, MPI_INT, next, MPI_Aint_add(there, 20 * sizeof(int)), 30, MPI_INT, win));
    CHECK_OK(MPI_Put(out, 1, MPI_INT, next, MPI_Aint_add(there, 99 * sizeof(int)), 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK(array[9] == 1000 * last + 9 && array[20] == 1000 * last && array[49] == 1000 * last + 29);
    CHECK(array[99] == 1000 * last && array[50] == 0);
    span_all(there, next, last, array);
    CHECK_OK(MPI_Win_detach(win, array));
    CHECK_OK(MPI_Win_detach(win, array + 50));
    CHECK_OK(MPI_Win_detach(win, array + 20));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Accesses up to the ends of two regions with a gap of one byte between, and a byte further, which moves nothing. */
static void ends(void)
{
    enum { FIRST = 100, GAP = 150, END = 200, ALL = 300 };
    static const struct {
        int at, bytes;
        bool attached;
    } access[] = { { FIRST, 50, true },     { FIRST, 51, false },  { FIRST, 52, false },  { FIRST - 1, 1, false },
                   { FIRST - 1, 2, false }, { GAP - 1, 1, true },  { GAP - 1, 2, false }, { GAP - 1, 3, false },
                   { GAP, 1, false },       { GAP, 2, false },     { GAP + 1, 49, true }, { GAP + 1, 50, false },
                   { END - 1, 1, true },    { END - 1, 2, false }, { END, 1, false } };
    static unsigned char memory[ALL];
    unsigned char written[ALL] = { 0 }, wanted[ALL], out[ALL];
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    MPI_Aint mine = address_of(memory), there;
    CHECK_OK(MPI_Win_attach(win, memory + FIRST, GAP - FIRST));
    CHECK_OK(MPI_Win_attach(win, memory + GAP + 1, END - GAP - 1));
    CHECK_OK(
        MPI_Sendrecv(&mine, 1, MPI_AINT, last, 0, &there, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    for (int i = 0; i < (int)(sizeof access / sizeof *access); i++) {
        memset(out, mtest_rank + i + 1, sizeof out);
        int failed = MPI_Put(out, access[i].bytes, MPI_BYTE, next, MPI_Aint_add(there, access[i].at), access[i].bytes,
                             MPI_BYTE, win);
        int flushed = MPI_Win_flush(next, win);
        CHECK_CLASS(failed ? failed : flushed, access[i].attached ? MPI_SUCCESS : MPI_ERR_RMA_RANGE);
        if (access[i].attached)
            memcpy(written + access[i].at, out, (size_t)access[i].bytes);
    }
    CHECK_OK(MPI_Win_unlock(next, win));
    CHECK_OK(MPI_Sendrecv(written, ALL, MPI_BYTE, next, 1, wanted, ALL, MPI_BYTE, last, 1, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, mtest_rank, 0, win));
    CHECK(memcmp(memory, wanted, ALL) == 0);
    CHECK_OK(MPI_Win_unlock(mtest_rank, win));
    CHECK_OK(MPI_Win_detach(win, memory + FIRST));
    CHECK_OK(MPI_Win_detach(win, memory + GAP + 1));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A linked list with nodes on all ranks: compare and swap inserts each node at the head. */
struct node {
    int64_t rank, address; /* of the next node; -1: none */
    int64_t value;
};

static void list(void)
{
    struct node *nodes = calloc(NODES, sizeof *nodes);
    int64_t head[1], *heads = malloc(sizeof *heads), at, old, found, sum = 0, length = 0;
    MPI_Aint head_at;
    heads[0] = -1; /* the first node: (rank << 48) | address */
    CHECK_OK(MPI_Win_attach(win, nodes, NODES * sizeof *nodes));
    CHECK_OK(MPI_Win_attach(win, heads, sizeof *heads));
    head_at = address_of(heads);
    CHECK_OK(MPI_Bcast(&head_at, 1, MPI_AINT, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < NODES; i++) {
        nodes[i].value = mtest_rank * NODES + i;
        at = ((int64_t)mtest_rank << 48) | (int64_t)address_of(&nodes[i]);
        CHECK_OK(MPI_Fetch_and_op(NULL, &old, MPI_INT64_T, 0, head_at, MPI_NO_OP, win));
        CHECK_OK(MPI_Win_flush(0, win));
        for (;;) {
            nodes[i].rank = old < 0 ? -1 : old >> 48;
            nodes[i].address = old & (((int64_t)1 << 48) - 1);
            CHECK_OK(MPI_Win_sync(win));
            CHECK_OK(MPI_Compare_and_swap(&at, &old, &found, MPI_INT64_T, 0, head_at, win));
            CHECK_OK(MPI_Win_flush(0, win));
            if (found == old)
                break;
            old = found;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Fetch_and_op(NULL, head, MPI_INT64_T, 0, head_at, MPI_NO_OP, win));
    CHECK_OK(MPI_Win_flush(0, win));
    struct node node = { head[0] >> 48, head[0] & (((int64_t)1 << 48) - 1), 0 };
    while (node.rank >= 0 && length <= (int64_t)NODES * mtest_size) {
        int rank = (int)node.rank;
        CHECK_OK(MPI_Get(&node, sizeof node, MPI_BYTE, rank, (MPI_Aint)node.address, sizeof node, MPI_BYTE, win));
        CHECK_OK(MPI_Win_flush(rank, win));
        sum += node.value;
        length++;
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK(length == (int64_t)NODES * mtest_size);
    CHECK(sum == length * (length - 1) / 2);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_detach(win, heads));
    CHECK_OK(MPI_Win_detach(win, nodes));
    free(heads);
    free(nodes);
}

int main(int argc, char **argv)
{
    static char left[100];
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    regions();
    neighbours();
    ends();
    list();
    CHECK_OK(MPI_Win_attach(win, left, sizeof left)); /* freeing the window detaches it */
    CHECK_OK(MPI_Win_free(&win));
    MTEST_END;
}
