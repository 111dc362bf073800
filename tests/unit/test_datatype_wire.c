/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes as bytes: what is read is what was written, for all constructors; and bytes that are damaged. */
#include "core/datatype/wire.h"

#include "core/base/memory.h"
#include "core/datatype/build.h"
#include "core/datatype/cursor.h"
#include "core/datatype/parametric.h"
#include "core/datatype/signature.h"
#include "type_arena.h"

enum { ROUNDS = 1500, DEPTH = 4, DAMAGES = 40, LAST_RUN = 50 };

static struct pl_type *decoded(const struct pl_type_wire *wire)
{
    struct pl_type *type;
    unsigned char *exact = malloc(wire->length); /* so that reading on is noticed */
    memcpy(exact, wire->bytes, wire->length);
    ck_assert_int_eq(pl_type_decode(exact, wire->length, &type), MPI_SUCCESS);
    free(exact);
    return type;
}

/* The type of a handle, written and read; the bytes' length. */
static struct pl_type *travelled(MPI_Datatype handle, size_t *length)
{
    struct pl_type_wire wire, again;
    ck_assert_int_eq(pl_type_encode(pl_type_from(handle), &wire), MPI_SUCCESS);
    struct pl_type *type = decoded(&wire);
    ck_assert_int_eq(pl_type_encode(type, &again), MPI_SUCCESS);
    ck_assert_uint_eq(again.length, wire.length);
    ck_assert_mem_eq(again.bytes, wire.bytes, wire.length);
    *length = wire.length;
    pl_type_wire_drop(&wire);
    pl_type_wire_drop(&again);
    return type;
}

static void check_equal(const struct pl_type *a, const struct pl_type *b)
{
    ck_assert_int_eq(a->size, b->size);
    ck_assert_int_eq(a->lb, b->lb);
    ck_assert_int_eq(a->extent, b->extent);
    ck_assert_int_eq(a->true_lb, b->true_lb);
    ck_assert_int_eq(a->true_extent, b->true_extent);
    ck_assert_int_eq(a->basic, b->basic);
    ck_assert_ptr_eq(a->element, b->element);
    ck_assert_int_eq(a->dense, b->dense);
    ck_assert_int_eq(a->solid, b->solid);
    ck_assert(b->committed);
}

/* Packs by the type that was read, unpacks by it. */
static void check_data(const struct arena *arena, const struct pl_type *type, int count, uint64_t *seed)
{
    struct pl_cursor cursor;
    unsigned char *packed = malloc(arena->total + 1), *memory = malloc(arena->length);
    pl_cursor_init(&cursor, arena->buffer, count, type);
    ck_assert_uint_eq(cursor.total, arena->total);
    for (size_t done = 0; done < arena->total;)
        done += pl_cursor_pack(&cursor, packed + done, arena_chunk(seed, arena->total));
    int wrong = 0;
    for (size_t i = 0; i < arena->total; i++)
        wrong += packed[i] != arena->memory[arena->place[i]];
    ck_assert_int_eq(wrong, 0);
    memcpy(memory, arena->memory, arena->length);
    for (size_t i = 0; i < arena->total; i++)
        memory[arena->place[i]] = 0;
    pl_cursor_init(&cursor, memory + (arena->buffer - arena->memory), count, type);
    for (size_t done = 0; done < arena->total;)
        done += pl_cursor_unpack(&cursor, packed + done,
                                 arena_chunk(seed, arena->total - done) % (arena->total - done) + 1);
    ck_assert_mem_eq(memory, arena->memory, arena->length);
    free(packed);
    free(memory);
}

