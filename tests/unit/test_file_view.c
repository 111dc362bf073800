/* SPDX-License-Identifier: BSD-3-Clause */
/* Views of files against the type maps of random filetypes: which may be one, where each byte of the stream lies, the
 * runs of every part, the ends of files. And numbers that are too large for a file. */
#include "core/datatype/parametric.h"
#include "core/file/view.h"
#include "type_arena.h"

enum { ROUNDS = 1500, TILES = 4, DISP = 5 };

/* A random datatype whose lowest byte lies at a displacement of 0 to 3, sometimes with a gap behind it, sometimes with
 * an extent so short that the next one overlaps it. */
static struct sample sample_file(uint64_t *seed)
{
    struct sample old = sample_random(seed, unit_below(seed, 4)), made = { 0 };
    long lb, ub;
    typemap_true_bounds(&old.map, &lb, &ub);
    MPI_Aint shift = unit_below(seed, 4) - lb;
    long extent = unit_below(seed, 5) ? ub + shift + unit_below(seed, 9) : unit_below(seed, (int)(ub + shift) + 1);
    MPI_Datatype moved;
    MPI_Type_create_hindexed(1, (int[]){ 1 }, &shift, old.type, &moved);
    MPI_Type_create_resized(moved, 0, extent, &made.type);
    MPI_Type_commit(&made.type);
    MPI_Type_free(&moved);
    typemap_append(&made.map, &old.map, (long)shift);
    typemap_mark(&made.map, 0, extent);
    sample_free(&old);
    return made;
}

/* Where each byte of TILES filetypes lies in the file. */
static long *places_of(const struct sample *sample, long extent, long *total)
{
    long *places = malloc((size_t)(typemap_size(&sample->map) * TILES + 1) * sizeof *places);
    *total = 0;
    for (int tile = 0; tile < TILES; tile++)
        for (int i = 0; i < sample->map.count; i++)
            for (int b = 0; b < sample->map.entries[i].size; b++)
                places[(*total)++] = DISP + tile * extent + sample->map.entries[i].at + b;
    return places;
}

static void check_runs_of(const struct pl_view *view, const long *places, long from, long bytes, uint64_t *seed)
{
    struct pl_span span;
    struct pl_runs runs;
    MPI_Offset at;
    size_t length;
    long done = from;
    ck_assert_int_eq(pl_view_span(view, from, bytes, &span), MPI_SUCCESS);
    ck_assert_uint_eq(span.bytes, (size_t)bytes);
    if (bytes > 0)
        UNIT_CHECK(span.low == places[from] && span.high == places[from + bytes - 1] + 1);
    pl_runs_init(&runs, view, &span);
    while ((length = pl_runs_next(&runs, arena_chunk(seed, (size_t)bytes), &at)) > 0)
        for (size_t i = 0; i < length; i++, done++)
            UNIT_CHECK(done < from + bytes && places[done] == at + (MPI_Offset)i);
    ck_assert_int_eq(done, from + bytes);
}

static void check_ends(const struct pl_view *view, const long *places, long total, uint64_t *seed)
{
    MPI_Offset byte;
    for (int i = 0; i < 10; i++) {
        long size = unit_below(seed, (int)places[total - 1] + 1), first = 0, etype = unit_below(seed, (int)total);
        while (places[first] < size)
            first++;
        ck_assert_int_eq(pl_view_etype_from(view, size), first);
        ck_assert_int_eq(pl_view_byte(view, etype, &byte), MPI_SUCCESS);
        ck_assert_int_eq(byte, places[etype]);
    }
}

/* An access within any filetype is possible, and none that extends over two. */
static void check_single(const struct pl_view *view, const long *places, long each, uint64_t *seed)
{
    struct pl_span span;
    long from = unit_below(seed, (int)each), tile = each * unit_below(seed, TILES);
    check_runs_of(view, places, tile + from, unit_below(seed, (int)(each - from) + 1), seed);
    ck_assert_int_eq(pl_view_span(view, tile + from, each - from + 1, &span), MPI_ERR_ARG);
}

