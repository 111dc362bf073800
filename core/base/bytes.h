/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading bytes that come from outside, and writing them.
 *
 * Errors are sticky: after the first one a reader yields zeros and empty data, and a writer writes nothing. So a
 * decoder or encoder is a straight line with one check at its end. No function reads or writes out of bounds, whatever
 * the bytes are. The values that a reader yields are within its caller's limits; no more is known about them.
 *
 *     struct pl_reader from = pl_reader(data, length);
 *     uint32_t version = pl_read_u32(&from);
 *     pl_reader_expect(&from, version == VERSION);
 *     size_t count = pl_read_count(&from, MEMBERS_MAX, MEMBER_LEAST);
 *     ... as many members ...
 *     if (!pl_reader_done(&from))
 *         return pl_fail(MPI_ERR_OTHER, "the list of a group's members is damaged");
 *
 * Integers are little-endian and not aligned. Counts and lengths are LEB128: 7 bits a byte, the lowest first; the top
 * bit is set in all bytes except the last. Numbers with a sign are folded first: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...
 * A blob is its length and its bytes; a text is a blob without a NUL.
 *
 * No locking. A copy of a reader remembers a place.
 */
#ifndef PLENUM_CORE_BASE_BYTES_H
#define PLENUM_CORE_BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/compiler.h"

enum { PL_LEB128_MAX = 10 /* bytes that a number takes at most */ };

/* --- reading ---------------------------------------------------------------------------------------------------- */

struct pl_reader {
    const unsigned char *at, *end; /* what is left; nothing after a failure */
    bool failed;
};

/* Borrows the data, which must stay as long as the reader and what it lends are used. */
static inline struct pl_reader pl_reader(const void *data, size_t length)
{
    const unsigned char *at = length ? data : (const unsigned char *)"";
    return (struct pl_reader){ .at = at, .end = at + length };
}

static inline size_t pl_reader_left(const struct pl_reader *from)
{
    return (size_t)(from->end - from->at);
}

/* Nothing has failed and nothing is left. */
static inline bool pl_reader_done(const struct pl_reader *from)
{
    return !from->failed && from->at == from->end;
}

PL_COLD void pl_reader_fail(struct pl_reader *from);

/* Fails unless the condition holds: for what else the caller demands of the values. */
static inline void pl_reader_expect(struct pl_reader *from, bool condition)
{
    if (pl_unlikely(!condition))
        pl_reader_fail(from);
}

/* The next bytes, borrowed. NULL: the reader has failed, perhaps because there are fewer. */
static inline const unsigned char *pl_read_raw(struct pl_reader *from, size_t bytes)
{
    const unsigned char *at = from->at;
    if (pl_unlikely(from->failed || bytes > pl_reader_left(from))) {
        pl_reader_fail(from);
        return NULL;
    }
    from->at += bytes;
    return at;
}

/* The next bytes, copied to `to`; zeros after a failure. */
static inline void pl_read_copy(struct pl_reader *from, void *to, size_t bytes)
{
    const unsigned char *at = pl_read_raw(from, bytes);
    if (pl_unlikely(!at))
        memset(to, 0, bytes);
    else if (bytes)
        memcpy(to, at, bytes);
}

static inline uint8_t pl_read_u8(struct pl_reader *from)
{
    const unsigned char *at = pl_read_raw(from, 1);
    return at ? *at : 0;
}

static inline uint16_t pl_read_u16(struct pl_reader *from)
{
    uint16_t value;
    pl_read_copy(from, &value, sizeof value);
    return le16toh(value);
}

static inline uint32_t pl_read_u32(struct pl_reader *from)
{
    uint32_t value;
    pl_read_copy(from, &value, sizeof value);
    return le32toh(value);
}

static inline uint64_t pl_read_u64(struct pl_reader *from)
{
    uint64_t value;
    pl_read_copy(from, &value, sizeof value);
    return le64toh(value);
}

static inline int32_t pl_read_i32(struct pl_reader *from)
{
    return (int32_t)pl_read_u32(from);
}

static inline int64_t pl_read_i64(struct pl_reader *from)
{
    return (int64_t)pl_read_u64(from);
}

/* Fails for a number of more than 64 bits. */
uint64_t pl_read_leb128_long(struct pl_reader *from);
static inline uint64_t pl_read_leb128(struct pl_reader *from)
{
    if (pl_likely(from->at < from->end && *from->at < 0x80))
        return *from->at++;
    return pl_read_leb128_long(from);
}

