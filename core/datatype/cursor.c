/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cursors. See cursor.h.
 *
 * The packed offset alone is the state of a walk: from the root of the layout it leads by division (or by search, in a
 * list) to the part that it lies in. So a cursor needs no stack, seeking is free, and a partly moved part is not a
 * special state. Whole parts go to move_many(), which ends in a few loops over runs. These are compiled for ranges of
 * lengths, so that a small block is moved in registers, without a call and without a test of its length.
 *
 * Every function that moves takes `pack` as its last argument: to the packed side (true) or to memory.
 */
#include "core/datatype/cursor.h"

#include <string.h>

#include "core/base/far_copy.h"
#include "core/datatype/layout.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    TILE = 8192,         /* bytes of elements that are moved part by part instead of one by one: fits the cache */
    TILE_PARTS = 16,     /* ... if they have fewer parts than this */
    TILE_ELEMENT = 1024, /* ... and fewer bytes than this */
    BOUNCE = 8192,       /* bytes of the buffer between two layouts */
};

/* `half` to 2 * `half` bytes, as two moves of `half` bytes, a constant. The moves overlap unless all are needed. */
ALWAYS_INLINE void copy_ends(char *restrict to, const char *restrict from, size_t half, size_t bytes)
{
    memcpy(to, from, half);
    memcpy(to + bytes - half, from + bytes - half, half);
}

/* Any number of bytes. If it is a constant, or known to be in one of the ranges, this compiles to a few moves. */
ALWAYS_INLINE void copy_block(char *restrict to, const char *restrict from, size_t bytes)
{
    if (__builtin_constant_p(bytes) || bytes > 128)
        memcpy(to, from, bytes);
    else if (bytes > 64)
        copy_ends(to, from, 64, bytes);
    else if (bytes > 32)
        copy_ends(to, from, 32, bytes);
    else if (bytes > 16)
        copy_ends(to, from, 16, bytes);
    else if (bytes >= 8)
        copy_ends(to, from, 8, bytes);
    else if (bytes >= 4)
        copy_ends(to, from, 4, bytes);
    else
        for (size_t i = 0; i < bytes; i++)
            to[i] = from[i];
}

ALWAYS_INLINE void move_block(char *restrict mem, char *restrict packed, size_t bytes, bool pack)
{
    if (pack)
        copy_block(packed, mem, bytes);
    else
        copy_block(mem, packed, bytes);
}

ALWAYS_INLINE void move_strided(size_t bytes, size_t n, char *restrict mem, MPI_Aint stride, char *restrict packed,
                                size_t pitch, bool pack)
{
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++, mem += stride, packed += pitch)
        move_block(mem, packed, bytes, pack);
}

/* The same, with distances that the compiler knows where that lets it move several small blocks at once: packed data
 * without gaps, and every other block (the real parts of complex numbers). */
ALWAYS_INLINE void move_spaced(size_t bytes, size_t n, char *restrict mem, MPI_Aint stride, char *restrict packed,
                               size_t pitch, bool pack)
{
    if (pitch != bytes)
        move_strided(bytes, n, mem, stride, packed, pitch, pack);
    else if (stride == 2 * (MPI_Aint)bytes)
        move_strided(bytes, n, mem, 2 * (MPI_Aint)bytes, packed, bytes, pack);
    else
        move_strided(bytes, n, mem, stride, packed, bytes, pack);
}

/* `n` runs of `bytes` bytes, `stride` apart in memory and `pitch` apart in the packed data. */
ALWAYS_INLINE void move_runs_to(size_t bytes, size_t n, char *mem, MPI_Aint stride, char *packed, size_t pitch,
                                bool pack)
{
    switch (bytes) {
    case 1: move_spaced(1, n, mem, stride, packed, pitch, pack); break;
    case 2: move_spaced(2, n, mem, stride, packed, pitch, pack); break;
    case 4: move_spaced(4, n, mem, stride, packed, pitch, pack); break;
    case 8: move_spaced(8, n, mem, stride, packed, pitch, pack); break;
    case 16: move_strided(16, n, mem, stride, packed, pitch, pack); break;
    case 9 ... 15: move_strided(bytes, n, mem, stride, packed, pitch, pack); break;
    case 17 ... 32: move_strided(bytes, n, mem, stride, packed, pitch, pack); break;
    case 33 ... 64: move_strided(bytes, n, mem, stride, packed, pitch, pack); break;
    default: move_strided(bytes, n, mem, stride, packed, pitch, pack);
    }
}

static void cursor_move_runs(size_t bytes, size_t n, char *mem, MPI_Aint stride, char *packed, size_t pitch, bool pack)
{
    if (pack)
        move_runs_to(bytes, n, mem, stride, packed, pitch, true);
    else
        move_runs_to(bytes, n, mem, stride, packed, pitch, false);
}

ALWAYS_INLINE void move_at(size_t bytes, size_t n, char *mem, const MPI_Aint *at, char *packed, bool pack)
{
    for (size_t i = 0; i < n; i++, packed += bytes)
        move_block(mem + at[i], packed, bytes, pack);
}

