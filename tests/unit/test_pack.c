/* SPDX-License-Identifier: BSD-3-Clause */
/* external32: known bytes, sizes, random datatypes against a conversion element by element and back, the formats of
 * long double, positions and bad arguments. (MPI_Pack itself needs a communicator: tests/mpi/datatype/pack.c) */
#include "typemap.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <wchar.h>

#include "core/datatype/external.h"
#include "core/datatype/parametric.h"

enum { ROUNDS = 1000, DEPTH = 3 };

static void check_bytes(const void *value, MPI_Datatype type, const char *hex)
{
    unsigned char packed[64];
    char text[129] = "";
    MPI_Aint position = 0, size;
    ck_assert_int_eq(MPI_Pack_external("external32", value, 1, type, packed, sizeof packed, &position), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Pack_external_size("external32", 1, type, &size), MPI_SUCCESS);
    ck_assert_int_eq(position, size);
    for (MPI_Aint i = 0; i < position; i++)
        snprintf(text + 2 * i, 3, "%02x", packed[i]);
    ck_assert_str_eq(text, hex);
}

#define BYTES(type, ctype, value, hex) check_bytes(&(ctype){ value }, type, hex)

START_TEST(known_bytes)
{
    typemap_errors_return();
    BYTES(MPI_INT, int, 0x01020304, "01020304");
    BYTES(MPI_SHORT, short, -2, "fffe");
    BYTES(MPI_LONG, long, -3, "fffffffd"); /* four bytes, whatever the machine has */
    BYTES(MPI_UNSIGNED_LONG, unsigned long, 0x89abcdef, "89abcdef");
    BYTES(MPI_LONG_LONG, long long, -3, "fffffffffffffffd");
    BYTES(MPI_INT64_T, int64_t, 5, "0000000000000005");
    BYTES(MPI_AINT, MPI_Aint, 258, "0000000000000102");
    BYTES(MPI_WCHAR, wchar_t, L'\u20ac', "20ac");
    BYTES(MPI_CHAR, char, 'A', "41");
    BYTES(MPI_C_BOOL, _Bool, 1, "01");
    BYTES(MPI_LOGICAL, MPI_Fint, 1, "00000001");
    BYTES(MPI_FLOAT, float, -1.5f, "bfc00000");
    BYTES(MPI_DOUBLE, double, 1.0, "3ff0000000000000");
    BYTES(MPI_LONG_DOUBLE, long double, 1.0L, "3fff0000000000000000000000000000");
    BYTES(MPI_LONG_DOUBLE, long double, -0.15625L, "bffc4000000000000000000000000000");
    BYTES(MPI_LONG_DOUBLE, long double, 0.0L, "00000000000000000000000000000000");
    BYTES(MPI_LONG_DOUBLE, long double, (long double)INFINITY, "7fff0000000000000000000000000000");
    BYTES(MPI_REAL16, unit_real16, 1.5, "3fff8000000000000000000000000000");
    const float complex[] = { 1, -2 };
    check_bytes(complex, MPI_C_FLOAT_COMPLEX, "3f800000c0000000");
    const struct {
        short value;
        int index;
    } pair = { 7, 8 };
    check_bytes(&pair, MPI_SHORT_INT, "000700000008");

    unsigned long whole = 0x89abcdef, back = 0; /* its highest bit there is no sign */
    unsigned char packed[4];
    pl_external_pack(&whole, 1, pl_type_from(MPI_UNSIGNED_LONG), packed);
    pl_external_unpack(packed, &back, 1, pl_type_from(MPI_UNSIGNED_LONG));
    ck_assert_uint_eq(back, whole);
}
END_TEST

/* --- random datatypes -------------------------------------------------------------------------------------------- */

static const bool machine_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

