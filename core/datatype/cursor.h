/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cursors: moving the bytes of a datatype to and from a packed stream.
 *
 * A cursor walks `count` elements of a type at `buf` and moves their bytes, in type-map order, to or from a packed
 * stream, in chunks of any size. So transports pack straight into their slots and unpack straight out of them.
 */
#ifndef PLENUM_CORE_DATATYPE_CURSOR_H
#define PLENUM_CORE_DATATYPE_CURSOR_H

#include "core/datatype/datatype.h"

/* The bytes from the lowest to the end of the highest byte that `count` elements touch, and the offset of the lowest
 * from the buffer's address: for a temporary buffer. 0 for no data. */
size_t pl_type_span(const struct pl_type *type, MPI_Count count, MPI_Aint *lowest);

struct pl_cursor {
    const struct pl_type *type; /* borrowed: the request retains it */
    char *base;
    MPI_Count count;
    size_t total; /* bytes of packed data */
    size_t done;  /* bytes moved so far: the whole state of the walk */
};

/* An address may be absolute (MPI_BOTTOM): it is computed as a number, not as a pointer into an object. */
static inline char *pl_address(const void *base, MPI_Aint displacement)
{
    return (char *)((uintptr_t)base + (uintptr_t)displacement);
}

static inline void pl_cursor_init(struct pl_cursor *cursor, const void *buf, MPI_Count count,
                                  const struct pl_type *type)
{
    *cursor = (struct pl_cursor){
        .type = type,
        .base = (char *)(uintptr_t)buf,
        .count = count,
        .total = (size_t)count * (size_t)type->size,
    };
}

/* Moves to a packed offset, for data that is moved out of order. */
void pl_cursor_seek(struct pl_cursor *cursor, size_t offset);

/* The address of the data if it is one run in memory (or if there is none); NULL: it must be walked. */
static inline void *pl_cursor_direct(const struct pl_cursor *cursor)
{
    const struct pl_type *type = cursor->type;
    return type->dense || (type->solid && cursor->count == 1) ? pl_address(cursor->base, type->true_lb) : NULL;
}

/* Move up to `max` further bytes to, or from, packed memory. Return their number, which is less only at the end. */
size_t pl_cursor_pack(struct pl_cursor *cursor, void *packed, size_t max);
size_t pl_cursor_unpack(struct pl_cursor *cursor, const void *packed, size_t bytes);

/* The next contiguous run: its address, and its bytes, at most `max`. Advances. 0: the end. For scatter lists. */
size_t pl_cursor_run(struct pl_cursor *cursor, size_t max, void **address);

/* Copies count elements between two buffers that may have different types of the same signature, up to the end of the
 * shorter one. The buffers must not overlap. */
void pl_type_copy(const void *from, MPI_Count from_count, const struct pl_type *from_type, void *to, MPI_Count to_count,
                  const struct pl_type *to_type);

#endif
