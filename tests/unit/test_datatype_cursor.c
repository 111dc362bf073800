/* SPDX-License-Identifier: BSD-3-Clause */
/* Random nested datatypes, and runs of every length, against their type maps: measures, packing and unpacking in
 * pieces, runs, elements, copies. */
#include "core/datatype/cursor.h"
#include "core/datatype/parametric.h"
#include "core/datatype/signature.h"
#include "type_arena.h"

enum { ROUNDS = 1000, DEPTH = 4 };

/* One kind of element is known as such. */
static void check_element(const struct sample *sample)
{
    const struct pl_type *type = pl_type_from(sample->type);
    if (type->element && !type->element->signature)
        for (int i = 0; i < sample->map.count; i++)
            ck_assert_ptr_eq(sample->map.entries[i].type, pl_type_handle(type->element));
    if (type->element)
        ck_assert_int_eq(type->basic, type->element->basic);
}

static void check_span(const struct sample *sample, int count, const struct arena *arena)
{
    MPI_Aint lowest;
    size_t span = pl_type_span(pl_type_from(sample->type), count, &lowest);
    long first = 0, last = -1;
    for (size_t i = 0; i < arena->total; i++) {
        first = i == 0 || arena->place[i] < first ? arena->place[i] : first;
        last = i == 0 || arena->place[i] > last ? arena->place[i] : last;
    }
    ck_assert_int_eq((long)span, last - first + 1);
    if (arena->total > 0)
        ck_assert_ptr_eq(arena->buffer + lowest, arena->memory + first);
}

static void check_runs(const struct sample *sample, int count, const struct arena *arena, uint64_t *seed)
{
    struct pl_cursor cursor;
    void *address;
    size_t done = 0, bytes;
    int wrong = 0;
    pl_cursor_init(&cursor, arena->buffer, count, pl_type_from(sample->type));
    while ((bytes = pl_cursor_run(&cursor, arena_chunk(seed, arena->total), &address)) > 0)
        for (size_t i = 0; i < bytes && done < arena->total; i++)
            wrong += (unsigned char *)address + i != arena->memory + arena->place[done++];
    ck_assert_int_eq(wrong, 0);
    ck_assert_uint_eq(done, arena->total);
}

/* Pieces that arrive out of order; nothing but the data is touched. */
static void check_unpack(const struct sample *sample, int count, const struct arena *arena, uint64_t *seed)
{
    struct pl_cursor cursor;
    unsigned char *packed = malloc(arena->total + 1), *expected = malloc(arena->length);
    memcpy(expected, arena->memory, arena->length);
    for (size_t i = 0; i < arena->total; i++)
        expected[arena->place[i]] = packed[i] = (unsigned char)unit_random(seed);
    pl_cursor_init(&cursor, arena->buffer, count, pl_type_from(sample->type));
    size_t middle = (size_t)unit_below(seed, (int)arena->total + 1);
    for (int half = 0; half < 2; half++) {
        size_t at = half == 0 ? middle : 0, end = half == 0 ? arena->total : middle;
        pl_cursor_seek(&cursor, at);
        while (at < end) {
            size_t want = arena_chunk(seed, arena->total);
            want = want < end - at ? want : end - at;
            if (pl_cursor_unpack(&cursor, packed + at, want) != want)
                ck_abort_msg("less than %zu bytes unpacked at %zu of %zu", want, at, end);
            at += want;
        }
    }
    ck_assert_int_eq(memcmp(arena->memory, expected, arena->length), 0);
    free(packed);
    free(expected);
}

static void check_elements(const struct sample *sample, int count, uint64_t *seed)
{
    const struct pl_type *type = pl_type_from(sample->type);
    long total = typemap_size(&sample->map) * count, bytes = unit_below(seed, (int)total + 1);
    long rest = bytes, elements = 0;
    for (int i = 0; sample->map.count > 0; i = (i + 1) % sample->map.count) {
        if (rest < sample->map.entries[i].size)
            break;
        rest -= sample->map.entries[i].size;
        elements++;
    }
    ck_assert_int_eq(pl_type_elements(type, bytes), rest == 0 ? elements : MPI_UNDEFINED);
    ck_assert_int_eq(pl_type_element_bytes(type, elements), bytes - rest);
}

