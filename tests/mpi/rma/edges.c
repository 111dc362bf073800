/* SPDX-License-Identifier: BSD-3-Clause */
/* Edge cases: MPI_PROC_NULL, no data, windows without memory, displacement units that differ between ranks, the first
 * and the last byte. */
#include <stdbool.h>
#include <stdint.h>

#include "pattern.h"
#include "rma.h"

static void to_proc_null(const struct window *w)
{
    int value = 3, before = 4;
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 1 << 20, 1, MPI_INT, w->win));
    CHECK_OK(MPI_Get(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win));
    CHECK_OK(MPI_Accumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win));
    CHECK_OK(
        MPI_Get_accumulate(&value, 1, MPI_INT, &before, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win));
    CHECK_OK(MPI_Fetch_and_op(&value, &before, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, w->win));
    CHECK_OK(MPI_Compare_and_swap(&value, &value, &before, MPI_INT, MPI_PROC_NULL, 0, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, w->win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(MPI_PROC_NULL, w->win));
    CHECK_OK(MPI_Win_flush_local(MPI_PROC_NULL, w->win));
    CHECK_OK(MPI_Win_unlock(MPI_PROC_NULL, w->win));
    CHECK(value == 3 && before == 4);
}

/* Operations without data, also at the end of the window and without buffers. */
static void nothing(const struct window *w, MPI_Aint bytes)
{
    int next = (mtest_rank + 1) % mtest_size;
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPI_Put(NULL, 0, MPI_INT, next, w->offset[next], 0, MPI_INT, w->win));
    CHECK_OK(MPI_Put(NULL, 0, MPI_INT, next, w->offset[next] + bytes, 0, MPI_DOUBLE, w->win));
    CHECK_OK(MPI_Put(w->base, 5, empty, next, w->offset[next], 3, empty, w->win));
    CHECK_OK(MPI_Accumulate(w->base, 5, empty, next, w->offset[next], 3, empty, MPI_SUM, w->win));
    CHECK_OK(MPI_Get(NULL, 0, MPI_INT, next, w->offset[next] + bytes, 0, MPI_INT, w->win));
    CHECK_OK(MPI_Accumulate(NULL, 0, MPI_INT, next, w->offset[next] + bytes, 0, MPI_INT, MPI_SUM, w->win));
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, MPI_INT, next, w->offset[next] + bytes, 0, MPI_INT, MPI_SUM,
                                w->win));
    CHECK_OK(MPI_Win_flush_all(w->win));
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Type_free(&empty);
}

/* The whole window, its first byte, its last byte. */
static void borders(const struct window *w, int bytes)
{
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    unsigned char *out = malloc((size_t)bytes), *in = malloc((size_t)bytes), ends[2] = { 0xa5, 0x5a }, got[2] = { 0 };
    pattern_fill(out, (size_t)bytes, (uint64_t)mtest_rank);
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Put(out, bytes, MPI_BYTE, next, w->offset[next], bytes, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK(pattern_holds(w->base, (size_t)bytes, (uint64_t)last));
    CHECK_OK(MPI_Get(in, bytes, MPI_BYTE, last, w->offset[last], bytes, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK(pattern_holds(in, (size_t)bytes, (uint64_t)((last + mtest_size - 1) % mtest_size)));
    CHECK_OK(MPI_Put(&ends[0], 1, MPI_BYTE, next, w->offset[next], 1, MPI_BYTE, w->win));
    CHECK_OK(MPI_Put(&ends[1], 1, MPI_BYTE, next, w->offset[next] + bytes - 1, 1, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Get(&got[0], 1, MPI_BYTE, last, w->offset[last], 1, MPI_BYTE, w->win));
    CHECK_OK(MPI_Get(&got[1], 1, MPI_BYTE, last, w->offset[last] + bytes - 1, 1, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK(got[0] == 0xa5 && got[1] == 0x5a);
    CHECK((unsigned char)w->base[0] == 0xa5 && (unsigned char)w->base[bytes - 1] == 0x5a);
    CHECK(bytes == 2 || (unsigned char)w->base[1] == pattern_byte((uint64_t)last, 1));
    free(out);
    free(in);
}

/* Data that begins behind the address, here and there, without gaps. */
static void displaced(const struct window *w)
{
    enum { AT = 5, COUNT = 20 };
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    unsigned char out[AT + COUNT], in[AT + COUNT + 1];
    MPI_Datatype moved;
    MPI_Type_create_hindexed_block(1, 1, (MPI_Aint[]){ AT }, MPI_BYTE, &moved);
    MPI_Type_commit(&moved);
    pattern_fill(out, sizeof out, (uint64_t)mtest_rank + 50);
    memset(in, 0xee, sizeof in);
    CHECK_OK(MPI_Win_fence(0, w->win));
    memset(w->base, 0xcc, 2 * AT + COUNT);
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Put(out, COUNT, moved, next, w->offset[next], COUNT, moved, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < 2 * AT + COUNT; i++) {
        bool written = i >= AT && i < AT + COUNT;
        CHECK((unsigned char)w->base[i] == (written ? pattern_byte((uint64_t)last + 50, (size_t)i) : 0xcc));
    }
    CHECK_OK(MPI_Get(in, COUNT, moved, next, w->offset[next], COUNT, moved, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK(memcmp(in + AT, out + AT, COUNT) == 0 && in[AT - 1] == 0xee && in[AT + COUNT] == 0xee);
    MPI_Type_free(&moved);
}

/* Each rank has its own displacement unit; every third has no memory. */
static void units(int allocate)
{
    int unit = 1 + mtest_rank % 7, entries = mtest_rank % 3 == 2 ? 0 : 40;
    unsigned char *base = NULL;
    MPI_Win win;
    if (allocate) {
        CHECK_OK(MPI_Win_allocate(entries * unit, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    } else {
        base = entries ? malloc((size_t)(entries * unit)) : NULL;
        CHECK_OK(MPI_Win_create(base, entries * unit, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    }
    for (int i = 0; i < entries * unit; i++)
        base[i] = 0xcc;
    CHECK_OK(MPI_Win_fence(0, win));
    unsigned char out[16];
    for (int i = 0; i < 16; i++)
        out[i] = (unsigned char)(mtest_rank + 1);
    for (int i = 0; i < mtest_size; i++)
        if (i % 3 != 2)
            CHECK_OK(MPI_Put(out, 1, MPI_BYTE, i, mtest_rank, 1, MPI_BYTE, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < entries * unit; i++)
        CHECK(base[i] == (i % unit == 0 && i / unit < mtest_size ? i / unit + 1 : 0xcc));
    CHECK_OK(MPI_Win_free(&win));
    if (!allocate)
        free(base);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 2, 4096, 4097, 33333 };
    MTEST_INIT(argc, argv);
    for (int kind = 0; kind < WINDOW_KINDS; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            struct window w = window_open(kind, MPI_COMM_WORLD, sizes[i]);
            to_proc_null(&w);
            nothing(&w, sizes[i]);
            borders(&w, sizes[i]);
            if (sizes[i] > 100)
                displaced(&w);
            window_close(&w, MPI_COMM_WORLD);
        }
    units(0);
    units(1);
    MTEST_END;
}