/* One element converted with what the compiler knows of formats; returns the bytes. */
static int convert(MPI_Datatype type, const unsigned char *from, unsigned char *to)
{
    unsigned char native[16];
    int size = (int)pl_type_from(type)->size, parts = type == MPI_C_DOUBLE_COMPLEX || type == MPI_COMPLEX4 ? 2 : 1;
    if (type == MPI_LONG || type == MPI_UNSIGNED_LONG || type == MPI_WCHAR) {
        int kept = type == MPI_WCHAR ? 2 : 4;
        for (int i = 0; i < kept; i++)
            to[i] = from[machine_is_little ? kept - 1 - i : size - kept + i];
        return kept;
    }
    memcpy(native, from, (size_t)size);
    if (type == MPI_LONG_DOUBLE) {
        long double value;
        memcpy(&value, from, sizeof value);
        unit_quad wide = value;
        memcpy(native, &wide, 16);
    }
    for (int p = 0; p < parts; p++)
        for (int i = 0; i < size / parts; i++)
            to[p * size / parts + i] =
                native[machine_is_little ? (p + 1) * size / parts - 1 - i : p * size / parts + i];
    return size;
}

static int external_size(MPI_Datatype type)
{
    return type == MPI_LONG || type == MPI_UNSIGNED_LONG ? 4 : type == MPI_WCHAR ? 2 : (int)pl_type_from(type)->size;
}

/* Values that external32 holds: small numbers. */
static void put_value(MPI_Datatype type, unsigned char *to, uint64_t *seed)
{
    long double real = unit_below(seed, 100000) / 128.0L - 200;
    long whole = unit_below(seed, 100000) - (type == MPI_LONG ? 50000 : 0);
    wchar_t character = (wchar_t)unit_below(seed, 0x10000);
    for (int i = 0; i < (int)pl_type_from(type)->size; i++)
        to[i] = type == MPI_LONG_DOUBLE ? 0 : (unsigned char)unit_random(seed);
    if (type == MPI_LONG_DOUBLE)
        memcpy(to, &real, LDBL_MANT_DIG == 64 ? 10 : sizeof real); /* without the padding */
    else if (type == MPI_LONG || type == MPI_UNSIGNED_LONG)
        memcpy(to, &whole, sizeof whole);
    else if (type == MPI_WCHAR)
        memcpy(to, &character, sizeof character);
}

static void check_round_trip(const struct sample *sample, uint64_t *seed)
{
    enum { COUNT = 3 };
    long lb, ub, extent = typemap_extent(&sample->map), cma = labs(extent) * COUNT;
    typemap_true_bounds(&sample->map, &lb, &ub);
    size_t length = (size_t)(ub - lb + 2 * cma + 64), bytes = 0;
    unsigned char *memory = calloc(1, length), *back = calloc(1, length);
    unsigned char *expected = malloc(COUNT * (size_t)typemap_size(&sample->map) + 1);
    uintptr_t origin = (uintptr_t)(cma - lb + 16);
    for (int n = 0; n < COUNT; n++)
        for (int i = 0; i < sample->map.count; i++) {
            const struct entry *e = &sample->map.entries[i];
            unsigned char *at = memory + (long)origin + n * extent + e->at;
            put_value(e->type, at, seed);
            bytes += (size_t)convert(e->type, at, expected + bytes);
        }
    MPI_Count size, position = 5;
    unsigned char *packed = malloc(bytes + 6);
    ck_assert_int_eq(MPI_Pack_external_size_c("external32", COUNT, sample->type, &size), MPI_SUCCESS);
    ck_assert_int_eq(size, (MPI_Count)bytes);
    ck_assert_int_eq(MPI_Pack_external_c("external32", (void *)((uintptr_t)memory + origin), COUNT, sample->type,
                                         packed, size + 5, &position),
                     MPI_SUCCESS);
    ck_assert_int_eq(position, size + 5);
    ck_assert_int_eq(memcmp(packed + 5, expected, bytes), 0);
    position = 5;
    ck_assert_int_eq(MPI_Unpack_external_c("external32", packed, size + 5, &position,
                                           (void *)((uintptr_t)back + origin), COUNT, sample->type),
                     MPI_SUCCESS);
    ck_assert_int_eq(memcmp(memory, back, length), 0);
    free(memory);
    free(back);
    free(expected);
    free(packed);
}

