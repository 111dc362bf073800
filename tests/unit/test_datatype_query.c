/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined datatypes one by one, names, types by precision and size, addresses, freeing; bad arguments of the
 * constructors and queries; memory that runs out. */
#include "typemap.h"

#include <float.h>
#include <limits.h>
#include <wchar.h>

#include "core/base/memory.h"
#include "core/datatype/build.h"
#include "core/datatype/cursor.h"
#include "core/datatype/parametric.h"

struct long_double_int {
    long double value;
    int index;
};

/* Every datatype of the ABI, with the bytes that it has. */
static const struct {
    MPI_Datatype type;
    const char *name;
    int size, extent;
} predefined[] = {
#define ROW(type, size, extent)                                                                                        \
    {                                                                                                                  \
        type, #type, (int)(size), (int)(extent)                                                                        \
    }
#define C(type, ctype)                                                                                                 \
    {                                                                                                                  \
        type, #type, (int)sizeof(ctype), (int)sizeof(ctype)                                                            \
    }
    C(MPI_AINT, MPI_Aint),
    C(MPI_COUNT, MPI_Count),
    C(MPI_OFFSET, MPI_Offset),
    ROW(MPI_PACKED, 1, 1),
    C(MPI_SHORT, short),
    C(MPI_INT, int),
    C(MPI_LONG, long),
    C(MPI_LONG_LONG_INT, long long),
    C(MPI_UNSIGNED_SHORT, short),
    C(MPI_UNSIGNED, int),
    C(MPI_UNSIGNED_LONG, long),
    C(MPI_UNSIGNED_LONG_LONG, long long),
    C(MPI_FLOAT, float),
    C(MPI_C_COMPLEX, float _Complex),
    C(MPI_DOUBLE, double),
    C(MPI_C_DOUBLE_COMPLEX, double _Complex),
    C(MPI_LONG_DOUBLE, long double),
    C(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex),
    C(MPI_C_BOOL, _Bool),
    C(MPI_WCHAR, wchar_t),
    C(MPI_INT8_T, int8_t),
    C(MPI_UINT8_T, int8_t),
    C(MPI_CHAR, char),
    C(MPI_SIGNED_CHAR, char),
    C(MPI_UNSIGNED_CHAR, char),
    C(MPI_BYTE, char),
    C(MPI_INT16_T, int16_t),
    C(MPI_UINT16_T, int16_t),
    C(MPI_INT32_T, int32_t),
    C(MPI_UINT32_T, int32_t),
    C(MPI_INT64_T, int64_t),
    C(MPI_UINT64_T, int64_t),
    C(MPI_CXX_FLOAT_COMPLEX, float _Complex),
    C(MPI_CXX_DOUBLE_COMPLEX, double _Complex),
    C(MPI_CXX_LONG_DOUBLE_COMPLEX, long double _Complex),
    C(MPI_CXX_BOOL, _Bool),
    C(MPI_LOGICAL, MPI_Fint),
    C(MPI_INTEGER, MPI_Fint),
    ROW(MPI_REAL, 4, 4),
    ROW(MPI_COMPLEX, 8, 8),
    ROW(MPI_DOUBLE_PRECISION, 8, 8),
    ROW(MPI_CHARACTER, 1, 1),
    ROW(MPI_DOUBLE_COMPLEX, 16, 16),
    ROW(MPI_LOGICAL1, 1, 1),
    ROW(MPI_LOGICAL2, 2, 2),
    ROW(MPI_LOGICAL4, 4, 4),
    ROW(MPI_LOGICAL8, 8, 8),
    ROW(MPI_LOGICAL16, 16, 16),
    ROW(MPI_INTEGER1, 1, 1),
    ROW(MPI_INTEGER2, 2, 2),
    ROW(MPI_INTEGER4, 4, 4),
    ROW(MPI_INTEGER8, 8, 8),
    ROW(MPI_INTEGER16, 16, 16),
    ROW(MPI_REAL2, 2, 2),
    ROW(MPI_REAL4, 4, 4),
    ROW(MPI_REAL8, 8, 8),
    ROW(MPI_REAL16, 16, 16),
    ROW(MPI_COMPLEX4, 4, 4),
    ROW(MPI_COMPLEX8, 8, 8),
    ROW(MPI_COMPLEX16, 16, 16),
    ROW(MPI_COMPLEX32, 32, 32),
    ROW(MPI_FLOAT_INT, 8, 8),
    ROW(MPI_DOUBLE_INT, 12, 16),
    ROW(MPI_LONG_INT, 12, 16),
    ROW(MPI_2INT, 8, 8),
    ROW(MPI_SHORT_INT, 6, 8),
    ROW(MPI_LONG_DOUBLE_INT, sizeof(long double) + 4, sizeof(struct long_double_int)),
    ROW(MPI_2REAL, 8, 8),
    ROW(MPI_2DOUBLE_PRECISION, 16, 16),
    ROW(MPI_2INTEGER, 8, 8),
};
enum { PREDEFINED = sizeof predefined / sizeof predefined[0] };