START_TEST(round_trip)
{
    uint64_t seed = 4711;
    typemap_errors_return();
    for (int round = 0; round < ROUNDS; round++) {
        struct sample sample = sample_random(&seed, DEPTH);
        if (!sample_usable(&sample))
            continue;
        size_t length;
        int count = 1 + unit_below(&seed, COUNT_MAX);
        struct pl_type *type = travelled(sample.type, &length);
        struct arena arena = arena_create(&sample, count, &seed);
        check_equal(pl_type_from(sample.type), type);
        if (!typemap_overlaps(&sample.map, count))
            check_data(&arena, type, count, &seed);
        arena_free(&arena);
        sample_free(&sample);
        pl_object_release(type);
    }
    pl_type_trim();
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

START_TEST(predefined)
{
    size_t length;
    for (uintptr_t number = PL_TYPE_FIRST; number < PL_TYPE_FIRST + PL_TYPE_NUMBERS; number++) {
        struct pl_type *type = pl_type_predefined(number);
        if (!type)
            continue;
        ck_assert_ptr_eq(travelled(pl_type_handle(type), &length), type);
        ck_assert_uint_le(length, 2);
    }
}
END_TEST

/* The element, which accumulating goes by, survives; pairs that have no name too. */
START_TEST(of_one_kind)
{
    MPI_Datatype pair, same, fortran, of_pair, mixed;
    size_t length;
    typemap_errors_return();
    MPI_Type_get_value_index(MPI_INT16_T, MPI_INT64_T, &pair);
    MPI_Type_get_value_index(MPI_UINT64_T, MPI_UINT64_T, &same);
    MPI_Type_create_f90_real(15, 300, &fortran);
    ck_assert_ptr_eq(travelled(fortran, &length), pl_type_from(MPI_REAL8));
    const MPI_Datatype bases[] = { pair, same, fortran, MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT };
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        const struct pl_type *base = pl_type_from(bases[i]);
        const int lengths[] = { 2, 3 };
        const MPI_Aint places[] = { 0, 7 * base->extent };
        const MPI_Datatype types[] = { bases[i], bases[i] };
        MPI_Type_create_struct(2, lengths, places, types, &of_pair);
        struct pl_type *type = travelled(of_pair, &length);
        ck_assert_ptr_eq(type->element, base->element);
        ck_assert_int_eq(type->basic, base->basic);
        ck_assert_int_eq(type->size, 5 * base->size);
        pl_object_release(type);
        MPI_Type_free(&of_pair);
        type = travelled(bases[i], &length);
        ck_assert_ptr_eq(type, base->element);
        pl_object_release(type);
    }
    MPI_Type_contiguous(3, same, &of_pair);
    ck_assert_int_eq(pl_type_elements(pl_type_from(of_pair), 40), 5);
    MPI_Type_free(&of_pair);
    const int lengths[] = { 1, 1 };
    const MPI_Aint places[] = { 0, 8 };
    const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE };
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    struct pl_type *type = travelled(mixed, &length);
    ck_assert_ptr_null(type->element);
    pl_object_release(type);
    MPI_Type_free(&mixed);
    pl_type_trim();
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

static size_t length_of(MPI_Datatype *handle)
{
    size_t length;
    struct pl_type *type = travelled(*handle, &length);
    check_equal(pl_type_from(*handle), type);
    pl_object_release(type);
    MPI_Type_free(handle);
    return length;
}