START_TEST(random_filetypes)
{
    uint64_t seed = (uint64_t)_i + 77;
    int taken = 0;
    typemap_errors_return();
    for (int round = 0; round < ROUNDS; round++) {
        struct sample sample = sample_file(&seed);
        struct pl_type *byte = pl_type_predefined((uintptr_t)MPI_BYTE), *type = pl_type_from(sample.type);
        struct pl_view view;
        long total, *places = places_of(&sample, (long)type->extent, &total);
        bool ascending = true, tiles_ascending = true;
        for (long i = 1; i < total; i++) {
            tiles_ascending &= places[i] > places[i - 1];
            ascending &= places[i] > places[i - 1] || i >= total / TILES;
        }
        int rc = pl_view_init(DISP, byte, type, &pl_datarep_native, true, &view);
        ck_assert_int_eq(rc, ascending || total == 0 ? MPI_SUCCESS : MPI_ERR_TYPE);
        if (rc == MPI_SUCCESS && total > 0) {
            ck_assert(view.ascending);
            ck_assert_int_eq(view.single, !tiles_ascending);
            taken++;
            if (view.single) {
                check_single(&view, places, total / TILES, &seed);
                total = 0;
            }
        }
        if (rc == MPI_SUCCESS && total > 0) {
            for (int i = 0; i < 5; i++) {
                long from = unit_below(&seed, (int)total);
                check_runs_of(&view, places, from, unit_below(&seed, (int)(total - from) + 1), &seed);
            }
            check_runs_of(&view, places, 0, total, &seed);
            check_ends(&view, places, total, &seed);
        }
        if (rc == MPI_SUCCESS)
            pl_view_fini(&view);
        free(places);
        sample_free(&sample);
    }
    ck_assert_int_gt(taken, ROUNDS / 10);
    pl_type_trim();
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

START_TEST(too_far)
{
    struct pl_view view;
    struct pl_span span;
    MPI_Offset byte;
    MPI_Datatype sparse;
    typemap_errors_return();
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 40, &sparse);
    MPI_Type_commit(&sparse);
    struct pl_type *integer = pl_type_predefined((uintptr_t)MPI_INT);
    ck_assert_int_eq(pl_view_init(9, integer, pl_type_from(sparse), &pl_datarep_native, true, &view), MPI_SUCCESS);
    ck_assert_int_eq(pl_view_byte(&view, 1 << 22, &byte), MPI_SUCCESS);
    ck_assert_int_eq(byte, 9 + ((MPI_Offset)1 << 62));
    ck_assert_int_eq(pl_view_byte(&view, 1 << 23, &byte), MPI_ERR_ARG);
    ck_assert_int_eq(pl_view_byte(&view, INT64_MAX, &byte), MPI_ERR_ARG);
    ck_assert_int_eq(pl_view_span(&view, 1, INT64_MAX - 1, &span), MPI_ERR_ARG);
    ck_assert_int_eq(pl_view_span(&view, INT64_MAX / 4, 100, &span), MPI_ERR_ARG);
    ck_assert_int_eq(pl_view_span(&view, INT64_MAX, 0, &span), MPI_SUCCESS);
    ck_assert_int_eq(pl_view_etype_from(&view, INT64_MAX), (1 << 23) - 1);
    pl_view_fini(&view);
    MPI_Type_free(&sparse);
    ck_assert_int_eq(pl_view_init(-1, integer, integer, &pl_datarep_native, true, &view), MPI_ERR_ARG);
    ck_assert_int_eq(pl_view_init(INT64_MAX - 10, integer, integer, &pl_datarep_native, true, &view), MPI_SUCCESS);
    ck_assert_int_eq(pl_view_span(&view, 0, 1, &span), MPI_ERR_ARG);
    pl_view_fini(&view);
}
END_TEST

/* A loop of very many runs is understood without walking it. */
START_TEST(very_many_runs)
{
    struct pl_view view;
    MPI_Offset byte;
    MPI_Datatype vector, matrix;
    typemap_errors_return();
    MPI_Type_vector_c(1000000000, 1, 2, MPI_BYTE, &vector);
    MPI_Type_create_hvector_c(1000, 1, (MPI_Count)1 << 32, vector, &matrix);
    MPI_Type_commit(&matrix);
    struct pl_type *one = pl_type_predefined((uintptr_t)MPI_BYTE);
    ck_assert_int_eq(pl_view_init(0, one, pl_type_from(matrix), &pl_datarep_native, true, &view), MPI_SUCCESS);
    ck_assert(view.ascending && view.run == 1);
    ck_assert_int_eq(pl_view_byte(&view, 5000000003, &byte), MPI_SUCCESS);
    ck_assert_int_eq(byte, ((MPI_Offset)5 << 32) + 6);
    ck_assert_int_eq(pl_view_etype_from(&view, ((MPI_Offset)5 << 32) + 5), 5000000003);
    pl_view_fini(&view);
    MPI_Type_free(&vector);
    MPI_Type_free(&matrix);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("file_view");
    TCase *all = unit_case(suite);
    tcase_add_loop_test(all, random_filetypes, 0, 2);
    tcase_add_test(all, too_far);
    tcase_add_test(all, very_many_runs);
    return unit_end(suite);
}