START_TEST(table)
{
    typemap_errors_return();
    for (int i = 0; i < PREDEFINED; i++) {
        MPI_Datatype type = predefined[i].type;
        char name[MPI_MAX_OBJECT_NAME];
        int size, length, integers, addresses, datatypes, combiner;
        MPI_Aint lb, extent;
        ck_assert_int_eq(MPI_Type_get_name(type, name, &length), MPI_SUCCESS);
        ck_assert_str_eq(name, predefined[i].name);
        ck_assert_int_eq(length, (int)strlen(name));
        ck_assert_int_eq(MPI_Type_size(type, &size), MPI_SUCCESS);
        ck_assert_int_eq(size, predefined[i].size);
        ck_assert_int_eq(MPI_Type_get_extent(type, &lb, &extent), MPI_SUCCESS);
        ck_assert(lb == 0 && extent == predefined[i].extent);
        ck_assert_int_eq(MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner), MPI_SUCCESS);
        ck_assert(integers == 0 && addresses == 0 && datatypes == 0 && combiner == MPI_COMBINER_NAMED);
        ck_assert_int_eq(MPI_Type_get_contents(type, 0, 0, 0, NULL, NULL, NULL), MPI_ERR_TYPE);
        ck_assert_int_eq(MPI_Type_commit(&type), MPI_SUCCESS);
        ck_assert_int_eq(MPI_Type_free(&type), MPI_ERR_TYPE);
        ck_assert_ptr_eq(type, predefined[i].type);
        ck_assert_ptr_eq(pl_type_handle(pl_type_from(type)), type);
    }
    int found = 0;
    for (uintptr_t number = 0; number < PL_ABI_CONSTANTS; number++)
        found += pl_type_predefined(number) != NULL;
    ck_assert_int_eq(found, PREDEFINED);
    ck_assert_ptr_null(pl_type_predefined((uintptr_t)MPI_DATATYPE_NULL));
}
END_TEST

static const char *name_of(MPI_Datatype type)
{
    static char name[MPI_MAX_OBJECT_NAME];
    int length;
    ck_assert_int_eq(MPI_Type_get_name(type, name, &length), MPI_SUCCESS);
    return name;
}

START_TEST(names)
{
    MPI_Datatype type, copy;
    char longest[2 * MPI_MAX_OBJECT_NAME];
    typemap_errors_return();
    MPI_Type_contiguous(3, MPI_INT, &type);
    ck_assert_str_eq(name_of(type), "");
    ck_assert_int_eq(MPI_Type_set_name(type, "triple"), MPI_SUCCESS);
    ck_assert_str_eq(name_of(type), "triple");
    MPI_Type_dup(type, &copy);
    ck_assert_str_eq(name_of(copy), ""); /* a name is of one object alone */
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    ck_assert_int_eq(MPI_Type_set_name(type, longest), MPI_SUCCESS);
    ck_assert_uint_eq(strlen(name_of(type)), MPI_MAX_OBJECT_NAME - 1);
    ck_assert_int_eq(MPI_Type_set_name(MPI_INT, "mine"), MPI_SUCCESS);
    ck_assert_str_eq(name_of(MPI_INT), "mine");
    ck_assert_int_eq(MPI_Type_set_name(MPI_INT, "MPI_INT"), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_set_name(type, NULL), MPI_ERR_ARG);
    ck_assert_str_eq(name_of(MPI_LONG_LONG), "MPI_LONG_LONG_INT");
    MPI_Type_free(&type);
    MPI_Type_free(&copy);
}
END_TEST

