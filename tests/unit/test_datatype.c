/* SPDX-License-Identifier: BSD-3-Clause */
/* Random nested datatypes against their type maps: measures, packing and unpacking in pieces, runs, elements, copies,
 * and types that are made again from their contents. */
#include "typemap.h"

#include "core/datatype_layout.h"

enum { ROUNDS = 4000, DEPTH = 4, COUNT_MAX = 4 };

/* Memory around a buffer, and the place of every packed byte in it. */
struct arena {
    unsigned char *memory, *buffer;
    size_t length, total;
    long *place; /* [total]: where each packed byte lies in `memory` */
};

static struct arena arena_create(const struct sample *sample, int count, uint64_t *seed)
{
    long lb, ub, extent = typemap_extent(&sample->map), reach = labs(extent) * COUNT_MAX;
    typemap_true_bounds(&sample->map, &lb, &ub);
    struct arena arena = { .length = (size_t)(ub - lb + 2 * reach + 64) };
    long origin = reach - lb + 16;
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

static void arena_free(struct arena *arena)
{
    free(arena->memory);
    free(arena->place);
}

static void check_measures(const struct sample *sample)
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

/* Pieces from 1 byte to more than all. */
static size_t piece(uint64_t *seed, size_t total)
{
    switch (unit_below(seed, 3)) {
    case 0: return 1 + (size_t)unit_below(seed, 7);
    case 1: return 1 + (size_t)unit_below(seed, 200);
    default: return 1 + (size_t)unit_below(seed, (int)total + 10);
    }
}

static void check_pack(const struct sample *sample, int count, const struct arena *arena, uint64_t *seed)
{
    struct pl_cursor cursor;
    unsigned char *packed = malloc(arena->total + 1);
    pl_cursor_init(&cursor, arena->buffer, count, pl_type_from(sample->type));
    ck_assert_uint_eq(cursor.total, arena->total);
    size_t done = 0;
    while (done < arena->total) {
        size_t want = piece(seed, arena->total), left = arena->total - done;
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

static void check_runs(const struct sample *sample, int count, const struct arena *arena, uint64_t *seed)
{
    struct pl_cursor cursor;
    void *address;
    size_t done = 0, bytes;
    int wrong = 0;
    pl_cursor_init(&cursor, arena->buffer, count, pl_type_from(sample->type));
    while ((bytes = pl_cursor_run(&cursor, piece(seed, arena->total), &address)) > 0)
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
            size_t want = piece(seed, arena->total);
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
    for (int round = 0; round < ROUNDS / 4; round++) {
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

/* --- contents ---------------------------------------------------------------------------------------------------- */

/* The arguments of a datatype, as MPI_Type_get_contents_c gives them. */
struct contents {
    int combiner;
    MPI_Count ints, addresses, counts, types;
    int *i;
    MPI_Aint *a;
    MPI_Count *c;
    MPI_Datatype *d;
};

static struct contents contents_of(MPI_Datatype type)
{
    struct contents k;
    ck_assert_int_eq(MPI_Type_get_envelope_c(type, &k.ints, &k.addresses, &k.counts, &k.types, &k.combiner),
                     MPI_SUCCESS);
    k.i = calloc((size_t)k.ints + 1, sizeof *k.i);
    k.a = calloc((size_t)k.addresses + 1, sizeof *k.a);
    k.c = calloc((size_t)k.counts + 1, sizeof *k.c);
    k.d = calloc((size_t)k.types + 1, sizeof *k.d);
    if (k.combiner != MPI_COMBINER_NAMED)
        ck_assert_int_eq(MPI_Type_get_contents_c(type, k.ints, k.addresses, k.counts, k.types, k.i, k.a, k.c, k.d),
                         MPI_SUCCESS);
    return k;
}

static void contents_free(struct contents *k)
{
    for (MPI_Count n = 0; n < k->types; n++)
        type_free(&k->d[n]);
    free(k->i);
    free(k->a);
    free(k->c);
    free(k->d);
}

/* The same constructor called with the contents. */
static int call_small(const struct contents *k, MPI_Datatype *type)
{
    const int *i = k->i, n = k->ints > 0 ? i[0] : 0;
    switch (k->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        return MPI_Type_contiguous(n, k->d[0], type);
    case MPI_COMBINER_VECTOR:
        return MPI_Type_vector(n, i[1], i[2], k->d[0], type);
    case MPI_COMBINER_HVECTOR:
        return MPI_Type_create_hvector(n, i[1], k->a[0], k->d[0], type);
    case MPI_COMBINER_INDEXED:
        return MPI_Type_indexed(n, i + 1, i + 1 + n, k->d[0], type);
    case MPI_COMBINER_HINDEXED:
        return MPI_Type_create_hindexed(n, i + 1, k->a, k->d[0], type);
    case MPI_COMBINER_INDEXED_BLOCK:
        return MPI_Type_create_indexed_block(n, i[1], i + 2, k->d[0], type);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return MPI_Type_create_hindexed_block(n, i[1], k->a, k->d[0], type);
    case MPI_COMBINER_STRUCT:
        return MPI_Type_create_struct(n, i + 1, k->a, k->d, type);
    case MPI_COMBINER_SUBARRAY:
        return MPI_Type_create_subarray(n, i + 1, i + 1 + n, i + 1 + 2 * n, i[1 + 3 * n], k->d[0], type);
    case MPI_COMBINER_DARRAY:
        return MPI_Type_create_darray(i[0], i[1], i[2], i + 3, i + 3 + i[2], i + 3 + 2 * i[2], i + 3 + 3 * i[2],
                                      i[3 + 4 * i[2]], k->d[0], type);
    case MPI_COMBINER_RESIZED:
        return MPI_Type_create_resized(k->d[0], k->a[0], k->a[1], type);
    default:
        return MPI_ERR_OTHER;
    }
}

static int call_large(const struct contents *k, MPI_Datatype *type)
{
    const MPI_Count *c = k->c, n = c[0];
    const int *i = k->i;
    switch (k->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        return MPI_Type_contiguous_c(n, k->d[0], type);
    case MPI_COMBINER_VECTOR:
        return MPI_Type_vector_c(n, c[1], c[2], k->d[0], type);
    case MPI_COMBINER_HVECTOR:
        return MPI_Type_create_hvector_c(n, c[1], c[2], k->d[0], type);
    case MPI_COMBINER_INDEXED:
        return MPI_Type_indexed_c(n, c + 1, c + 1 + n, k->d[0], type);
    case MPI_COMBINER_HINDEXED:
        return MPI_Type_create_hindexed_c(n, c + 1, c + 1 + n, k->d[0], type);
    case MPI_COMBINER_INDEXED_BLOCK:
        return MPI_Type_create_indexed_block_c(n, c[1], c + 2, k->d[0], type);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return MPI_Type_create_hindexed_block_c(n, c[1], c + 2, k->d[0], type);
    case MPI_COMBINER_STRUCT:
        return MPI_Type_create_struct_c(n, c + 1, c + 1 + n, k->d, type);
    case MPI_COMBINER_SUBARRAY:
        return MPI_Type_create_subarray_c(i[0], c, c + i[0], c + 2 * i[0], i[1], k->d[0], type);
    case MPI_COMBINER_DARRAY:
        return MPI_Type_create_darray_c(i[0], i[1], i[2], c, i + 3, i + 3 + i[2], i + 3 + 2 * i[2], i[3 + 3 * i[2]],
                                        k->d[0], type);
    case MPI_COMBINER_RESIZED:
        return MPI_Type_create_resized_c(k->d[0], c[0], c[1], type);
    default:
        return MPI_ERR_OTHER;
    }
}

/* A new type of new types, down to the predefined ones. */
static MPI_Datatype rebuild(MPI_Datatype type)
{
    struct contents k = contents_of(type);
    MPI_Datatype made = type;
    if (k.combiner == MPI_COMBINER_DUP) {
        made = rebuild(k.d[0]);
    } else if (k.combiner != MPI_COMBINER_NAMED && k.combiner != MPI_COMBINER_VALUE_INDEX) {
        struct contents again = k;
        again.d = malloc(((size_t)k.types + 1) * sizeof *again.d);
        for (MPI_Count n = 0; n < k.types; n++)
            again.d[n] = rebuild(k.d[n]);
        ck_assert_int_eq(k.counts > 0 ? call_large(&again, &made) : call_small(&again, &made), MPI_SUCCESS);
        for (MPI_Count n = 0; n < k.types; n++)
            type_free(&again.d[n]);
        free(again.d);
    }
    contents_free(&k);
    return made;
}

START_TEST(contents)
{
    uint64_t seed = 77;
    typemap_errors_return();
    for (int round = 0; round < ROUNDS / 4; round++) {
        struct sample sample = sample_random(&seed, DEPTH);
        if (!sample_usable(&sample))
            continue;
        struct sample again = { .map = sample.map, .type = rebuild(sample.type) };
        MPI_Type_commit(&again.type);
        struct arena arena = arena_create(&again, 1, &seed);
        check_measures(&again);
        check_pack(&again, 1, &arena, &seed);
        arena_free(&arena);
        type_free(&again.type);
        sample_free(&sample);
    }
    pl_type_trim();
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

/* --- layouts ----------------------------------------------------------------------------------------------------- */

static const struct pl_type_layout *layout_of(MPI_Datatype type)
{
    return pl_type_from(type)->layout;
}

START_TEST(normal_form)
{
    MPI_Datatype type, outer;
    typemap_errors_return();

    MPI_Type_vector(10, 3, 3, MPI_INT, &type); /* no gaps */
    ck_assert(pl_type_from(type)->dense);
    MPI_Type_free(&type);

    const int sizes[] = { 10, 8, 6 }, subsizes[] = { 4, 8, 6 }, starts[] = { 2, 0, 0 };
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type); /* whole planes */
    ck_assert_ptr_null(layout_of(type));
    ck_assert(pl_type_from(type)->solid && !pl_type_from(type)->dense);
    MPI_Type_free(&type);

    MPI_Type_vector(4, 1, 2, MPI_INT, &type); /* a loop that goes on in the next one */
    MPI_Type_create_hvector(5, 1, 4 * 2 * sizeof(int), type, &outer);
    ck_assert_int_eq(layout_of(outer)->kind, PL_LAYOUT_LOOP);
    ck_assert_uint_eq(layout_of(outer)->count, 20);
    MPI_Type_free(&type);
    MPI_Type_free(&outer);

    const int lengths[] = { 1, 2, 0, 3 }, displacements[] = { 4, 5, 100, 7 }; /* neighbours */
    MPI_Type_indexed(4, lengths, displacements, MPI_INT, &type);
    ck_assert_ptr_null(layout_of(type));
    ck_assert_int_eq(pl_type_from(type)->true_lb, 16);
    MPI_Type_free(&type);

    const int evenly[] = { 30, 20, 10 }; /* equally spaced, backwards */
    MPI_Type_create_indexed_block(3, 1, evenly, MPI_SHORT, &type);
    ck_assert_int_eq(layout_of(type)->kind, PL_LAYOUT_LOOP);
    ck_assert_int_eq(layout_of(type)->stride, -20);
    MPI_Type_free(&type);
}
END_TEST

/* Data that no memory could hold: only its description is handled. */
START_TEST(huge)
{
    MPI_Datatype vector, two, more;
    MPI_Count size, lb, extent;
    int small;
    typemap_errors_return();
    const MPI_Count billion = 1000000000;
    ck_assert_int_eq(MPI_Type_vector_c(billion, 3, 5, MPI_DOUBLE, &vector), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_size_c(vector, &size), MPI_SUCCESS);
    ck_assert_int_eq(size, billion * 24);
    MPI_Type_get_extent_c(vector, &lb, &extent);
    ck_assert_int_eq(extent, (billion - 1) * 40 + 24);
    MPI_Type_size(vector, &small);
    ck_assert_int_eq(small, MPI_UNDEFINED);
    MPI_Type_commit(&vector);

    struct pl_cursor cursor;
    void *address;
    pl_cursor_init(&cursor, NULL, 2, pl_type_from(vector));
    ck_assert_uint_eq(cursor.total, 48u * billion);
    pl_cursor_seek(&cursor, 24u * billion + 24 * 7 + 9);
    ck_assert_uint_eq(pl_cursor_run(&cursor, 1000, &address), 15);
    ck_assert_uint_eq((uintptr_t)address, (uintptr_t)(extent + 40 * 7 + 9));

    ck_assert_int_eq(MPI_Type_create_hvector_c(billion, 1, extent + 8, vector, &two), MPI_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(MPI_Type_create_hvector_c(1000, 1, extent + 8, vector, &two), MPI_SUCCESS);
    ck_assert_int_eq(pl_type_elements(pl_type_from(two), 1000 * size), 3000 * billion);
    ck_assert_int_eq(MPI_Type_contiguous_c(billion, two, &more), MPI_ERR_VALUE_TOO_LARGE);
    const MPI_Count lengths[] = { 1, 1 }, far[] = { INT64_MIN, INT64_MAX - 8 };
    ck_assert_int_eq(MPI_Type_create_hindexed_c(2, lengths, far, MPI_INT, &more), MPI_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(MPI_Type_create_resized_c(MPI_INT, INT64_MAX, 1, &more), MPI_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(MPI_Type_vector_c(2, 1, INT64_MAX / 2, MPI_INT, &more), MPI_ERR_VALUE_TOO_LARGE);
    const MPI_Count sizes[] = { billion, billion, billion }, ones[] = { 1, 1, 1 }, zeros[] = { 0, 0, 0 };
    ck_assert_int_eq(MPI_Type_create_subarray_c(3, sizes, ones, zeros, MPI_ORDER_C, MPI_INT, &more),
                     MPI_ERR_VALUE_TOO_LARGE);
    MPI_Type_free(&vector);
    MPI_Type_free(&two);
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

/* Type upon type: neither the stack nor the memory may grow with the square of it. */
START_TEST(deep)
{
    enum { LEVELS = 200000 };
    typemap_errors_return();
    MPI_Datatype type = MPI_SHORT, next;
    for (int i = 0; i < LEVELS; i++) {
        const int lengths[] = { 1, 1 };
        const MPI_Aint places[] = { 0, 8 * (i + 1) };
        MPI_Datatype types[] = { type, i % 2 ? MPI_CHAR : MPI_INT };
        ck_assert_int_eq(MPI_Type_create_struct(2, lengths, places, types, &next), MPI_SUCCESS);
        if (i > 0)
            MPI_Type_free(&type);
        type = next;
    }
    MPI_Count size;
    MPI_Type_size_c(type, &size);
    ck_assert_int_eq(size, 2 + LEVELS / 2 * 5);
    ck_assert_int_eq(pl_type_elements(pl_type_from(type), size), LEVELS + 1);
    unsigned char *memory = calloc(1, 8 * LEVELS + 16), *packed = malloc((size_t)size);
    for (int i = 0; i < LEVELS; i++)
        memory[8 * (i + 1)] = (unsigned char)(i % 251 + 1);
    struct pl_cursor cursor;
    pl_cursor_init(&cursor, memory, 1, pl_type_from(type));
    for (size_t done = 0; done < (size_t)size;)
        done += pl_cursor_pack(&cursor, packed + done, 1000);
    int wrong = 0;
    for (int i = 0; i < LEVELS; i++)
        wrong += packed[2 + i / 2 * 5 + i % 2 * 4] != i % 251 + 1;
    ck_assert_int_eq(wrong, 0);
    free(memory);
    free(packed);
    MPI_Type_free(&type);
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("datatype");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 0);
    tcase_add_loop_test(all, random_types, 0, 4);
    tcase_add_test(all, contents);
    tcase_add_test(all, normal_form);
    tcase_add_test(all, huge);
    tcase_add_test(all, deep);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
