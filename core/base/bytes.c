/* SPDX-License-Identifier: BSD-3-Clause */
/* The longer parts of reading and writing bytes. Nothing here trusts what it reads. */
#include "core/base/bytes.h"

#include "core/base/memory.h"

enum { CAPACITY_FIRST = 64 };

/* --- reading ---------------------------------------------------------------------------------------------------- */

void pl_reader_fail(struct pl_reader *from)
{
    from->failed = true;
    from->at = from->end;
}

uint64_t pl_read_leb128_long(struct pl_reader *from)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = pl_read_u8(from);
        uint64_t bits = byte & 0x7f;
        if (shift == 63 && byte > 1)
            break;
        number |= bits << shift;
        if (!(byte & 0x80))
            return from->failed ? 0 : number;
    }
    pl_reader_fail(from);
    return 0;
}

size_t pl_read_count(struct pl_reader *from, uint64_t max, size_t each)
{
    uint64_t count = pl_read_leb128(from);
    pl_reader_expect(from, count <= max && count <= pl_reader_left(from) / each);
    return from->failed ? 0 : (size_t)count;
}

const unsigned char *pl_read_blob(struct pl_reader *from, size_t max, size_t *length)
{
    *length = pl_read_count(from, max, 1);
    return pl_read_raw(from, *length);
}

const char *pl_read_text(struct pl_reader *from, size_t max, size_t *length)
{
    const unsigned char *text = pl_read_blob(from, max, length);
    if (text && !memchr(text, '\0', *length))
        return (const char *)text;
    pl_reader_fail(from);
    *length = 0;
    return NULL;
}

/* --- writing ---------------------------------------------------------------------------------------------------- */

static bool writer_reserve(struct pl_writer *to, size_t bytes)
{
    size_t needed, capacity = to->capacity <= SIZE_MAX / 2 ? 2 * to->capacity : SIZE_MAX;
    if (__builtin_add_overflow(to->length, bytes, &needed))
        return false;
    capacity = capacity < CAPACITY_FIRST ? CAPACITY_FIRST : capacity;
    capacity = capacity < needed ? needed : capacity;
    unsigned char *data = pl_realloc(to->caller_owned ? NULL : to->data, capacity);
    if (!data)
        return false;
    if (to->caller_owned && to->length)
        memcpy(data, to->data, to->length);
    to->data = data;
    to->capacity = capacity;
    to->caller_owned = false;
    return true;
}

unsigned char *pl_writer_grow(struct pl_writer *to, size_t bytes)
{
    to->failed = to->failed || to->fixed || !writer_reserve(to, bytes);
    if (to->failed)
        return NULL;
    to->length += bytes;
    return to->data + to->length - bytes;
}

void pl_write_leb128(struct pl_writer *to, uint64_t value)
{
    unsigned char bytes[PL_LEB128_MAX];
    size_t length = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[length++] = (unsigned char)(value | 0x80);
    bytes[length++] = (unsigned char)value;
    pl_write_raw(to, bytes, length);
}

void pl_writer_set_u16(struct pl_writer *to, size_t offset, uint16_t value)
{
    value = htole16(value);
    to->failed = to->failed || to->length < sizeof value || offset > to->length - sizeof value;
    if (!to->failed)
        memcpy(to->data + offset, &value, sizeof value);
}

void *pl_writer_take(struct pl_writer *to, size_t *length)
{
    void *data = to->failed ? NULL : to->data;
    *length = to->length;
    if (!to->failed && to->caller_owned) {
        data = pl_malloc(to->length ? to->length : 1);
        if (data && to->length)
            memcpy(data, to->data, to->length);
    }
    if (data)
        to->caller_owned = true; /* it is no more the writer's */
    else
        *length = 0;
    pl_writer_fini(to);
    return data;
}

void pl_writer_fini(struct pl_writer *to)
{
    if (!to->caller_owned)
        free(to->data);
    *to = (struct pl_writer){ .fixed = true, .caller_owned = true };
}