START_TEST(matching_sizes)
{
    MPI_Datatype type;
    typemap_errors_return();
    static const struct {
        int class, size;
        MPI_Datatype type;
    } cases[] = {
        { MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4 },   { MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16 },
        { MPI_TYPECLASS_REAL, 8, MPI_REAL8 },         { MPI_TYPECLASS_REAL, 2, MPI_REAL2 },
        { MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32 }, { MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_int_eq(MPI_Type_match_size(cases[i].class, cases[i].size, &type), MPI_SUCCESS);
        ck_assert_ptr_eq(type, cases[i].type);
    }
    ck_assert_int_eq(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_match_size(77, 4, &type), MPI_ERR_ARG);
}
END_TEST

/* The text of the last MPI_ERR_ARG contains these words. */
static bool error_says(const char *words)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(MPI_ERR_ARG, text, &length);
    return strstr(text, words) != NULL;
}

static void check_f90(MPI_Datatype type, int combiner, int first, int size, int basic)
{
    MPI_Datatype freed = type;
    int integers, addresses, datatypes, found, contents[2], bytes;
    ck_assert_int_eq(MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &found), MPI_SUCCESS);
    ck_assert_int_eq(found, combiner);
    ck_assert_int_eq(integers, combiner == MPI_COMBINER_F90_INTEGER ? 1 : 2);
    ck_assert(addresses == 0 && datatypes == 0);
    ck_assert_int_eq(MPI_Type_get_contents(type, 2, 0, 0, contents, NULL, NULL), MPI_SUCCESS);
    ck_assert_int_eq(contents[0], first);
    MPI_Type_size(type, &bytes);
    ck_assert_int_eq(bytes, size);
    ck_assert_int_eq(pl_type_from(type)->basic, basic);
    ck_assert_int_eq(MPI_Type_free(&freed), MPI_ERR_TYPE);
    ck_assert_str_eq(name_of(type), "");
}

START_TEST(fortran_kinds)
{
    MPI_Datatype type, again;
    int size;
    typemap_errors_return();
    ck_assert_int_eq(MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type), MPI_SUCCESS);
    check_f90(type, MPI_COMBINER_F90_REAL, 6, 4, PL_F32);
    ck_assert_int_eq(MPI_Type_create_f90_real(6, MPI_UNDEFINED, &again), MPI_SUCCESS);
    ck_assert_ptr_eq(type, again);
    ck_assert_int_eq(MPI_Type_create_f90_real(6, 100, &again), MPI_SUCCESS);
    check_f90(again, MPI_COMBINER_F90_REAL, 6, 8, PL_F64);
    ck_assert_int_eq(MPI_Type_create_f90_real(MPI_UNDEFINED, 4000, &again), MPI_SUCCESS);
    check_f90(again, MPI_COMBINER_F90_REAL, MPI_UNDEFINED, 16, LDBL_MANT_DIG == 113 ? PL_F128 : PL_F80);
    ck_assert_int_eq(MPI_Type_create_f90_real(30, 4000, &again), MPI_SUCCESS);
    check_f90(again, MPI_COMBINER_F90_REAL, 30, 16, LDBL_MANT_DIG == 106 ? PL_F80 : PL_F128);
    ck_assert_int_eq(MPI_Type_create_f90_complex(10, 10, &again), MPI_SUCCESS);
    check_f90(again, MPI_COMBINER_F90_COMPLEX, 10, 16, PL_C128);
    static const struct {
        int range, size;
    } reals[] = { { 37, 4 }, { 38, 8 }, { 307, 8 }, { 308, 16 } };
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) { /* with the same numbers, and not the same type */
        ck_assert_int_eq(MPI_Type_create_f90_real(6, reals[i].range, &again), MPI_SUCCESS);
        MPI_Type_size(again, &size);
        ck_assert_int_eq(size, reals[i].size);
        ck_assert_int_eq(MPI_Type_create_f90_complex(6, reals[i].range, &again), MPI_SUCCESS);
        MPI_Type_size(again, &size);
        ck_assert_int_eq(size, 2 * reals[i].size);
    }
    static const struct {
        int range, size, basic;
    } integers[] = {
        { 0, 1, PL_I8 }, { 2, 1, PL_I8 }, { 3, 2, PL_I16 }, { 9, 4, PL_I32 }, { 10, 8, PL_I64 }, { 19, 16, PL_I128 },
    };
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        ck_assert_int_eq(MPI_Type_create_f90_integer(integers[i].range, &again), MPI_SUCCESS);
        check_f90(again, MPI_COMBINER_F90_INTEGER, integers[i].range, integers[i].size, integers[i].basic);
    }
    ck_assert_int_eq(MPI_Type_create_f90_real(40, 10, &again), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &again), MPI_ERR_ARG);
    ck_assert(error_says("p and r are MPI_UNDEFINED"));
    ck_assert_int_eq(MPI_Type_create_f90_complex(40, MPI_UNDEFINED, &again), MPI_ERR_ARG);
    ck_assert(error_says("no COMPLEX has a precision of 40 decimal digits"));
    ck_assert_int_eq(MPI_Type_create_f90_integer(39, &again), MPI_ERR_ARG);
    ck_assert(error_says("no INTEGER has a range of 39 decimal digits"));
    ck_assert_int_eq(MPI_Type_create_f90_integer(MPI_UNDEFINED, &again), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_create_f90_integer(-1, &again), MPI_ERR_ARG);
    ck_assert(error_says("r is -1; it must not be negative"));

    MPI_Datatype derived; /* outlives the permanent one that it is made of */
    MPI_Type_contiguous(4, type, &derived);
    pl_type_trim();
    ck_assert_int_eq(pl_type_from(derived)->size, 16);
    MPI_Type_free(&derived);
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

