/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for the data of a sample datatype, with the offset of every packed byte. It serves the checks of every
 * datatype, however it was made: its measures, and packing in chunks of any size.
 */
#ifndef PLENUM_TESTS_TYPE_ARENA_H
#define PLENUM_TESTS_TYPE_ARENA_H

#include "core/datatype/cursor.h"
#include "typemap.h"

enum { COUNT_MAX = 4 };

/* Memory around a buffer, and the offset of every packed byte in it. */
struct arena {
    unsigned char *memory, *buffer;
    size_t length, total;
    long *place; /* [total]: where each packed byte lies in `memory` */
};

static inline struct arena arena_create(const struct sample *sample, int count, uint64_t *seed)
{
    long lb, ub, extent = typemap_extent(&sample->map), cma = labs(extent) * COUNT_MAX;
    typemap_true_bounds(&sample->map, &lb, &ub);
    struct arena arena = { .length = (size_t)(ub - lb + 2 * cma + 64) };
    long origin = cma - lb + 16;
    arena.memory = malloc(arena.length);
    arena.buffer = (unsigned char *)((uintptr_t)arena.memory + (uintptr_t)origin);
    for (size_t i = 0; i < arena.length; i++)
        arena.memory[i] = (unsigned char)unit_random(seed);
    arena.total = (size_t)(typemap_size(&sample->map) * count);
    arena.place = malloc((arena.total + 1) * sizeof *arena.place);
    size_t packed = 0;
    for (int n = 0; n < count; n++)
        for (int i = 0; i < sample->map.count; i++)
            for (int b = 0; b < sample->map.entries[i].size; b++)
                arena.place[packed++] = origin + n * extent + sample->map.entries[i].at + b;
    return arena;
}

static inline void arena_free(struct arena *arena)
{
    free(arena->memory);
    free(arena->place);
}

static inline void check_measures(const struct sample *sample)
{
    long lb, ub, true_lb, true_ub;
    MPI_Count size, low, extent, true_low, true_extent;
    typemap_bounds(&sample->map, &lb, &ub);
    typemap_true_bounds(&sample->map, &true_lb, &true_ub);
    MPI_Type_size_c(sample->type, &size);
    MPI_Type_get_extent_c(sample->type, &low, &extent);
    MPI_Type_get_true_extent_c(sample->type, &true_low, &true_extent);
    ck_assert_int_eq(size, typemap_size(&sample->map));
    ck_assert_int_eq(low, lb);
    ck_assert_int_eq(extent, ub - lb);
    ck_assert_int_eq(true_low, true_lb);
    ck_assert_int_eq(true_extent, true_ub - true_lb);
}

/* Chunks from 1 byte to more than all. */
static inline size_t arena_chunk(uint64_t *seed, size_t total)
{
    switch (unit_below(seed, 3)) {
    case 0: return 1 + (size_t)unit_below(seed, 7);
    case 1: return 1 + (size_t)unit_below(seed, 200);
    default: return 1 + (size_t)unit_below(seed, (int)total + 10);
    }
}

static inline void check_pack(const struct sample *sample, int count, const struct arena *arena, uint64_t *seed)
{
    struct pl_cursor cursor;
    unsigned char *packed = malloc(arena->total + 1);
    pl_cursor_init(&cursor, arena->buffer, count, pl_type_from(sample->type));
    ck_assert_uint_eq(cursor.total, arena->total);
    size_t done = 0;
    while (done < arena->total) {
        size_t want = arena_chunk(seed, arena->total), left = arena->total - done;
        size_t got = pl_cursor_pack(&cursor, packed + done, want);
        if (got != (want < left ? want : left))
            ck_abort_msg("%zu bytes instead of %zu of %zu", got, want, left);
        done += got;
    }
    ck_assert_uint_eq(pl_cursor_pack(&cursor, packed, 100), 0);
    int wrong = 0;
    for (size_t i = 0; i < arena->total; i++)
        wrong += packed[i] != arena->memory[arena->place[i]];
    ck_assert_int_eq(wrong, 0);
    free(packed);
}

#endif