/* From the sample to a type of the same signature that lies otherwise, and back into fresh memory. */
static void check_copy(const struct sample *sample, int count, const struct arena *arena)
{
    const struct pl_type *type = pl_type_from(sample->type);
    MPI_Datatype bytes, spread;
    MPI_Type_contiguous((int)arena->total, MPI_BYTE, &bytes);
    MPI_Type_vector((int)arena->total, 1, 2, MPI_BYTE, &spread);
    unsigned char *dense = calloc(1, arena->total + 1), *gaps = calloc(2, arena->total + 1);
    unsigned char *back = calloc(1, arena->length);
    unsigned char *back_buffer =
        (unsigned char *)((uintptr_t)back + (uintptr_t)arena->buffer - (uintptr_t)arena->memory);
    pl_type_copy(arena->buffer, count, type, gaps, 1, pl_type_from(spread));
    pl_type_copy(gaps, 1, pl_type_from(spread), dense, 1, pl_type_from(bytes));
    pl_type_copy(dense, 1, pl_type_from(bytes), back_buffer, count, type);
    int wrong = 0;
    for (size_t i = 0; i < arena->total; i++)
        wrong += back[arena->place[i]] != arena->memory[arena->place[i]];
    ck_assert_int_eq(wrong, 0);
    free(dense);
    free(gaps);
    free(back);
    MPI_Type_free(&bytes);
    MPI_Type_free(&spread);
}

