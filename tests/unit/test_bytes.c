/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readers and writers of untrusted bytes. What is written is read again; every prefix of it fails without harm, as do
 * other bytes. Limits hold; writers are full or have no memory. Data lies in memory of exactly its size, so that a
 * sanitizer detects each overrun.
 */
#include "unit.h"

#include <limits.h>

#include "core/base/bytes.h"
#include "core/base/memory.h"

static void no_failures(void)
{
    pl_memory_fail_at(0);
}

/* --- one of everything -------------------------------------------------------------------------------------------- */

static const uint64_t numbers[] = {
    0, 1, 127, 128, 16383, 16384, UINT32_MAX, 1ull << 56, 1ull << 63, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void write_all(struct pl_writer *to)
{
    for (int i = 0; i < NUMBERS; i++) {
        pl_write_u8(to, (uint8_t)numbers[i]);
        pl_write_u16(to, (uint16_t)numbers[i]);
        pl_write_u32(to, (uint32_t)numbers[i]);
        pl_write_u64(to, numbers[i]);
        pl_write_i32(to, (int32_t)numbers[i]);
        pl_write_i64(to, (int64_t)numbers[i]);
        pl_write_leb128(to, numbers[i]);
        pl_write_folded(to, (int64_t)numbers[i]);
    }
    pl_write_raw(to, "raw", 3);
    pl_write_raw(to, NULL, 0);
    pl_write_blob(to, "b\0b", 3);
    pl_write_blob(to, NULL, 0);
    pl_write_text(to, "ocean");
    pl_write_text(to, "");
    pl_write_leb128(to, 2);
    pl_write_u32(to, 8);
    pl_write_u32(to, 9);
}

/* True if all was there and correct. After a failure everything is 0 or empty. */
static bool read_all(struct pl_reader *from)
{
    bool right = true;
    for (int i = 0; i < NUMBERS; i++) {
        right &= pl_read_u8(from) == (uint8_t)numbers[i];
        right &= pl_read_u16(from) == (uint16_t)numbers[i];
        right &= pl_read_u32(from) == (uint32_t)numbers[i];
        right &= pl_read_u64(from) == numbers[i];
        right &= pl_read_i32(from) == (int32_t)numbers[i];
        right &= pl_read_i64(from) == (int64_t)numbers[i];
        right &= pl_read_leb128(from) == numbers[i];
        right &= pl_read_folded(from) == (int64_t)numbers[i];
    }
    char raw[3];
    size_t length;
    pl_read_copy(from, raw, sizeof raw);
    right &= memcmp(raw, "raw", 3) == 0;
    const unsigned char *blob = pl_read_blob(from, 3, &length);
    right &= blob && length == 3 && memcmp(blob, "b\0b", 3) == 0;
    right &= pl_read_blob(from, 0, &length) && length == 0;
    const char *name = pl_read_text(from, 5, &length);
    right &= name && length == 5 && memcmp(name, "ocean", 5) == 0;
    right &= pl_read_text(from, 0, &length) && length == 0;
    right &= pl_read_count(from, 2, 4) == 2;
    right &= pl_read_u32(from) == 8 && pl_read_u32(from) == 9;
    right &= pl_reader_done(from);
    return right;
}

/* A copy in memory of exactly its size. */
static unsigned char *exact(const void *data, size_t length)
{
    unsigned char *copy = malloc(length);
    ck_assert(copy || !length);
    if (length)
        memcpy(copy, data, length);
    return copy;
}

static unsigned char *write_growing(size_t *length)
{
    struct pl_writer to = pl_writer_growing(NULL, 0);
    write_all(&to);
    unsigned char *data = pl_writer_take(&to, length);
    ck_assert_ptr_nonnull(data);
    return data;
}

START_TEST(there_and_back)
{
    size_t length;
    unsigned char *data = write_growing(&length), *copy = exact(data, length);
    struct pl_reader from = pl_reader(copy, length);
    UNIT_CHECK(read_all(&from) && !from.failed);
    free(copy);
    free(data);
}
END_TEST

/* Any number of missing bytes is detected, and so is one byte more. */
START_TEST(cut_short)
{
    size_t length;
    unsigned char *data = write_growing(&length);
    for (size_t cut = 0; cut < length; cut++) {
        unsigned char *copy = exact(data, cut);
        struct pl_reader from = pl_reader(copy, cut);
        UNIT_CHECK(!read_all(&from) && from.failed && pl_reader_left(&from) == 0);
        free(copy);
    }
    unsigned char *longer = realloc(data, length + 1);
    ck_assert_ptr_nonnull(longer);
    struct pl_reader from = pl_reader(longer, length + 1);
    UNIT_CHECK(!read_all(&from) && !from.failed && pl_reader_left(&from) == 1);
    free(longer);
}
END_TEST

START_TEST(byte_order)
{
    unsigned char data[14];
    struct pl_writer to = pl_writer_fixed(data, sizeof data);
    pl_write_u16(&to, 0x0201);
    pl_write_u32(&to, 0x06050403);
    pl_write_u64(&to, 0x0e0d0c0b0a090807);
    UNIT_CHECK(!to.failed && to.length == sizeof data && pl_writer_left(&to) == 0);
    for (int i = 0; i < 14; i++)
        UNIT_CHECK(data[i] == i + 1);
}
END_TEST

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static bool reads(const char *bytes, size_t length, uint64_t number)
{
    unsigned char *data = exact(bytes, length);
    struct pl_reader from = pl_reader(data, length);
    bool right = pl_read_leb128(&from) == number && pl_reader_done(&from);
    free(data);
    return right;
}

static bool refuses(const char *bytes, size_t length)
{
    unsigned char *data = exact(bytes, length);
    struct pl_reader from = pl_reader(data, length);
    bool right = pl_read_leb128(&from) == 0 && from.failed;
    free(data);
    return right;
}

START_TEST(leb128)
{
    UNIT_CHECK(reads("\0", 1, 0) && reads("\x7f", 1, 127));
    UNIT_CHECK(reads("\x80\x01", 2, 128) && reads("\xe5\x8e\x26", 3, 624485));
    UNIT_CHECK(reads("\x80\x80\0", 3, 0));
    UNIT_CHECK(reads("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX));
    UNIT_CHECK(refuses("", 0) && refuses("\x80", 1) && refuses("\xff\xff", 2));
    UNIT_CHECK(refuses("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10)); /* 65 bits */
    UNIT_CHECK(refuses("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\0", 11));
    UNIT_CHECK(refuses("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12));
}
END_TEST

START_TEST(folded_numbers)
{
    static const int64_t all[] = { 0, -1, 1, -2, 2, 63, -64, 64, INT64_MAX, INT64_MIN, INT64_MIN + 1 };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        unsigned char data[PL_LEB128_MAX];
        struct pl_writer to = pl_writer_fixed(data, sizeof data);
        pl_write_folded(&to, all[i]);
        UNIT_CHECK(i >= 5 || (to.length == 1 && data[0] == i));
        struct pl_reader from = pl_reader(data, to.length);
        UNIT_CHECK(pl_read_folded(&from) == all[i] && pl_reader_done(&from));
    }
}
END_TEST

/* --- limits ------------------------------------------------------------------------------------------------------- */

static struct pl_reader of_count(unsigned char data[32], uint64_t count, size_t behind)
{
    struct pl_writer to = pl_writer_fixed(data, 32);
    pl_write_leb128(&to, count);
    return pl_reader(data, to.length + behind);
}

START_TEST(counts)
{
    unsigned char data[32] = { 0 };
    struct pl_reader from = of_count(data, 5, 20);
    UNIT_CHECK(pl_read_count(&from, 5, 4) == 5 && pl_reader_left(&from) == 20);
    from = of_count(data, 5, 20);
    UNIT_CHECK(pl_read_count(&from, 4, 4) == 0 && from.failed);
    from = of_count(data, 5, 19);
    UNIT_CHECK(pl_read_count(&from, 5, 4) == 0 && from.failed);
    from = of_count(data, UINT64_MAX, 20);
    UNIT_CHECK(pl_read_count(&from, UINT64_MAX, 1) == 0 && from.failed);
    from = of_count(data, UINT64_MAX / 2 + 1, 2); /* two of them overflow */
    UNIT_CHECK(pl_read_count(&from, UINT64_MAX, 2) == 0 && from.failed);
    from = of_count(data, 0, 0);
    UNIT_CHECK(pl_read_count(&from, 0, SIZE_MAX) == 0 && pl_reader_done(&from));
}
END_TEST

START_TEST(texts)
{
    unsigned char data[32];
    size_t length;
    struct pl_writer to = pl_writer_fixed(data, sizeof data);
    pl_write_text(&to, "oceans");
    struct pl_reader all = pl_reader(data, to.length), from = all;
    UNIT_CHECK(pl_read_text(&from, 6, &length) && length == 6 && pl_reader_done(&from));
    from = all;
    UNIT_CHECK(!pl_read_text(&from, 5, &length) && length == 0 && from.failed);
    data[3] = '\0';
    from = all;
    UNIT_CHECK(!pl_read_text(&from, 6, &length) && from.failed);
    from = all;
    UNIT_CHECK(pl_read_blob(&from, 6, &length) && length == 6);
}
END_TEST

START_TEST(failures_last)
{
    unsigned char data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    struct pl_reader from = pl_reader(data, sizeof data);
    UNIT_CHECK(pl_read_u32(&from) == 0x04030201);
    pl_reader_expect(&from, true);
    UNIT_CHECK(!from.failed);
    pl_reader_expect(&from, false);
    UNIT_CHECK(from.failed && !pl_reader_done(&from) && pl_reader_left(&from) == 0);
    UNIT_CHECK(pl_read_u8(&from) == 0 && pl_read_leb128(&from) == 0 && !pl_read_raw(&from, 0));

    from = pl_reader(NULL, 0);
    UNIT_CHECK(pl_reader_done(&from) && pl_read_raw(&from, 0) && pl_read_u8(&from) == 0 && from.failed);
}
END_TEST

/* --- writers ------------------------------------------------------------------------------------------------------ */

/* What does not fit is left out whole, and so is all that follows. */
START_TEST(fixed_writers)
{
    size_t length;
    unsigned char *all = write_growing(&length);
    for (size_t capacity = 1; capacity <= length + 1; capacity++) {
        unsigned char *data = malloc(capacity);
        ck_assert_ptr_nonnull(data);
        struct pl_writer to = pl_writer_fixed(data, capacity);
        write_all(&to);
        UNIT_CHECK(to.failed == (capacity < length) && to.length <= capacity);
        UNIT_CHECK(memcmp(data, all, to.length) == 0);
        UNIT_CHECK(pl_writer_left(&to) == (to.failed ? 0 : capacity - length));
        pl_writer_fini(&to);
        free(data);
    }
    free(all);
}
END_TEST

START_TEST(growing_writers)
{
    size_t length, again;
    unsigned char *all = write_growing(&length);
    for (size_t capacity = 0; capacity <= length + 1; capacity++) {
        unsigned char *few = malloc(capacity);
        struct pl_writer to = pl_writer_growing(few, capacity);
        write_all(&to);
        UNIT_CHECK(!to.failed && to.length == length && to.caller_owned == (capacity >= length));
        unsigned char *data = pl_writer_take(&to, &again);
        UNIT_CHECK(data && data != few && again == length && memcmp(data, all, length) == 0);
        free(data);
        free(few);
    }
    free(all);
}
END_TEST

START_TEST(without_memory)
{
    bool failed = true;
    for (int n = 1; failed; n++) {
        size_t length = 1;
        struct pl_writer to = pl_writer_growing(NULL, 0);
        pl_memory_fail_at(n);
        write_all(&to);
        UNIT_CHECK(to.failed == pl_memory_failed());
        void *data = pl_writer_take(&to, &length);
        failed = pl_memory_failed();
        UNIT_CHECK(data ? !failed : failed && length == 0);
        free(data);
    }
    pl_memory_fail_at(0);

    unsigned char few[4];
    size_t length;
    struct pl_writer to = pl_writer_growing(few, sizeof few);
    pl_write_u32(&to, 1);
    pl_memory_fail_at(1);
    UNIT_CHECK(!pl_writer_take(&to, &length) && length == 0); /* no memory for the copy */

    to = pl_writer_growing(few, sizeof few);
    pl_write_u32(&to, 1);
    UNIT_CHECK(!pl_write_space(&to, SIZE_MAX) && to.failed); /* asks for nothing */
    pl_writer_fini(&to);
}
END_TEST

/* A transport's address in a card: its length stands before it, and is known after it. */
START_TEST(lengths_behind)
{
    unsigned char card[16];
    struct pl_writer to = pl_writer_fixed(card, sizeof card);
    pl_write_text(&to, "shm");
    size_t offset = to.length;
    pl_write_u16(&to, 0);
    size_t capacity = pl_writer_left(&to);
    unsigned char *address = pl_write_space(&to, capacity);
    UNIT_CHECK(capacity == 10 && address && pl_writer_left(&to) == 0);
    memcpy(address, "abcd", 4);
    pl_writer_trim(&to, to.length - capacity + 4);
    pl_writer_set_u16(&to, offset, 4);
    pl_writer_trim(&to, 100); /* does nothing */

    struct pl_reader from = pl_reader(card, to.length);
    size_t name;
    UNIT_CHECK(memcmp(pl_read_text(&from, 3, &name), "shm", 3) == 0 && pl_read_u16(&from) == 4);
    UNIT_CHECK(memcmp(pl_read_raw(&from, 4), "abcd", 4) == 0 && pl_reader_done(&from));

    pl_writer_set_u16(&to, to.length - 2, 7);
    UNIT_CHECK(!to.failed);
    pl_writer_set_u16(&to, to.length - 1, 7);
    UNIT_CHECK(to.failed);
    to = pl_writer_fixed(card, 1);
    pl_writer_set_u16(&to, 0, 7);
    UNIT_CHECK(to.failed);
}
END_TEST

/* --- at random ---------------------------------------------------------------------------------------------------- */

/* Random bytes, read by random calls: no access beyond their end, and no data after a failure. */
static void read_at_random(struct pl_reader *from, uint64_t *seed)
{
    const unsigned char *end = from->end;
    unsigned char copy[8];
    for (int calls = 0; calls < 40; calls++) {
        size_t bytes = (size_t)unit_below(seed, 9), length = bytes, left = pl_reader_left(from);
        bool failed = from->failed;
        const void *lent = NULL;
        uint64_t number = 0;
        switch (unit_below(seed, 13)) {
        case 0: number = pl_read_u8(from); break;
        case 1: number = pl_read_u16(from); break;
        case 2: number = pl_read_u32(from); break;
        case 3: number = pl_read_u64(from); break;
        case 4: number = (uint64_t)pl_read_i32(from); break;
        case 5: number = (uint64_t)pl_read_i64(from); break;
        case 6: number = pl_read_leb128(from); break;
        case 7: number = (uint64_t)pl_read_folded(from); break;
        case 8:
            number = pl_read_count(from, 100, bytes + 1);
            UNIT_CHECK(number <= 100 && number * (bytes + 1) <= pl_reader_left(from));
            break;
        case 9: lent = pl_read_raw(from, bytes); break;
        case 10: lent = pl_read_blob(from, 8, &length); break;
        case 11: lent = pl_read_text(from, 8, &length); break;
        default:
            memset(copy, 1, sizeof copy);
            pl_read_copy(from, copy, bytes);
            for (size_t i = 0; from->failed && i < bytes; i++)
                UNIT_CHECK(copy[i] == 0);
        }
        UNIT_CHECK(from->end == end && pl_reader_left(from) <= left);
        UNIT_CHECK(!from->failed || (number == 0 && !lent && pl_reader_left(from) == 0));
        UNIT_CHECK(!failed || from->failed);
        for (size_t i = 0; lent && i < length; i++)
            number += ((const volatile unsigned char *)lent)[i];
    }
}

START_TEST(any_bytes)
{
    uint64_t seed = 11 + (uint64_t)_i;
    for (int round = 0; round < 20000; round++) {
        size_t length = (size_t)unit_below(&seed, 80);
        unsigned char *data = malloc(length);
        for (size_t i = 0; i < length; i++) /* small numbers are plausible lengths */
            data[i] = (unsigned char)(unit_below(&seed, 2) ? unit_below(&seed, 10) : unit_below(&seed, 256));
        struct pl_reader from = pl_reader(data, length);
        read_at_random(&from, &seed);
        free(data);
    }
}
END_TEST

/* Messages of random numbers and texts, half of them with a wrong bit: reading succeeds or fails without harm. */
START_TEST(damaged_messages)
{
    uint64_t seed = 23;
    for (int round = 0; round < 20000; round++) {
        unsigned char few[24];
        struct pl_writer to = pl_writer_growing(few, sizeof few);
        uint64_t wrote[6];
        for (int i = 0; i < 6; i++) {
            wrote[i] = unit_random(&seed) >> unit_below(&seed, 64);
            pl_write_leb128(&to, wrote[i]);
            pl_write_text(&to, &"plenum"[unit_below(&seed, 7)]);
        }
        unsigned char *data = exact(to.data, to.length);
        bool damage = round % 2;
        if (damage)
            data[unit_below(&seed, (int)to.length)] ^= (unsigned char)(1 << unit_below(&seed, 8));
        struct pl_reader from = pl_reader(data, to.length);
        for (int i = 0; i < 6; i++) {
            size_t size;
            UNIT_CHECK(pl_read_leb128(&from) == wrote[i] || damage);
            const char *text = pl_read_text(&from, 6, &size);
            UNIT_CHECK(text ? size <= 6 : damage);
        }
        UNIT_CHECK(pl_reader_done(&from) || damage);
        free(data);
        pl_writer_fini(&to);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bytes");
    TCase *all = unit_case(suite);
    tcase_add_checked_fixture(all, NULL, no_failures);
    tcase_add_test(all, there_and_back);
    tcase_add_test(all, cut_short);
    tcase_add_test(all, byte_order);
    tcase_add_test(all, leb128);
    tcase_add_test(all, folded_numbers);
    tcase_add_test(all, counts);
    tcase_add_test(all, texts);
    tcase_add_test(all, failures_last);
    tcase_add_test(all, fixed_writers);
    tcase_add_test(all, growing_writers);
    tcase_add_test(all, without_memory);
    tcase_add_test(all, lengths_behind);
    tcase_add_loop_test(all, any_bytes, 0, 3);
    tcase_add_test(all, damaged_messages);
    return unit_end(suite);
}
