/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes that are made again from their contents, the normal form of layouts, and what is huge or deep. */
#include "type_arena.h"

#include "core/datatype/cursor.h"
#include "core/datatype/layout.h"
#include "core/datatype/parametric.h"
#include "core/datatype/signature.h"

enum { ROUNDS = 1000, DEPTH = 4 };

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
    case MPI_COMBINER_CONTIGUOUS: return MPI_Type_contiguous(n, k->d[0], type);
    case MPI_COMBINER_VECTOR: return MPI_Type_vector(n, i[1], i[2], k->d[0], type);
    case MPI_COMBINER_HVECTOR: return MPI_Type_create_hvector(n, i[1], k->a[0], k->d[0], type);
    case MPI_COMBINER_INDEXED: return MPI_Type_indexed(n, i + 1, i + 1 + n, k->d[0], type);
    case MPI_COMBINER_HINDEXED: return MPI_Type_create_hindexed(n, i + 1, k->a, k->d[0], type);
    case MPI_COMBINER_INDEXED_BLOCK: return MPI_Type_create_indexed_block(n, i[1], i + 2, k->d[0], type);
    case MPI_COMBINER_HINDEXED_BLOCK: return MPI_Type_create_hindexed_block(n, i[1], k->a, k->d[0], type);
    case MPI_COMBINER_STRUCT: return MPI_Type_create_struct(n, i + 1, k->a, k->d, type);
    case MPI_COMBINER_SUBARRAY:
        return MPI_Type_create_subarray(n, i + 1, i + 1 + n, i + 1 + 2 * n, i[1 + 3 * n], k->d[0], type);
    case MPI_COMBINER_DARRAY:
        return MPI_Type_create_darray(i[0], i[1], i[2], i + 3, i + 3 + i[2], i + 3 + 2 * i[2], i + 3 + 3 * i[2],
                                      i[3 + 4 * i[2]], k->d[0], type);
    case MPI_COMBINER_RESIZED: return MPI_Type_create_resized(k->d[0], k->a[0], k->a[1], type);
    default: return MPI_ERR_OTHER;
    }
}

static int call_large(const struct contents *k, MPI_Datatype *type)
{
    const MPI_Count *c = k->c, n = c[0];
    const int *i = k->i;
    switch (k->combiner) {
    case MPI_COMBINER_CONTIGUOUS: return MPI_Type_contiguous_c(n, k->d[0], type);
    case MPI_COMBINER_VECTOR: return MPI_Type_vector_c(n, c[1], c[2], k->d[0], type);
    case MPI_COMBINER_HVECTOR: return MPI_Type_create_hvector_c(n, c[1], c[2], k->d[0], type);
    case MPI_COMBINER_INDEXED: return MPI_Type_indexed_c(n, c + 1, c + 1 + n, k->d[0], type);
    case MPI_COMBINER_HINDEXED: return MPI_Type_create_hindexed_c(n, c + 1, c + 1 + n, k->d[0], type);
    case MPI_COMBINER_INDEXED_BLOCK: return MPI_Type_create_indexed_block_c(n, c[1], c + 2, k->d[0], type);
    case MPI_COMBINER_HINDEXED_BLOCK: return MPI_Type_create_hindexed_block_c(n, c[1], c + 2, k->d[0], type);
    case MPI_COMBINER_STRUCT: return MPI_Type_create_struct_c(n, c + 1, c + 1 + n, k->d, type);
    case MPI_COMBINER_SUBARRAY: return MPI_Type_create_subarray_c(i[0], c, c + i[0], c + 2 * i[0], i[1], k->d[0], type);
    case MPI_COMBINER_DARRAY:
        return MPI_Type_create_darray_c(i[0], i[1], i[2], c, i + 3, i + 3 + i[2], i + 3 + 2 * i[2], i[3 + 3 * i[2]],
                                        k->d[0], type);
    case MPI_COMBINER_RESIZED: return MPI_Type_create_resized_c(k->d[0], c[0], c[1], type);
    default: return MPI_ERR_OTHER;
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
    for (int round = 0; round < ROUNDS; round++) {
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

    int quads[50]; /* every fifth touches the one before: equal blocks nevertheless */
    for (int i = 0; i < 50; i++)
        quads[i] = 8 * i + i % 5;
    MPI_Type_create_indexed_block(50, 4, quads, MPI_DOUBLE, &type);
    ck_assert_int_eq(layout_of(type)->kind, PL_LAYOUT_BLOCKS);
    ck_assert_uint_eq(layout_of(type)->count, 50);
    ck_assert_uint_eq(layout_of(type)->part_size, 32);
    MPI_Type_free(&type);
}
END_TEST

/* A struct whose data is of one kind is that kind, as accumulates ask: other kinds without elements do not count. */
START_TEST(one_kind)
{
    const int lengths[] = { 0, 2, 1, 0 };
    const MPI_Aint places[] = { 0, 8, 40, 64 };
    MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE, MPI_DOUBLE, MPI_CHAR }, type;
    typemap_errors_return();
    ck_assert_int_eq(MPI_Type_create_struct(4, lengths, places, types, &type), MPI_SUCCESS);
    ck_assert_ptr_eq(pl_type_handle(pl_type_from(type)->element), MPI_DOUBLE);
    ck_assert_int_eq(pl_type_from(type)->basic, PL_F64);
    ck_assert_int_eq(pl_type_elements(pl_type_from(type), 24), 3);
    ck_assert_int_eq(pl_type_element_bytes(pl_type_from(type), INT64_MAX), -1); /* more than there are bytes */
    MPI_Type_free(&type);
    ck_assert_int_eq(MPI_Type_create_struct(1, lengths, places, types, &type), MPI_SUCCESS);
    ck_assert_int_eq(pl_type_elements(pl_type_from(type), 0), 0);
    ck_assert_int_eq(pl_type_elements(pl_type_from(type), 4), MPI_UNDEFINED);
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

    /* The span of the inner loop fits; one more step of its stride would not. */
    ck_assert_int_eq(MPI_Type_create_hvector_c(4, 1, -(INT64_MAX / 7 * 2), MPI_INT, &vector), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_create_hvector_c(2, 1, 8, vector, &two), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_size_c(two, &size), MPI_SUCCESS);
    ck_assert_int_eq(size, 32);
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

UNIT_MAIN("datatype", contents, normal_form, one_kind, huge, deep)