/* `n` runs of `bytes` bytes at listed displacements. */
ALWAYS_INLINE void move_listed_to(size_t bytes, size_t n, char *mem, const MPI_Aint *at, char *packed, bool pack)
{
    switch (bytes) {
    case 1: move_at(1, n, mem, at, packed, pack); break;
    case 2: move_at(2, n, mem, at, packed, pack); break;
    case 4: move_at(4, n, mem, at, packed, pack); break;
    case 8: move_at(8, n, mem, at, packed, pack); break;
    case 16: move_at(16, n, mem, at, packed, pack); break;
    case 9 ... 15: move_at(bytes, n, mem, at, packed, pack); break;
    case 17 ... 32: move_at(bytes, n, mem, at, packed, pack); break;
    case 33 ... 64: move_at(bytes, n, mem, at, packed, pack); break;
    default: move_at(bytes, n, mem, at, packed, pack);
    }
}

static void move_listed(size_t bytes, size_t n, char *mem, const MPI_Aint *at, char *packed, bool pack)
{
    if (pack)
        move_listed_to(bytes, n, mem, at, packed, true);
    else
        move_listed_to(bytes, n, mem, at, packed, false);
}

/* One part of a node. */
struct part {
    const struct pl_type_layout *layout;
    size_t size, before;
    MPI_Aint at;
};

ALWAYS_INLINE struct part layout_part(const struct pl_type_layout *node, size_t i)
{
    if (node->kind == PL_LAYOUT_LIST) {
        const struct pl_part *part = &node->parts[i];
        return (struct part){ part->layout, part[1].before - part->before, part->before, part->at };
    }
    MPI_Aint at = node->kind == PL_LAYOUT_LOOP ? node->first + (MPI_Aint)i * node->stride : node->at[i];
    return (struct part){ node->part, node->part_size, i * node->part_size, at };
}