START_TEST(random_types)
{
    uint64_t seed = 3;
    typemap_errors_return();
    for (int round = 0; round < ROUNDS; round++) {
        struct sample sample = sample_random(&seed, DEPTH);
        if (!sample_usable(&sample))
            continue;
        long external = 0;
        for (int i = 0; i < sample.map.count; i++)
            external += external_size(sample.map.entries[i].type);
        ck_assert_int_eq(pl_external_size(pl_type_from(sample.type)), external);
        if (!typemap_overlaps(&sample.map, 3))
            check_round_trip(&sample, &seed);
        sample_free(&sample);
    }
    pl_type_trim();
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

/* --- long double ------------------------------------------------------------------------------------------------- */

static int class_of(long double value)
{
    return fpclassify(value);
}

/* Between a number of 16 bytes and its bytes in external32. */
static void reorder(unsigned char to[16], const unsigned char from[16])
{
    for (int b = 0; b < 16; b++)
        to[b] = from[machine_is_little ? 15 - b : b];
}

/* Any pattern of bits that is a number, outwards; any number of 113 bits, inwards and rounded. */
START_TEST(long_doubles)
{
    uint64_t seed = 4;
    typemap_errors_return();
    for (int i = 0; i < 20000; i++) {
        long double value, back;
        unit_quad wide, out;
        unsigned char packed[16], native[16];
        uint64_t significand = unit_random(&seed), low = unit_random(&seed);
        int exponent = i % 3 == 0 ? unit_below(&seed, 140) - 16495 : unit_below(&seed, 32000) - 16400;
        value = ldexpl((long double)significand, exponent - 63);
        if (LDBL_MANT_DIG == 64)
            memset((char *)&value + 10, 0, 6);
        if (i % 50 == 0)
            value = i % 100 == 0 ? -(long double)INFINITY : (long double)NAN;
        pl_external_pack(&value, 1, pl_type_from(MPI_LONG_DOUBLE), packed);
        reorder(native, packed);
        memcpy(&out, native, 16);
        ck_assert(out == (unit_quad)value || class_of(value) == FP_NAN);
        pl_external_unpack(packed, &back, 1, pl_type_from(MPI_LONG_DOUBLE));
        ck_assert_int_eq(class_of(back), class_of(value));
        ck_assert(back == value || class_of(value) == FP_NAN);

        wide = (unit_quad)value + (unit_quad)ldexpl((long double)low, exponent - 63 - 64 + (i & 1));
        memcpy(native, &wide, 16);
        if (LDBL_MANT_DIG == 64 && i % 7 == 0) { /* exactly in the middle of two */
            memset(native, 0, 6);
            native[6] &= 0xfe;
        }
        memcpy(&wide, native, 16);
        reorder(packed, native);
        pl_external_unpack(packed, &back, 1, pl_type_from(MPI_LONG_DOUBLE));
        ck_assert(back == (long double)wide || wide != wide);
    }
}
END_TEST

/* Bits that random numbers do not have: a fraction of ones, which rounds up to another exponent, and not-a-number by
 * the lowest bits alone. */
START_TEST(rare_long_doubles)
{
    static const struct {
        unsigned char head[2], fraction, lowest;
    } patterns[] = {
        { { 0x3f, 0xff }, 0xff, 0xff }, { { 0xbf, 0xfe }, 0xff, 0xff }, { { 0x7f, 0xfe }, 0xff, 0xff },
        { { 0x00, 0x00 }, 0xff, 0xff }, { { 0x80, 0x00 }, 0xff, 0xff }, { { 0x7f, 0xff }, 0x00, 0x01 },
        { { 0x7f, 0xff }, 0x00, 0x00 }, { { 0x00, 0x01 }, 0x00, 0x00 },
    };
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        unsigned char packed[16], native[16];
        unit_quad wide;
        long double back;
        memset(packed, patterns[i].fraction, sizeof packed);
        memcpy(packed, patterns[i].head, 2);
        packed[15] = patterns[i].lowest;
        reorder(native, packed);
        memcpy(&wide, native, 16);
        pl_external_unpack(packed, &back, 1, pl_type_from(MPI_LONG_DOUBLE));
        ck_assert_int_eq(class_of(back), class_of((long double)wide));
        ck_assert(back == (long double)wide || wide != wide);
    }
#if LDBL_MANT_DIG == 64
    const uint64_t significand = (uint64_t)1 << 63; /* a normal number in the form of a denormal one */
    long double value = 0;
    unsigned char packed[16];
    memcpy(&value, &significand, sizeof significand);
    pl_external_pack(&value, 1, pl_type_from(MPI_LONG_DOUBLE), packed);
    ck_assert_int_eq(packed[1], 1);
    for (int i = 0; i < 16; i++)
        ck_assert_int_eq(packed[i], i == 1);
#endif
}
END_TEST