static inline int64_t pl_read_folded(struct pl_reader *from)
{
    uint64_t folded = pl_read_leb128(from);
    return (int64_t)(folded >> 1 ^ -(folded & 1));
}

/* The number of things that follow, of which each takes at least `each` > 0 bytes. Fails for more than `max` and for
 * more than fit into the bytes that are left, so the memory for them is bounded by the length of the message. */
size_t pl_read_count(struct pl_reader *from, uint64_t max, size_t each);

/* A blob or a text of at most `max` bytes, borrowed; no NUL stands behind the text. NULL: failed. */
const unsigned char *pl_read_blob(struct pl_reader *from, size_t max, size_t *length);
const char *pl_read_text(struct pl_reader *from, size_t max, size_t *length);

/* --- writing ---------------------------------------------------------------------------------------------------- */

struct pl_writer {
    unsigned char *data;
    size_t length, capacity;
    bool fixed;        /* more than `capacity` is a failure */
    bool caller_owned; /* `data` is the caller's memory */
    bool failed;       /* it was full, or memory ran out */
};

/* Into the caller's memory only. */
static inline struct pl_writer pl_writer_fixed(void *data, size_t capacity)
{
    return (struct pl_writer){ .data = data, .capacity = capacity, .fixed = true, .caller_owned = true };
}

/* Into the caller's memory, which may be NULL with capacity 0, and when that is full into memory of its own. Must be
 * ended with pl_writer_fini() or pl_writer_take(). */
static inline struct pl_writer pl_writer_growing(void *data, size_t capacity)
{
    return (struct pl_writer){ .data = data, .capacity = capacity, .caller_owned = true };
}

/* The bytes that still fit into a fixed one. */
static inline size_t pl_writer_left(const struct pl_writer *to)
{
    return to->failed ? 0 : to->capacity - to->length;
}

/* For pl_write_space(). */
PL_COLD unsigned char *pl_writer_grow(struct pl_writer *to, size_t bytes);

/* Appends bytes, which the caller fills in before it writes anything else. NULL: failed. */
static inline unsigned char *pl_write_space(struct pl_writer *to, size_t bytes)
{
    if (pl_unlikely(to->failed || bytes > to->capacity - to->length || !to->data))
        return pl_writer_grow(to, bytes);
    to->length += bytes;
    return to->data + to->length - bytes;
}

static inline void pl_write_raw(struct pl_writer *to, const void *data, size_t bytes)
{
    unsigned char *at = pl_write_space(to, bytes);
    if (at && bytes)
        memcpy(at, data, bytes);
}

static inline void pl_write_u8(struct pl_writer *to, uint8_t value)
{
    pl_write_raw(to, &value, sizeof value);
}

static inline void pl_write_u16(struct pl_writer *to, uint16_t value)
{
    value = htole16(value);
    pl_write_raw(to, &value, sizeof value);
}

static inline void pl_write_u32(struct pl_writer *to, uint32_t value)
{
    value = htole32(value);
    pl_write_raw(to, &value, sizeof value);
}

static inline void pl_write_u64(struct pl_writer *to, uint64_t value)
{
    value = htole64(value);
    pl_write_raw(to, &value, sizeof value);
}

static inline void pl_write_i32(struct pl_writer *to, int32_t value)
{
    pl_write_u32(to, (uint32_t)value);
}

static inline void pl_write_i64(struct pl_writer *to, int64_t value)
{
    pl_write_u64(to, (uint64_t)value);
}

/* A number, or a count. */
void pl_write_leb128(struct pl_writer *to, uint64_t value);

static inline void pl_write_folded(struct pl_writer *to, int64_t value)
{
    pl_write_leb128(to, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline void pl_write_blob(struct pl_writer *to, const void *data, size_t length)
{
    pl_write_leb128(to, length);
    pl_write_raw(to, data, length);
}

static inline void pl_write_text(struct pl_writer *to, const char *text)
{
    pl_write_blob(to, text, strlen(text));
}

/* Replaces the u16 that was written at an offset: a length that was not known then. */
void pl_writer_set_u16(struct pl_writer *to, size_t offset, uint16_t value);

/* Takes back all except the first `length` bytes. */
static inline void pl_writer_trim(struct pl_writer *to, size_t length)
{
    if (length < to->length)
        to->length = length;
}

/* Ends the writer and hands over what it has written, for free(). NULL: it has failed, or there is no memory for it. */
void *pl_writer_take(struct pl_writer *to, size_t *length);

/* Ends the writer and frees what is its own. */
void pl_writer_fini(struct pl_writer *to);

#endif