/* The index of the part in which a packed offset lies. */
static size_t layout_part_at(const struct pl_type_layout *node, size_t offset)
{
    if (node->kind != PL_LAYOUT_LIST)
        return offset / node->part_size;
    size_t low = 0, high = node->count; /* parts[low].before <= offset < parts[high].before */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (node->parts[middle].before <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void move_many(const struct pl_type_layout *layout, size_t size, size_t n, char *mem, MPI_Aint stride,
                      char *packed, size_t pitch, bool pack);

/* `n` parts of a node, from the i-th on. `packed` is the packed data of the first one. */
static void move_parts(const struct pl_type_layout *node, size_t i, size_t n, char *mem, char *packed, bool pack)
{
    if (node->kind == PL_LAYOUT_LOOP) {
        move_many(node->part, node->part_size, n, mem + node->first + (MPI_Aint)i * node->stride, node->stride, packed,
                  node->part_size, pack);
    } else if (node->kind == PL_LAYOUT_BLOCKS && !node->part) {
        move_listed(node->part_size, n, mem, node->at + i, packed, pack);
    } else {
        size_t start = layout_part(node, i).before;
        for (; n > 0; n--, i++) {
            struct part part = layout_part(node, i);
            if (!part.layout)
                move_block(mem + part.at, packed + (part.before - start), part.size, pack);
            else
                move_many(part.layout, part.size, 1, mem + part.at, 0, packed + (part.before - start), 0, pack);
        }
    }
}

/* `n` elements of one layout. Small ones are moved part by part, a tile at a time, in long loops over equal runs. */
static void move_many(const struct pl_type_layout *layout, size_t size, size_t n, char *mem, MPI_Aint stride,
                      char *packed, size_t pitch, bool pack)
{
    if (!layout) {
        if (n == 1)
            move_block(mem, packed, size, pack);
        else
            cursor_move_runs(size, n, mem, stride, packed, pitch, pack);
        return;
    }
    bool tiled = n >= 4 && layout->count < TILE_PARTS && layout->count < n && size < TILE_ELEMENT;
    size_t step = tiled ? TILE / size : 1;
    for (size_t i = 0; i < n; i += step) {
        char *from = mem + (MPI_Aint)i * stride, *to = packed + i * pitch;
        if (!tiled) {
            move_parts(layout, 0, layout->count, from, to, pack);
            continue;
        }
        size_t tile = n - i < step ? n - i : step;
        for (size_t j = 0; j < layout->count; j++) {
            struct part part = layout_part(layout, j);
            move_many(part.layout, part.size, tile, from + part.at, stride, to + part.before, pitch, pack);
        }
    }
}

/* `bytes` packed bytes of one node, from `offset` on: the rest of a part, whole parts, the start of a part. */
static void move_range(const struct pl_type_layout *node, char *mem, size_t offset, char *packed, size_t bytes,
                       bool pack)
{
    if (!node) {
        move_block(mem + offset, packed, bytes, pack);
        return;
    }
    for (size_t i = layout_part_at(node, offset); bytes > 0;) {
        struct part part = layout_part(node, i);
        size_t within = offset - part.before, moved, n = 1;
        if (within == 0 && bytes >= part.size) {
            if (node->kind != PL_LAYOUT_LIST)
                n = bytes / part.size;
            moved = n * part.size;
            move_parts(node, i, n, mem, packed, pack);
        } else {
            moved = part.size - within < bytes ? part.size - within : bytes;
            move_range(part.layout, mem + part.at, within, packed, moved, pack);
        }
        i += n;
        offset += moved;
        packed += moved;
        bytes -= moved;
    }
}

/* The cursor's elements as one node, which is not in normal form: it may hold a single part. */
static struct pl_type_layout elements_of(const struct pl_cursor *cursor)
{
    const struct pl_type *type = cursor->type;
    return (struct pl_type_layout){
        .kind = PL_LAYOUT_LOOP,
        .count = (size_t)cursor->count,
        .part = type->layout,
        .part_size = (size_t)type->size,
        .stride = (MPI_Aint)type->extent,
    };
}

void pl_cursor_seek(struct pl_cursor *cursor, size_t offset)
{
    cursor->done = offset < cursor->total ? offset : cursor->total;
}

ALWAYS_INLINE size_t cursor_move(struct pl_cursor *cursor, char *packed, size_t max, bool pack)
{
    size_t left = cursor->total - cursor->done;
    size_t bytes = left < max ? left : max;
    if (bytes == 0)
        return 0;
    const struct pl_type *type = cursor->type;
    char *mem = pl_address(cursor->base, type->true_lb);
    if (pl_cursor_direct(cursor)) {
        if (pack)
            pl_far_copy(packed, mem + cursor->done, bytes);
        else
            pl_far_copy(mem + cursor->done, packed, bytes);
    } else if (bytes == cursor->total) {
        size_t size = (size_t)type->size;
        move_many(type->layout, size, (size_t)cursor->count, mem, (MPI_Aint)type->extent, packed, size, pack);
    } else {
        struct pl_type_layout elements = elements_of(cursor);
        move_range(&elements, mem, cursor->done, packed, bytes, pack);
    }
    cursor->done += bytes;
    return bytes;
}

size_t pl_cursor_pack(struct pl_cursor *cursor, void *packed, size_t max)
{
    return cursor_move(cursor, packed, max, true);
}

size_t pl_cursor_unpack(struct pl_cursor *cursor, const void *packed, size_t bytes)
{
    return cursor_move(cursor, (char *)packed, bytes, false);
}

size_t pl_cursor_run(struct pl_cursor *cursor, size_t max, void **address)
{
    size_t left = cursor->total - cursor->done;
    if (left == 0 || max == 0)
        return 0;
    char *at = pl_cursor_direct(cursor);
    if (at) {
        at = pl_address(at, (MPI_Aint)cursor->done);
    } else {
        struct pl_type_layout elements = elements_of(cursor);
        const struct pl_type_layout *node = &elements;
        size_t offset = cursor->done;
        for (at = pl_address(cursor->base, cursor->type->true_lb); node;) {
            struct part part = layout_part(node, layout_part_at(node, offset));
            at = pl_address(at, part.at);
            offset -= part.before;
            left = part.size - offset;
            node = part.layout;
        }
        at = pl_address(at, (MPI_Aint)offset);
    }
    size_t bytes = left < max ? left : max;
    cursor->done += bytes;
    *address = at;
    return bytes;
}

void pl_type_copy(const void *from, MPI_Count from_count, const struct pl_type *from_type, void *to, MPI_Count to_count,
                  const struct pl_type *to_type)
{
    struct pl_cursor source, target;
    pl_cursor_init(&source, from, from_count, from_type);
    pl_cursor_init(&target, to, to_count, to_type);
    size_t bytes = source.total < target.total ? source.total : target.total;
    if (bytes == 0)
        return;
    const void *source_run = pl_cursor_direct(&source);
    void *target_run = pl_cursor_direct(&target);
    if (source_run) {
        pl_cursor_unpack(&target, source_run, bytes);
    } else if (target_run) {
        pl_cursor_pack(&source, target_run, bytes);
    } else {
        char bounce[BOUNCE];
        while (bytes > 0) {
            size_t chunk = pl_cursor_pack(&source, bounce, bytes < sizeof bounce ? bytes : sizeof bounce);
            pl_cursor_unpack(&target, bounce, chunk);
            bytes -= chunk;
        }
    }
}

size_t pl_type_span(const struct pl_type *type, MPI_Count count, MPI_Aint *lowest)
{
    *lowest = 0;
    if (count == 0 || type->size == 0)
        return 0;
    MPI_Count last, span; /* `last`: displacement of the last element */
    bool fits = !__builtin_mul_overflow(count - 1, type->extent, &last) && last != INT64_MIN &&
                !__builtin_add_overflow(type->true_extent, last < 0 ? -last : last, &span);
    if (!fits)
        return SIZE_MAX; /* no address space holds it: the caller's allocation fails */
    *lowest = (MPI_Aint)(type->true_lb + (last < 0 ? last : 0));
    return (size_t)span;
}