START_TEST(compact)
{
    MPI_Datatype type, inner, next;
    typemap_errors_return();
    MPI_Type_contiguous(1000, MPI_INT, &type);
    ck_assert_uint_le(length_of(&type), 8);
    MPI_Type_vector(1000, 3, 50, MPI_DOUBLE, &type);
    ck_assert_uint_le(length_of(&type), 20);
    const int sizes[] = { 100, 80, 60 }, subsizes[] = { 40, 30, 20 }, starts[] = { 2, 3, 4 };
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    ck_assert_uint_le(length_of(&type), PL_TYPE_WIRE_OWN);
    int places[10000];
    for (int i = 0; i < 10000; i++)
        places[i] = 3 * i + i % 7 * (i % 3);
    MPI_Type_create_indexed_block(10000, 1, places, MPI_INT, &type);
    ck_assert_uint_le(length_of(&type), 10000 * 2);

    /* Of parts in two places, of which each has its parts in two places, and so on: once each. */
    for (int i = 0; i < 100; i++)
        places[i] = 2 * i + (i % 3 == 0);
    MPI_Type_create_indexed_block(100, 1, places, MPI_SHORT, &type);
    for (int i = 0; i < 20; i++) {
        const int lengths[] = { 1, 1, 1 };
        MPI_Aint lb, extent;
        MPI_Type_get_extent(type, &lb, &extent);
        const MPI_Aint at[] = { 0, extent + 10, 3 * extent };
        MPI_Type_create_hindexed(3, lengths, at, type, &inner);
        MPI_Type_create_resized(inner, -7, 5 * extent, &next);
        MPI_Type_free(&type);
        MPI_Type_free(&inner);
        type = next;
    }
    ck_assert_uint_le(length_of(&type), 1500);
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

/* Nested without end: as far as the limit it travels, beyond it an error says so. */
START_TEST(deep)
{
    enum { PARTS = 70 };
    typemap_errors_return();
    int places[PARTS];
    for (int i = 0; i < PARTS; i++)
        places[i] = 2 * i + (i == 5);
    MPI_Datatype type, next;
    MPI_Type_create_indexed_block(PARTS, 1, places, MPI_CHAR, &type);
    for (int level = 2; level <= PL_TYPE_WIRE_DEPTH + 1; level++) {
        int lengths[PARTS];
        MPI_Aint at[PARTS];
        MPI_Datatype types[PARTS];
        for (int i = 0; i < PARTS; i++) {
            lengths[i] = 1;
            at[i] = i ? 200 * level + 2 * i + (i == 5) : 0;
            types[i] = i ? MPI_CHAR : type;
        }
        MPI_Type_create_struct(PARTS, lengths, at, types, &next);
        MPI_Type_free(&type);
        type = next;
        if (level == PL_TYPE_WIRE_DEPTH) {
            size_t length;
            pl_object_release(travelled(type, &length));
        }
    }
    struct pl_type_wire wire;
    ck_assert_int_eq(pl_type_encode(pl_type_from(type), &wire), MPI_ERR_TYPE);
    MPI_Type_free(&type);
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

/* What any bytes may do: give an error, or a datatype whose data lies where its measures say. */
static void try_bytes(const unsigned char *bytes, size_t length)
{
    struct pl_type *type;
    struct pl_type_wire wire;
    unsigned char *exact = malloc(length ? length : 1);
    memcpy(exact, bytes, length);
    int err = pl_type_decode(exact, length, &type);
    free(exact);
    if (err) {
        ck_assert_ptr_null(type);
        ck_assert(err == MPI_ERR_TYPE || err == MPI_ERR_VALUE_TOO_LARGE);
        return;
    }
    struct pl_cursor cursor;
    void *address;
    pl_cursor_init(&cursor, NULL, 1, type);
    for (int runs = 0; runs < LAST_RUN; runs++) {
        size_t run = pl_cursor_run(&cursor, SIZE_MAX, &address);
        if (run == 0)
            break;
        int64_t at = (int64_t)(uintptr_t)address;
        ck_assert_int_ge(at, type->true_lb);
        ck_assert_int_le(at + (int64_t)run, type->true_lb + type->true_extent);
        if (runs == LAST_RUN / 2 && cursor.total > 100)
            pl_cursor_seek(&cursor, cursor.total - 100);
    }
    if (pl_type_encode(type, &wire) == MPI_SUCCESS) {
        struct pl_type *again = decoded(&wire);
        check_equal(type, again);
        pl_object_release(again);
        pl_type_wire_drop(&wire);
    }
    pl_object_release(type);
}

static void damage(const struct pl_type_wire *wire, uint64_t *seed)
{
    size_t length = wire->length;
    unsigned char *bytes = malloc(length + 20);
    memcpy(bytes, wire->bytes, length);
    for (int changes = 1 + unit_below(seed, 3); changes > 0; changes--) {
        size_t at = (size_t)unit_below(seed, (int)length);
        switch (unit_below(seed, 5)) {
        case 0: bytes[at] ^= (unsigned char)(1 << unit_below(seed, 8)); break;
        case 1: bytes[at] = (unsigned char)unit_random(seed); break;
        case 2: bytes[at] = (unsigned char)(unit_below(seed, 2) ? 0xff : unit_below(seed, 4)); break;
        case 3: /* a number far larger than it was */
            memmove(bytes + at + 5, bytes + at, length - at);
            memset(bytes + at, 0xff, 5);
            length += 5;
            break;
        default: length = at + 1;
        }
    }
    try_bytes(bytes, length);
    free(bytes);
}

START_TEST(damaged)
{
    uint64_t seed = 99;
    typemap_errors_return();
    for (int round = 0; round < ROUNDS / 3; round++) {
        struct sample sample = sample_random(&seed, DEPTH);
        struct pl_type_wire wire;
        ck_assert_int_eq(pl_type_encode(pl_type_from(sample.type), &wire), MPI_SUCCESS);
        for (size_t length = 0; length < wire.length && length < 100; length++)
            try_bytes(wire.bytes, length);
        for (int n = 0; n < DAMAGES; n++)
            damage(&wire, &seed);
        pl_type_wire_drop(&wire);
        sample_free(&sample);
    }
    for (int round = 0; round < 20 * ROUNDS; round++) {
        unsigned char bytes[40];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)(unit_below(&seed, 3) ? unit_below(&seed, 5) : (int)(unit_random(&seed) & 0xff));
        bytes[0] = 0;
        try_bytes(bytes, (size_t)unit_below(&seed, sizeof bytes + 1));
    }
    pl_type_trim();
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

/* A few bytes that stand for very much memory, if each list of lists were written out. */
START_TEST(bomb)
{
    enum { NODES = 4000, PARTS = 15, ALLOCATIONS = 10000 };
    unsigned char *bytes = calloc(NODES + 2, 4 * PARTS + 300);
    size_t n = 6;   /* derived, mixed, bounds 0, size 0 */
    bytes[n++] = 2; /* a list of 60 runs */
    bytes[n++] = 60;
    for (int i = 0; i < 60; i++, n += 3)
        memcpy(bytes + n, (unsigned char[]){ (unsigned char)(10 + 2 * (i % 3)), 0, i % 2 ? 100 : 1 }, 3);
    for (int node = 1; node < NODES; node++) {
        bytes[n++] = 2; /* a list of that list, in many places */
        bytes[n++] = PARTS;
        for (int i = 0; i < PARTS; i++) {
            bytes[n++] = 0xf0;
            bytes[n++] = (unsigned char)(0x10 + i % 3);
            bytes[n++] = (unsigned char)(0x80 | (node & 0x7f));
            bytes[n++] = (unsigned char)(node >> 7);
        }
    }
    struct pl_type *type;
    pl_memory_fail_at(ALLOCATIONS); /* a good many fewer nodes than there are */
    ck_assert_int_eq(pl_type_decode(bytes, n, &type), MPI_ERR_TYPE);
    ck_assert(!pl_memory_failed());
    pl_memory_fail_at(0);
    ck_assert_ptr_null(type);
    free(bytes);
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

START_TEST(without_memory)
{
    MPI_Datatype vector, type;
    typemap_errors_return();
    const int lengths[] = { 1, 2, 1, 1 };
    const MPI_Aint places[] = { 0, 1000, 5000, 9000 };
    MPI_Type_vector(10, 1, 3, MPI_INT, &vector);
    const MPI_Datatype types[] = { vector, MPI_DOUBLE, vector, MPI_CHAR };
    MPI_Type_create_struct(4, lengths, places, types, &type);
    struct pl_type_wire wire;
    struct pl_type *read;
    int err;
    bool failed = true;
    for (long n = 1; failed; n++) {
        pl_memory_fail_at(n);
        err = pl_type_encode(pl_type_from(type), &wire);
        if (!err) {
            err = pl_type_decode(wire.bytes, wire.length, &read);
            pl_type_wire_drop(&wire);
        }
        failed = pl_memory_failed();
        pl_memory_fail_at(0);
        ck_assert_int_eq(err, err ? MPI_ERR_NO_MEM : MPI_SUCCESS);
        if (err)
            continue;
        check_equal(pl_type_from(type), read);
        pl_object_release(read);
    }
    ck_assert_int_eq(err, MPI_SUCCESS);
    MPI_Type_free(&vector);
    MPI_Type_free(&type);
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

UNIT_MAIN("datatype_wire", round_trip, predefined, of_one_kind, compact, deep, damaged, bomb, without_memory)