START_TEST(random_types)
{
    uint64_t seed = (uint64_t)_i + 1;
    typemap_errors_return();
    for (int round = 0; round < ROUNDS; round++) {
        struct sample sample = sample_random(&seed, 1 + unit_below(&seed, DEPTH));
        if (!sample_usable(&sample))
            continue;
        int count = unit_below(&seed, COUNT_MAX + 1);
        struct arena arena = arena_create(&sample, count, &seed);
        check_measures(&sample);
        check_element(&sample);
        check_span(&sample, count, &arena);
        check_pack(&sample, count, &arena, &seed);
        check_runs(&sample, count, &arena, &seed);
        check_elements(&sample, count, &seed);
        if (count == 0 || !typemap_overlaps(&sample.map, count)) {
            check_copy(&sample, count, &arena);
            check_unpack(&sample, count, &arena, &seed);
        }
        arena_free(&arena);
        sample_free(&sample);
    }
    pl_type_trim();
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

/* --- every length of a run --------------------------------------------------------------------------------------- */

enum lay { EVERY_OTHER, BACKWARDS, ANYWHERE, TOUCHING, ANY_LENGTH, EVEN_STARTS, RECORDS, LAYS };
enum { RUNS = 40, LENGTHS = 140 };

/* RUNS runs of bytes, as long as `length` says (ANY_LENGTH: up to that). */
static struct sample sample_runs(enum lay lay, int length, uint64_t *seed)
{
    struct sample sample = { 0 };
    int lengths[RUNS];
    MPI_Aint places[RUNS];
    for (int i = 0, end = 0; i < RUNS; i++) {
        int gap = lay == EVERY_OTHER ? length : lay == TOUCHING && i % 5 == 4 ? 0 : 1 + unit_below(seed, 9);
        bool record = lay == RECORDS && i % 2; /* a record has two runs, the second of which is another length */
        lengths[i] = lay == ANY_LENGTH ? 1 + unit_below(seed, length) : record ? 1 + length % 19 : length;
        if (lay == EVEN_STARTS) { /* the starts are as far apart as those of equal runs */
            lengths[i] = (1 + i % 2) * length;
            places[i] = i * (2 * length + 9);
        } else if (lay == RECORDS)
            places[i] = i / 2 * (length + 30) + (record ? length + 3 : 0);
        else
            places[i] = lay == BACKWARDS ? -i * (length + 3) : end + gap;
        end = (int)places[i] + lengths[i];
        typemap_entry(&sample.map, MPI_BYTE, (long)places[i]);
        sample.map.entries[i].size = lengths[i]; /* for all bytes of the run */
    }
    MPI_Datatype one;
    int runs = lay == RECORDS ? 2 : RUNS;
    ck_assert_int_eq(MPI_Type_create_hindexed(runs, lengths, places, MPI_BYTE, &one), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_create_hvector(RUNS / runs, 1, length + 30, one, &sample.type), MPI_SUCCESS);
    MPI_Type_free(&one);
    MPI_Type_commit(&sample.type);
    return sample;
}

START_TEST(all_lengths)
{
    uint64_t seed = (uint64_t)_i + 1;
    typemap_errors_return();
    for (int length = 1; length <= LENGTHS; length++) {
        struct sample sample = sample_runs((enum lay)_i, length, &seed);
        for (int count = 1; count <= 2; count++) {
            struct arena arena = arena_create(&sample, count, &seed);
            check_pack(&sample, count, &arena, &seed);
            check_runs(&sample, count, &arena, &seed);
            check_copy(&sample, count, &arena);
            check_unpack(&sample, count, &arena, &seed);
            arena_free(&arena);
        }
        sample_free(&sample);
    }
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

/* Runs between nested layouts, all of one size. */
START_TEST(mixed_parts)
{
    enum { BYTES = 9 };
    uint64_t seed = 5;
    struct sample sample = { 0 };
    MPI_Datatype gaps, types[RUNS];
    int ones[RUNS];
    MPI_Aint places[RUNS];
    typemap_errors_return();
    MPI_Type_vector(BYTES, 1, 2, MPI_BYTE, &gaps);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Datatype run;
        MPI_Type_contiguous(BYTES, MPI_BYTE, &run);
        for (int i = 0; i < RUNS; i++) {
            bool nested = turn ? i % 3 == 1 : i + 1 < RUNS;
            ones[i] = 1;
            places[i] = i * 2 * (BYTES + 1);
            types[i] = nested ? gaps : run;
            for (int b = 0; b < BYTES; b++)
                typemap_entry(&sample.map, MPI_BYTE, (long)places[i] + (nested ? 2 * b : b));
        }
        ck_assert_int_eq(MPI_Type_create_struct(RUNS, ones, places, types, &sample.type), MPI_SUCCESS);
        struct arena arena = arena_create(&sample, 2, &seed);
        check_pack(&sample, 2, &arena, &seed);
        check_runs(&sample, 2, &arena, &seed);
        check_copy(&sample, 2, &arena);
        check_unpack(&sample, 2, &arena, &seed);
        arena_free(&arena);
        sample_free(&sample);
        MPI_Type_free(&run);
    }
    MPI_Type_free(&gaps);
}
END_TEST

/* Elements that are longer than what is moved at a time, but have few runs. */
START_TEST(long_elements)
{
    enum { BYTES = 5000, GAP = 7 };
    uint64_t seed = 6;
    struct sample sample = { 0 };
    typemap_errors_return();
    MPI_Type_create_hvector(2, BYTES, BYTES + GAP, MPI_BYTE, &sample.type);
    for (int i = 0; i < 2; i++) {
        typemap_entry(&sample.map, MPI_BYTE, i * (BYTES + GAP));
        sample.map.entries[i].size = BYTES;
    }
    for (int count = 1; count <= COUNT_MAX; count++) {
        struct arena arena = arena_create(&sample, count, &seed);
        check_copy(&sample, count, &arena);
        check_unpack(&sample, count, &arena, &seed);
        arena_free(&arena);
    }
    sample_free(&sample);
}
END_TEST

/* A copy ends with the shorter of the two: nothing behind it is touched. */
START_TEST(shorter_target)
{
    enum { LONG = 30000, SHORT = 20000, ALL = 2 * LONG };
    static unsigned char from[ALL], to[ALL];
    MPI_Datatype spread;
    MPI_Type_create_resized(MPI_BYTE, 0, 2, &spread);
    for (int i = 0; i < ALL; i++)
        from[i] = (unsigned char)(i % 251);
    for (int form = 0; form < 8; form++) {
        int apart = 1 + form % 2, away = 1 + form / 2 % 2, given = form / 4 ? SHORT : LONG;
        memset(to, 0xfe, sizeof to);
        pl_type_copy(from, given, pl_type_from(apart == 2 ? spread : MPI_BYTE), to, LONG + SHORT - given,
                     pl_type_from(away == 2 ? spread : MPI_BYTE));
        int wrong = 0;
        for (int i = 0; i < ALL; i++) {
            bool taken = i % away == 0 && i / away < SHORT;
            wrong += to[i] != (taken ? from[i / away * apart] : 0xfe);
        }
        ck_assert_int_eq(wrong, 0);
    }
    MPI_Type_free(&spread);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("datatype_cursor");
    TCase *all = unit_case(suite);
    tcase_add_loop_test(all, random_types, 0, 4);
    tcase_add_loop_test(all, all_lengths, 0, LAYS);
    tcase_add_test(all, mixed_parts);
    tcase_add_test(all, long_elements);
    tcase_add_test(all, shorter_target);
    return unit_end(suite);
}