START_TEST(value_index)
{
    MPI_Datatype pair, parts[2], freed;
    MPI_Count integers, addresses, counts, datatypes;
    int combiner;
    typemap_errors_return();
    ck_assert_int_eq(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &pair), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_get_envelope_c(pair, &integers, &addresses, &counts, &datatypes, &combiner), MPI_SUCCESS);
    ck_assert(integers == 0 && addresses == 0 && counts == 0 && datatypes == 2);
    ck_assert_int_eq(combiner, MPI_COMBINER_VALUE_INDEX);
    ck_assert_int_eq(MPI_Type_get_contents(pair, 0, 0, 2, NULL, NULL, parts), MPI_SUCCESS);
    ck_assert(parts[0] == MPI_DOUBLE && parts[1] == MPI_INT64_T);
    freed = pair;
    ck_assert_int_eq(MPI_Type_free(&freed), MPI_ERR_TYPE);
    ck_assert_int_eq(MPI_Type_get_value_index(MPI_CHAR, MPI_INT, &pair), MPI_SUCCESS);
    ck_assert_ptr_eq(pair, MPI_DATATYPE_NULL);
    ck_assert_int_eq(MPI_Type_get_value_index(MPI_INT, MPI_DATATYPE_NULL, &pair), MPI_ERR_TYPE);
    pl_type_trim();
}
END_TEST

START_TEST(addresses)
{
    char here[10];
    MPI_Aint a, b;
    typemap_errors_return();
    MPI_Get_address(here, &a);
    MPI_Get_address(here + 7, &b);
    ck_assert_int_eq(MPI_Aint_diff(b, a), 7);
    ck_assert_int_eq(MPI_Aint_diff(a, b), -7);
    ck_assert_int_eq(MPI_Aint_add(a, 7), b);
    ck_assert_int_eq(MPI_Aint_add(INTPTR_MAX, 1), INTPTR_MIN);
    ck_assert_int_eq(MPI_Get_address(MPI_BOTTOM, &a), MPI_SUCCESS);
    ck_assert_int_eq(a, 0);
    ck_assert_int_eq(MPI_Get_address(here, NULL), MPI_ERR_ARG);
}
END_TEST