/* --- arguments --------------------------------------------------------------------------------------------------- */

START_TEST(arguments)
{
    typemap_errors_return();
    int in[] = { 1, 2, 3 }, out[3] = { 0 };
    char packed[20];
    MPI_Aint position = 0, size;
    ck_assert_int_eq(MPI_Pack_external("external32", in, 3, MPI_INT, packed, 11, &position), MPI_ERR_TRUNCATE);
    ck_assert_int_eq(position, 0);
    ck_assert_int_eq(MPI_Pack_external("native", in, 3, MPI_INT, packed, 20, &position), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Pack_external(NULL, in, 3, MPI_INT, packed, 20, &position), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Pack_external("external32", in, -3, MPI_INT, packed, 20, &position), MPI_ERR_COUNT);
    ck_assert_int_eq(MPI_Pack_external("external32", in, 3, MPI_INT, packed, -20, &position), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Pack_external("external32", NULL, 3, MPI_INT, packed, 20, &position), MPI_ERR_BUFFER);
    ck_assert_int_eq(MPI_Pack_external("external32", in, 3, MPI_INT, NULL, 20, &position), MPI_ERR_BUFFER);
    ck_assert_int_eq(MPI_Pack_external("external32", in, 3, MPI_INT, packed, 20, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Pack_external_size("external32", 3, MPI_DATATYPE_NULL, &size), MPI_ERR_TYPE);
    position = -1;
    ck_assert_int_eq(MPI_Pack_external("external32", in, 3, MPI_INT, packed, 20, &position), MPI_ERR_ARG);
    position = 21;
    ck_assert_int_eq(MPI_Unpack_external("external32", packed, 20, &position, out, 0, MPI_INT), MPI_ERR_ARG);
    position = 0;
    ck_assert_int_eq(MPI_Pack_external("external32", in, 2, MPI_INT, packed, 20, &position), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Pack_external("external32", in + 2, 1, MPI_INT, packed, 20, &position), MPI_SUCCESS);
    ck_assert_int_eq(position, 12);
    position = 0;
    ck_assert_int_eq(MPI_Unpack_external("external32", packed, 12, &position, out, 3, MPI_INT), MPI_SUCCESS);
    ck_assert(out[0] == 1 && out[1] == 2 && out[2] == 3);
    MPI_Count large;
    ck_assert_int_eq(MPI_Pack_external_size_c("external32", INT64_MAX, MPI_INT, &large), MPI_ERR_COUNT);
    MPI_Datatype uncommitted;
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    ck_assert_int_eq(MPI_Pack_external("external32", in, 1, uncommitted, packed, 20, &position), MPI_ERR_TYPE);
    MPI_Type_free(&uncommitted);
}
END_TEST

UNIT_MAIN("pack", known_bytes, random_types, long_doubles, rare_long_doubles, arguments)