/* Absolute addresses in a type, and MPI_BOTTOM for the buffer. */
START_TEST(bottom)
{
    int a = 1, b[3] = { 2, 3, 4 }, packed[4];
    MPI_Datatype type;
    MPI_Aint places[2];
    const int lengths[] = { 1, 3 };
    typemap_errors_return();
    MPI_Get_address(&a, &places[0]);
    MPI_Get_address(b, &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    struct pl_cursor cursor;
    pl_cursor_init(&cursor, MPI_BOTTOM, 1, pl_type_from(type));
    ck_assert_uint_eq(pl_cursor_pack(&cursor, packed, sizeof packed), 16);
    ck_assert(packed[0] == 1 && packed[1] == 2 && packed[2] == 3 && packed[3] == 4);
    MPI_Type_free(&type);
}
END_TEST

/* --- the life of handles ----------------------------------------------------------------------------------------- */

START_TEST(freeing)
{
    MPI_Datatype inner, outer, part, freed;
    int lengths[3], size;
    typemap_errors_return();
    MPI_Type_contiguous(3, MPI_INT, &inner);
    MPI_Type_vector(2, 1, 2, inner, &outer);
    freed = inner;
    ck_assert_int_eq(MPI_Type_free(&inner), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_size(freed, &size), MPI_ERR_TYPE); /* though `outer` still uses it */
    ck_assert_int_eq(MPI_Type_get_contents(outer, 3, 0, 1, lengths, NULL, &part), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_free(&outer), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_size(part, &size), MPI_SUCCESS);
    ck_assert_int_eq(size, 12);
    ck_assert_int_eq(MPI_Type_free(&part), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_free(&part), MPI_ERR_TYPE);
    ck_assert_int_eq(MPI_Type_free(NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_commit(&part), MPI_ERR_TYPE);
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

static int refuse;
static int copied, deleted;

static int copy_attribute(MPI_Datatype oldtype, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)oldtype;
    (void)keyval;
    (void)extra;
    *(void **)out = in;
    *flag = 1;
    copied++;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete_attribute(MPI_Datatype type, int keyval, void *value, void *extra)
{
    int size;
    (void)keyval;
    (void)value;
    (void)extra;
    ck_assert_int_eq(MPI_Type_size(type, &size), MPI_SUCCESS); /* still there */
    deleted++;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

START_TEST(attributes)
{
    MPI_Datatype type, copy, kept;
    int keyval;
    typemap_errors_return();
    ck_assert_int_eq(MPI_Type_create_keyval(copy_attribute, delete_attribute, &keyval, NULL), MPI_SUCCESS);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    ck_assert_int_eq(MPI_Type_set_attr(type, keyval, &keyval), MPI_SUCCESS);
    refuse = 1;
    ck_assert_int_ne(MPI_Type_dup(type, &copy), MPI_SUCCESS);
    kept = type;
    ck_assert_int_ne(MPI_Type_free(&type), MPI_SUCCESS);
    ck_assert_ptr_eq(type, kept);
    refuse = deleted = 0;
    ck_assert_int_eq(MPI_Type_dup(type, &copy), MPI_SUCCESS);
    ck_assert(pl_type_from(copy)->committed);
    ck_assert_int_eq(MPI_Type_free(&type), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_free(&copy), MPI_SUCCESS);
    ck_assert_int_eq(deleted, 2);
    ck_assert_int_eq(copied, 2);
    MPI_Type_free_keyval(&keyval);
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

/* --- bad arguments ----------------------------------------------------------------------------------------------- */

START_TEST(bad_constructors)
{
    MPI_Datatype type = MPI_DATATYPE_NULL, none[] = { MPI_INT, MPI_DATATYPE_NULL };
    const int ones[] = { 1, 1 }, negative[] = { 1, -1 };
    const MPI_Aint places[] = { 0, 8 };
    typemap_errors_return();
    ck_assert_int_eq(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    ck_assert_int_eq(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
    ck_assert_int_eq(MPI_Type_contiguous(1, (MPI_Datatype)0x2ff, &type), MPI_ERR_TYPE);
    ck_assert_int_eq(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_vector(-1, 1, 1, MPI_INT, &type), MPI_ERR_COUNT);
    ck_assert_int_eq(MPI_Type_vector(1, -1, 1, MPI_INT, &type), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_indexed(2, negative, ones, MPI_INT, &type), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_indexed(2, NULL, ones, MPI_INT, &type), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_indexed(2, ones, NULL, MPI_INT, &type), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_create_indexed_block(2, -1, ones, MPI_INT, &type), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_create_struct(2, ones, places, none, &type), MPI_ERR_TYPE);
    ck_assert_int_eq(MPI_Type_create_struct(-2, ones, places, none, &type), MPI_ERR_COUNT);
    ck_assert_int_eq(MPI_Type_create_struct(2, ones, places, NULL, &type), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_create_resized(MPI_DATATYPE_NULL, 0, 8, &type), MPI_ERR_TYPE);
    ck_assert_int_eq(MPI_Type_dup(MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
    ck_assert_ptr_eq(type, MPI_DATATYPE_NULL);

    /* nothing at all is fine */
    ck_assert_int_eq(MPI_Type_indexed(0, NULL, NULL, MPI_INT, &type), MPI_SUCCESS);
    MPI_Type_free(&type);
    ck_assert_int_eq(MPI_Type_create_struct(0, NULL, NULL, NULL, &type), MPI_SUCCESS);
    ck_assert(pl_type_from(type)->size == 0 && pl_type_from(type)->extent == 0);
    MPI_Type_free(&type);
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

START_TEST(bad_arrays)
{
    MPI_Datatype type;
    typemap_errors_return();
#define SUBARRAY(ndims, size, subsize, start, order)                                                                   \
    MPI_Type_create_subarray(ndims, (int[]){ size }, (int[]){ subsize }, (int[]){ start }, order, MPI_INT, &type)
    ck_assert_int_eq(SUBARRAY(0, 4, 2, 1, MPI_ORDER_C), MPI_ERR_ARG);
    ck_assert_int_eq(SUBARRAY(1, 0, 2, 1, MPI_ORDER_C), MPI_ERR_ARG);
    ck_assert_int_eq(SUBARRAY(1, 4, 0, 1, MPI_ORDER_C), MPI_ERR_ARG);
    ck_assert_int_eq(SUBARRAY(1, 4, 5, 0, MPI_ORDER_C), MPI_ERR_ARG);
    ck_assert_int_eq(SUBARRAY(1, 4, 2, 3, MPI_ORDER_C), MPI_ERR_ARG);
    ck_assert_int_eq(SUBARRAY(1, 4, 2, -1, MPI_ORDER_C), MPI_ERR_ARG);
    ck_assert_int_eq(SUBARRAY(1, 4, 2, 1, 99), MPI_ERR_ARG);
#define DARRAY(size, rank, gsize, distrib, darg, psize, order)                                                         \
    MPI_Type_create_darray(size, rank, 1, (int[]){ gsize }, (int[]){ distrib }, (int[]){ darg }, (int[]){ psize },     \
                           order, MPI_INT, &type)
    ck_assert_int_eq(DARRAY(0, 0, 8, MPI_DISTRIBUTE_BLOCK, 4, 2, MPI_ORDER_C), MPI_ERR_ARG);
    ck_assert_int_eq(DARRAY(2, 2, 8, MPI_DISTRIBUTE_BLOCK, 4, 2, MPI_ORDER_C), MPI_ERR_RANK);
    ck_assert_int_eq(DARRAY(2, 0, 0, MPI_DISTRIBUTE_BLOCK, 4, 2, MPI_ORDER_C), MPI_ERR_ARG);
    ck_assert_int_eq(DARRAY(2, 0, 8, 55, 4, 2, MPI_ORDER_C), MPI_ERR_ARG);
    ck_assert_int_eq(DARRAY(2, 0, 8, MPI_DISTRIBUTE_BLOCK, 3, 2, MPI_ORDER_C), MPI_ERR_ARG); /* 6 of 8 */
    ck_assert_int_eq(DARRAY(2, 0, 7, MPI_DISTRIBUTE_BLOCK, 3, 2, MPI_ORDER_C), MPI_ERR_ARG); /* 6 of 7 */
    ck_assert_int_eq(DARRAY(2, 0, 8, MPI_DISTRIBUTE_CYCLIC, 0, 2, MPI_ORDER_C), MPI_ERR_ARG);
    ck_assert_int_eq(DARRAY(2, 0, 8, MPI_DISTRIBUTE_NONE, 0, 2, MPI_ORDER_C), MPI_ERR_ARG);
    ck_assert_int_eq(DARRAY(3, 0, 8, MPI_DISTRIBUTE_BLOCK, 4, 2, MPI_ORDER_C), MPI_ERR_ARG);
    ck_assert_int_eq(DARRAY(2, 0, 8, MPI_DISTRIBUTE_BLOCK, 4, 2, 0), MPI_ERR_ARG);
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

START_TEST(bad_queries)
{
    MPI_Datatype small, large;
    int n, combiner, integers[3];
    MPI_Count count;
    MPI_Aint address;
    typemap_errors_return();
    MPI_Type_vector(2, 1, 3, MPI_INT, &small);
    MPI_Type_vector_c(2, 1, 3, MPI_INT, &large);
    MPI_Datatype part;
    ck_assert_int_eq(MPI_Type_get_envelope(large, &n, &n, &n, &combiner), MPI_ERR_TYPE);
    ck_assert_int_eq(MPI_Type_get_contents(large, 3, 0, 1, integers, NULL, &part), MPI_ERR_TYPE);
    ck_assert_int_eq(MPI_Type_get_contents(small, 2, 0, 1, integers, NULL, &part), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_get_contents(small, 3, 0, 0, integers, NULL, &part), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_get_contents(small, 3, -1, 1, integers, NULL, &part), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_get_contents(small, 3, 0, 1, NULL, NULL, &part), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_get_contents_c(large, 0, 0, 2, 1, NULL, NULL, &count, &part), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_get_envelope(small, NULL, &n, &n, &combiner), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_get_envelope(MPI_DATATYPE_NULL, &n, &n, &n, &combiner), MPI_ERR_TYPE);
    ck_assert_int_eq(MPI_Type_size(small, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_size_x(MPI_DATATYPE_NULL, &count), MPI_ERR_TYPE);
    ck_assert_int_eq(MPI_Type_get_extent(small, NULL, &address), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_get_true_extent(small, &address, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_get_true_extent_x(MPI_DATATYPE_NULL, &count, &count), MPI_ERR_TYPE);
    MPI_Type_free(&small);
    MPI_Type_free(&large);
}
END_TEST

/* --- memory that runs out ---------------------------------------------------------------------------------------- */

static int make_all(MPI_Datatype *made)
{
    const int lengths[] = { 1, 2, 1 }, displacements[] = { 5, 0, 9 }, sizes[] = { 4, 4 }, halves[] = { 2, 2 };
    const int distribs[] = { MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC }, two[] = { 2, 2 };
    const MPI_Aint places[] = { 0, 16, 70 };
    MPI_Datatype vector, indexed, mixed, part, array;
    int err = MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
    if (err)
        return err;
    err = MPI_Type_indexed(3, lengths, displacements, vector, &indexed);
    if (err)
        goto free_vector;
    err = MPI_Type_create_struct(3, lengths, places, (MPI_Datatype[]){ MPI_CHAR, indexed, MPI_DOUBLE }, &mixed);
    if (err)
        goto free_indexed;
    err = MPI_Type_create_subarray(2, sizes, halves, halves, MPI_ORDER_C, mixed, &part);
    if (err)
        goto free_mixed;
    err = MPI_Type_create_darray(4, 1, 2, (int[]){ 7, 7 }, distribs, two, two, MPI_ORDER_C, part, &array);
    if (err)
        goto free_part;
    err = MPI_Type_set_name(array, "made");
    if (!err)
        err = MPI_Type_dup(array, made);
    MPI_Type_free(&array);
free_part:
    MPI_Type_free(&part);
free_mixed:
    MPI_Type_free(&mixed);
free_indexed:
    MPI_Type_free(&indexed);
free_vector:
    MPI_Type_free(&vector);
    return err;
}

START_TEST(out_of_memory)
{
    MPI_Datatype made;
    int failures = 0;
    typemap_errors_return();
    for (long n = 1;; n++) {
        pl_memory_fail_at(n);
        int err = make_all(&made);
        bool failed = pl_memory_failed();
        pl_memory_fail_at(0);
        if (!err)
            MPI_Type_free(&made);
        ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
        if (!failed)
            break;
        failures += err == MPI_ERR_NO_MEM;
    }
    ck_assert_int_gt(failures, 20);
}
END_TEST

UNIT_MAIN("datatype queries", table, names, matching_sizes, fortran_kinds, value_index, addresses, bottom, freeing,
          attributes, bad_constructors, bad_arrays, bad_queries, out_of_memory)
