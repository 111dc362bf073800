/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predefined reductions on every datatype against a reference that knows one number format, the widest there is; which
 * pairs of operation and type there are; wrap-around; pairs of value and index; user operations.
 */
#include "typemap.h"

#include <float.h>
#include <limits.h>

#include "core/datatype/op.h"
#include "core/datatype/parametric.h"

typedef unit_quad number;

/* --- numbers in and out of memory -------------------------------------------------------------------------------- */

#ifdef __FLT16_MANT_DIG__
#define HALF(X) X(PL_F16, _Float16)
static const bool has_half = true;
#else
#define HALF(X)
static const bool has_half = false;
#endif

/* clang-format off */
#define FORMATS(X)                                                                                                  \
    X(PL_I8, int8_t) X(PL_I16, int16_t) X(PL_I32, int32_t) X(PL_I64, int64_t) X(PL_I128, __int128) X(PL_U8, uint8_t) \
    X(PL_U16, uint16_t) X(PL_U32, uint32_t) X(PL_U64, uint64_t) HALF(X) X(PL_F32, float) X(PL_F64, double)           \
    X(PL_F80, long double) X(PL_F128, unit_quad) X(PL_BOOL, uint8_t) X(PL_L8, int8_t) X(PL_L16, int16_t)            \
    X(PL_L32, int32_t) X(PL_L64, int64_t) X(PL_L128, __int128) X(PL_BYTE, uint8_t) X(PL_CHAR, char)

static number get(int basic, const void *from)
{
    switch (basic) {
#define GET(format, type) case format: { type value; memcpy(&value, from, sizeof value); return (number)value; }
    FORMATS(GET)
    default: ck_abort_msg("no number format %d", basic);
    }
}

static void put(int basic, void *to, number n)
{
    switch (basic) {
#define PUT(format, type) case format: { type value = (type)n; memcpy(to, &value, sizeof value); break; }
        /* clang-format on */
        FORMATS(PUT)
    default: ck_abort_msg("no number format %d", basic);
    }
}

/* The real format of a complex one, else 0. */
static int part_of(int basic)
{
    switch (basic) {
    case PL_C32: return PL_F16;
    case PL_C64: return PL_F32;
    case PL_C128: return PL_F64;
    case PL_C160: return PL_F80;
    case PL_C256: return PL_F128;
    default: return 0;
    }
}

/* --- what there is ----------------------------------------------------------------------------------------------- */

enum class {
    C_INTEGER = 1,
    F_INTEGER = 2,
    REAL = 4,
    LOGICAL = 8,
    COMPLEX = 16,
    BYTE = 32,
    MULTI = 64,
    CHARACTER = 128,
    OTHER = 256,
    INTEGER = C_INTEGER | F_INTEGER | MULTI | CHARACTER
};

/* The standard's groups of types (MPI-5.0, 6.9.2). */
static const struct {
    MPI_Datatype type;
    enum class class;
} types[] = {
    { MPI_INT, C_INTEGER },
    { MPI_LONG, C_INTEGER },
    { MPI_SHORT, C_INTEGER },
    { MPI_UNSIGNED_SHORT, C_INTEGER },
    { MPI_UNSIGNED, C_INTEGER },
    { MPI_UNSIGNED_LONG, C_INTEGER },
    { MPI_LONG_LONG_INT, C_INTEGER },
    { MPI_UNSIGNED_LONG_LONG, C_INTEGER },
    { MPI_SIGNED_CHAR, C_INTEGER },
    { MPI_UNSIGNED_CHAR, C_INTEGER },
    { MPI_INT8_T, C_INTEGER },
    { MPI_INT16_T, C_INTEGER },
    { MPI_INT32_T, C_INTEGER },
    { MPI_INT64_T, C_INTEGER },
    { MPI_UINT8_T, C_INTEGER },
    { MPI_UINT16_T, C_INTEGER },
    { MPI_UINT32_T, C_INTEGER },
    { MPI_UINT64_T, C_INTEGER },
    { MPI_INTEGER, F_INTEGER },
    { MPI_INTEGER1, F_INTEGER },
    { MPI_INTEGER2, F_INTEGER },
    { MPI_INTEGER4, F_INTEGER },
    { MPI_INTEGER8, F_INTEGER },
    { MPI_INTEGER16, F_INTEGER },
    { MPI_FLOAT, REAL },
    { MPI_DOUBLE, REAL },
    { MPI_REAL, REAL },
    { MPI_DOUBLE_PRECISION, REAL },
    { MPI_LONG_DOUBLE, REAL },
    { MPI_REAL2, REAL },
    { MPI_REAL4, REAL },
    { MPI_REAL8, REAL },
    { MPI_REAL16, REAL },
    { MPI_LOGICAL, LOGICAL },
    { MPI_C_BOOL, LOGICAL },
    { MPI_CXX_BOOL, LOGICAL },
    { MPI_LOGICAL1, LOGICAL },
    { MPI_LOGICAL2, LOGICAL },
    { MPI_LOGICAL4, LOGICAL },
    { MPI_LOGICAL8, LOGICAL },
    { MPI_LOGICAL16, LOGICAL },
    { MPI_COMPLEX, COMPLEX },
    { MPI_C_COMPLEX, COMPLEX },
    { MPI_C_FLOAT_COMPLEX, COMPLEX },
    { MPI_C_DOUBLE_COMPLEX, COMPLEX },
    { MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX },
    { MPI_CXX_FLOAT_COMPLEX, COMPLEX },
    { MPI_CXX_DOUBLE_COMPLEX, COMPLEX },
    { MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX },
    { MPI_DOUBLE_COMPLEX, COMPLEX },
    { MPI_COMPLEX4, COMPLEX },
    { MPI_COMPLEX8, COMPLEX },
    { MPI_COMPLEX16, COMPLEX },
    { MPI_COMPLEX32, COMPLEX },
    { MPI_BYTE, BYTE },
    { MPI_AINT, MULTI },
    { MPI_OFFSET, MULTI },
    { MPI_COUNT, MULTI },
    { MPI_CHAR, CHARACTER },
    { MPI_CHARACTER, CHARACTER },
    { MPI_WCHAR, OTHER },
    { MPI_PACKED, OTHER },
    { MPI_FLOAT_INT, OTHER },
    { MPI_2INT, OTHER },
    { MPI_2REAL, OTHER },
};
enum { TYPES = sizeof types / sizeof types[0] };

/* What the standard allows, and characters as integers; the integers' logical operations are there for Fortran's and
 * the shared ones too. */
static const struct {
    MPI_Op op;
    int classes;
} ops[] = {
    { MPI_MAX, INTEGER | REAL },           { MPI_MIN, INTEGER | REAL },
    { MPI_SUM, INTEGER | REAL | COMPLEX }, { MPI_PROD, INTEGER | REAL | COMPLEX },
    { MPI_LAND, INTEGER | LOGICAL },       { MPI_LOR, INTEGER | LOGICAL },
    { MPI_LXOR, INTEGER | LOGICAL },       { MPI_BAND, INTEGER | BYTE },
    { MPI_BOR, INTEGER | BYTE },           { MPI_BXOR, INTEGER | BYTE },
};
enum { OPS = sizeof ops / sizeof ops[0] };

static bool available(const struct pl_type *type)
{
    return has_half || (type->basic != PL_F16 && type->basic != PL_C32);
}

static number reference(MPI_Op op, number a, number b)
{
    switch ((uintptr_t)op) {
    case (uintptr_t)MPI_MAX: return a > b ? a : b;
    case (uintptr_t)MPI_MIN: return a < b ? a : b;
    case (uintptr_t)MPI_SUM: return a + b;
    case (uintptr_t)MPI_PROD: return a * b;
    case (uintptr_t)MPI_LAND: return a != 0 && b != 0;
    case (uintptr_t)MPI_LOR: return a != 0 || b != 0;
    case (uintptr_t)MPI_LXOR: return (a != 0) != (b != 0);
    case (uintptr_t)MPI_BAND: return (number)((int)a & (int)b);
    case (uintptr_t)MPI_BOR: return (number)((int)a | (int)b);
    default: return (number)((int)a ^ (int)b);
    }
}

/* --- arrays ------------------------------------------------------------------------------------------------------ */

enum { COUNT_MAX = 67, SIZE_MAX_ = 32 };
static _Alignas(32) unsigned char in[COUNT_MAX * SIZE_MAX_ + 32], inout[COUNT_MAX * SIZE_MAX_ + 32];
static _Alignas(32) unsigned char expected[COUNT_MAX * SIZE_MAX_ + 32], with[COUNT_MAX * SIZE_MAX_ + 32];

/* Whole numbers that all formats hold, and whose sums and products they hold: 0 .. 11. */
static number small(uint64_t *seed)
{
    return (number)unit_below(seed, 12);
}

static void check_real(MPI_Op op, const struct pl_type *type, int count, uint64_t *seed)
{
    size_t size = (size_t)type->size;
    for (int i = 0; i < count; i++) {
        number a = small(seed), b = small(seed);
        put(type->basic, in + i * size, a);
        put(type->basic, inout + i * size, b);
        put(type->basic, expected + i * size, reference(op, a, b));
    }
}

static void check_complex(MPI_Op op, const struct pl_type *type, int count, uint64_t *seed)
{
    size_t part = (size_t)type->size / 2;
    int basic = part_of(type->basic);
    for (int i = 0; i < count; i++) {
        number a[] = { small(seed), small(seed) }, b[] = { small(seed), small(seed) };
        number sum[] = { a[0] + b[0], a[1] + b[1] };
        number product[] = { a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0] };
        for (size_t k = 0; k < 2; k++) {
            put(basic, in + (2 * i + k) * part, a[k]);
            put(basic, inout + (2 * i + k) * part, b[k]);
            put(basic, expected + (2 * i + k) * part, op == MPI_SUM ? sum[k] : product[k]);
        }
    }
}

static void check_untouched(size_t from)
{
    int wrong = 0;
    for (size_t i = from; i < sizeof inout; i++)
        wrong += inout[i] != 0xa5;
    ck_assert_int_eq(wrong, 0);
}

/* The padding of a long double may be anything: numbers are compared, not bytes. */
static void compare_results(const struct pl_type *type, int count)
{
    int basic = part_of(type->basic) ? part_of(type->basic) : type->basic;
    size_t size = (size_t)type->size / (part_of(type->basic) ? 2 : 1);
    size_t numbers = (size_t)count * (size_t)type->size / size;
    int wrong = 0;
    for (size_t i = 0; i < numbers; i++)
        wrong += get(basic, inout + i * size) != get(basic, expected + i * size);
    ck_assert_int_eq(wrong, 0);
    check_untouched(numbers * size);
}

/* inout = in op inout. Where it goes to another place than its operand's it is the same. */
static void apply(MPI_Op op, MPI_Datatype datatype, int count, bool apart)
{
    pl_op_kernel *loop = pl_op_loop(pl_op_predefined((uintptr_t)op), pl_type_from(datatype));
    if (!apart || !loop) {
        ck_assert_int_eq(MPI_Reduce_local(in, inout, count, datatype, op), MPI_SUCCESS);
        return;
    }
    memcpy(with, inout, sizeof with);
    memset(inout, 0xa5, sizeof inout);
    loop(in, with, inout, (size_t)count);
}

START_TEST(pairs)
{
    uint64_t seed = 5;
    typemap_errors_return();
    for (int o = 0; o < OPS; o++)
        for (int t = 0; t < TYPES; t++) {
            const struct pl_type *type = pl_type_from(types[t].type);
            bool allowed = (ops[o].classes & types[t].class) && available(type);
            ck_assert_int_eq(pl_op_check(pl_op_predefined((uintptr_t)ops[o].op), type),
                             allowed ? MPI_SUCCESS : MPI_ERR_OP);
            for (int turn = 0, count = 0; count <= COUNT_MAX && allowed; count += turn++ % 2 * (1 + count / 3)) {
                memset(inout, 0xa5, sizeof inout);
                if (types[t].class == COMPLEX)
                    check_complex(ops[o].op, type, count, &seed);
                else
                    check_real(ops[o].op, type, count, &seed);
                apply(ops[o].op, types[t].type, count, turn % 2);
                compare_results(type, count);
            }
        }
}
END_TEST

/* Fortran's types by precision are what the types are that they stand for. */
START_TEST(fortran_kinds)
{
    MPI_Datatype real, complex, integer;
    double a[] = { 1.5, 2 }, b[] = { 0.25, -1 };
    int64_t i = 40, j = 2;
    typemap_errors_return();
    ck_assert_int_eq(MPI_Type_create_f90_real(15, 300, &real), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &complex), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_create_f90_integer(18, &integer), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Reduce_local(a, b, 2, real, MPI_SUM), MPI_SUCCESS);
    ck_assert(b[0] == 1.75 && b[1] == 1);
    ck_assert_int_eq(MPI_Reduce_local_c(a, b, 1, complex, MPI_PROD), MPI_SUCCESS);
    ck_assert(b[0] == 1.5 * 1.75 - 2 * 1 && b[1] == 1.5 * 1 + 2 * 1.75);
    ck_assert_int_eq(MPI_Reduce_local(&i, &j, 1, integer, MPI_SUM), MPI_SUCCESS);
    ck_assert_int_eq(j, 42);
    pl_type_trim();
}
END_TEST

START_TEST(wrap_around)
{
    int a = INT_MAX, b = 1;
    short c = SHRT_MAX, d = SHRT_MAX;
    int64_t e = INT64_MIN, f = -1;
    unsigned g = 7, h = UINT_MAX;
    typemap_errors_return();
    MPI_Reduce_local(&a, &b, 1, MPI_INT, MPI_SUM);
    MPI_Reduce_local(&c, &d, 1, MPI_SHORT, MPI_PROD);
    MPI_Reduce_local(&e, &f, 1, MPI_INT64_T, MPI_PROD);
    MPI_Reduce_local(&g, &h, 1, MPI_UNSIGNED, MPI_SUM);
    ck_assert_int_eq(b, INT_MIN);
    ck_assert_int_eq(d, 1);
    ck_assert_int_eq(f, INT64_MIN);
    ck_assert_uint_eq(h, 6);
    a = -5, b = 3; /* signed and unsigned numbers compare differently */
    MPI_Reduce_local(&a, &b, 1, MPI_INT, MPI_MIN);
    ck_assert_int_eq(b, -5);
    g = UINT_MAX - 4, h = 3;
    MPI_Reduce_local(&g, &h, 1, MPI_UNSIGNED, MPI_MIN);
    ck_assert_uint_eq(h, 3);
}
END_TEST

/* inout = ((x op y) op z), or (z op (y op x)). */
static void combine(const struct pl_op *op, const struct pl_type *type, bool backwards, const uint64_t operands[3][2],
                    uint64_t result[2])
{
    uint64_t inner[2];
    memcpy(inner, operands[backwards ? 0 : 1], sizeof inner);
    pl_op_apply(op, operands[backwards ? 1 : 0], inner, 1, type);
    memcpy(result, backwards ? inner : operands[2], sizeof inner);
    pl_op_apply(op, backwards ? operands[2] : inner, result, 1, type);
}

/* Where the order is said not to matter, it does not change a bit; for sums of real numbers it may, and it is not
 * said. */
START_TEST(order)
{
    uint64_t seed = 21;
    int exact = 0;
    typemap_errors_return();
    for (int o = 0; o < OPS; o++)
        for (int t = 0; t < TYPES; t++) {
            const struct pl_op *op = pl_op_predefined((uintptr_t)ops[o].op);
            const struct pl_type *type = pl_type_from(types[t].type);
            if (pl_op_check(op, type) != MPI_SUCCESS)
                continue;
            ck_assert(pl_op_is_exact(op, type) == (types[t].class != REAL && types[t].class != COMPLEX));
            for (int i = 0; i < 50 && pl_op_is_exact(op, type); i++, exact++) {
                uint64_t operands[3][2], forwards[2] = { 0 }, backwards[2] = { 0 };
                for (int k = 0; k < 6; k++)
                    operands[k / 2][k % 2] = unit_random(&seed) & unit_random(&seed);
                combine(op, type, false, operands, forwards);
                combine(op, type, true, operands, backwards);
                ck_assert_mem_eq(forwards, backwards, (size_t)type->size);
            }
        }
    ck_assert_int_gt(exact, 50 * 100);
}
END_TEST

/* --- MINLOC, MAXLOC ---------------------------------------------------------------------------------------------- */

static void check_loc(MPI_Op op, MPI_Datatype pair, const struct pl_type *value, const struct pl_type *index,
                      bool apart, uint64_t *seed)
{
    const struct pl_type *type = pl_type_from(pair);
    size_t extent = (size_t)type->extent, place = (size_t)(type->true_extent - index->size);
    number values[COUNT_MAX], indices[COUNT_MAX];
    ck_assert_uint_le(extent, SIZE_MAX_);
    memset(inout, 0xa5, sizeof inout);
    for (size_t i = 0; i < COUNT_MAX; i++) {
        number v = small(seed), w = small(seed) - (value->basic >= PL_F32 ? 3 : 0), k = small(seed), l = small(seed);
        put(value->basic, in + i * extent, v);
        put(index->basic, in + i * extent + place, k);
        put(value->basic, inout + i * extent, w);
        put(index->basic, inout + i * extent + place, l);
        bool takes = op == MPI_MINLOC ? v < w : v > w;
        values[i] = takes ? v : w;
        indices[i] = v == w ? (k < l ? k : l) : takes ? k : l;
    }
    apply(op, pair, COUNT_MAX, apart);
    int wrong = 0;
    for (size_t i = 0; i < COUNT_MAX; i++) {
        wrong += get(value->basic, inout + i * extent) != values[i];
        wrong += get(index->basic, inout + i * extent + place) != indices[i];
    }
    ck_assert_int_eq(wrong, 0);
    check_untouched(COUNT_MAX * extent);
}

START_TEST(locations)
{
    uint64_t seed = 9;
    typemap_errors_return();
    int found = 0;
    for (int v = 0; v < TYPES; v++)
        for (int i = 0; i < TYPES; i++) {
            MPI_Datatype pair, again;
            const struct pl_type *value = pl_type_from(types[v].type), *index = pl_type_from(types[i].type);
            ck_assert_int_eq(MPI_Type_get_value_index(types[v].type, types[i].type, &pair), MPI_SUCCESS);
            ck_assert_int_eq(MPI_Type_get_value_index(types[v].type, types[i].type, &again), MPI_SUCCESS);
            ck_assert_ptr_eq(pair, again);
            int integer = C_INTEGER | F_INTEGER | MULTI;
            if (pair == MPI_DATATYPE_NULL) {
                ck_assert(!(types[v].class & (integer | REAL)) || !(types[i].class & integer));
                continue;
            }
            if (!available(value)) {
                ck_assert_int_eq(MPI_Reduce_local(in, inout, 1, pair, MPI_MINLOC), MPI_ERR_OP);
                continue;
            }
            for (int apart = 0; apart < 2; apart++) {
                check_loc(MPI_MINLOC, pair, value, index, apart, &seed);
                check_loc(MPI_MAXLOC, pair, value, index, apart, &seed);
            }
            ck_assert_int_eq(MPI_Reduce_local(in, inout, 1, pair, MPI_SUM), MPI_ERR_OP);
            found++;
        }
    ck_assert_int_gt(found, 300);
    pl_type_trim();
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}
END_TEST

START_TEST(named_pairs)
{
    static const struct {
        MPI_Datatype pair, value, index;
    } named[] = {
        { MPI_FLOAT_INT, MPI_FLOAT, MPI_INT },
        { MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT },
        { MPI_LONG_INT, MPI_LONG, MPI_INT },
        { MPI_2INT, MPI_INT, MPI_INT },
        { MPI_SHORT_INT, MPI_SHORT, MPI_INT },
        { MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT },
        { MPI_2REAL, MPI_REAL, MPI_REAL },
        { MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION },
        { MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER },
    };
    uint64_t seed = 10;
    typemap_errors_return();
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        MPI_Datatype pair;
        MPI_Type_get_value_index(named[i].value, named[i].index, &pair);
        ck_assert_ptr_eq(pair, named[i].pair);
        check_loc(MPI_MINLOC, pair, pl_type_from(named[i].value), pl_type_from(named[i].index), true, &seed);
        check_loc(MPI_MAXLOC, pair, pl_type_from(named[i].value), pl_type_from(named[i].index), true, &seed);
    }
}
END_TEST

/* --- the user's ------------------------------------------------------------------------------------------------- */

static MPI_Count calls, elements;
static MPI_Datatype seen;

static void subtract(void *a, void *b, int *len, MPI_Datatype *datatype)
{
    calls++;
    elements += *len;
    seen = *datatype;
    for (int i = 0; i < *len; i++)
        ((int *)b)[i] = ((int *)a)[i] - ((int *)b)[i];
    *len = 0; /* copies: the caller's values stay */
    *datatype = MPI_DATATYPE_NULL;
}

static void subtract_c(void *a, void *b, MPI_Count *len, MPI_Datatype *datatype)
{
    int n = (int)*len;
    subtract(a, b, &n, datatype);
}

static const void *expected_at;

static void count_only(void *a, void *b, int *len, MPI_Datatype *datatype)
{
    (void)b;
    (void)datatype;
    ck_assert_ptr_eq(a, expected_at); /* elements without an extent all lie there */
    ck_assert_int_gt(*len, 0);
    calls++;
    elements += *len;
}

START_TEST(user)
{
    MPI_Op op, op_c, taken;
    int commute, a[] = { 10, 20, 30 }, b[] = { 1, 2, 3 };
    typemap_errors_return();
    ck_assert_int_eq(MPI_Op_create(subtract, 0, &op), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Op_create_c(subtract_c, 5, &op_c), MPI_SUCCESS);
    MPI_Op_commutative(op, &commute);
    ck_assert_int_eq(commute, 0);
    MPI_Op_commutative(op_c, &commute);
    ck_assert_int_eq(commute, 1);
    MPI_Op_commutative(MPI_MAXLOC, &commute);
    ck_assert_int_eq(commute, 1);
    MPI_Op_commutative(MPI_REPLACE, &commute); /* f(a, b) = b */
    ck_assert_int_eq(commute, 0);
    MPI_Op_commutative(MPI_NO_OP, &commute);
    ck_assert_int_eq(commute, 0);
    MPI_Op_commutative(MPI_MAXLOC, &commute);
    ck_assert_int_eq(commute, 1);

    ck_assert_int_eq(MPI_Reduce_local(a, b, 3, MPI_INT, op), MPI_SUCCESS);
    ck_assert(b[0] == 9 && b[1] == 18 && b[2] == 27);
    ck_assert_ptr_eq(seen, MPI_INT);
    ck_assert_int_eq(MPI_Reduce_local_c(a, b, 3, MPI_INT, op_c), MPI_SUCCESS);
    ck_assert(b[0] == 1 && b[1] == 2 && b[2] == 3);

    /* derived types are for user operations alone */
    MPI_Datatype three;
    MPI_Type_contiguous(3, MPI_INT, &three);
    ck_assert_int_eq(MPI_Reduce_local(a, b, 1, three, op), MPI_ERR_TYPE); /* not committed */
    MPI_Type_commit(&three);
    calls = 0;
    ck_assert_int_eq(MPI_Reduce_local(a, b, 1, three, op), MPI_SUCCESS);
    ck_assert_int_eq(calls, 1);
    ck_assert_ptr_eq(seen, three);
    ck_assert_int_eq(MPI_Reduce_local(a, b, 1, three, MPI_SUM), MPI_ERR_OP);
    MPI_Type_free(&three);

    calls = 0;
    ck_assert_int_eq(MPI_Reduce_local(a, b, 0, MPI_INT, op), MPI_SUCCESS);
    ck_assert_int_eq(calls, 0);

    taken = op;
    ck_assert_int_eq(MPI_Op_free(&op), MPI_SUCCESS);
    ck_assert_ptr_eq(op, MPI_OP_NULL);
    ck_assert_int_eq(MPI_Reduce_local(a, b, 1, MPI_INT, taken), MPI_ERR_OP);
    ck_assert_int_eq(MPI_Op_free(&op_c), MPI_SUCCESS);
    ck_assert_int_eq(pl_object_count(PL_OP), 0);
}
END_TEST

/* More elements than an int function can be told of; they all lie in one place, and are not touched. */
START_TEST(user_huge)
{
    MPI_Op op;
    MPI_Datatype still;
    char a = 0, b = 0;
    typemap_errors_return();
    MPI_Op_create(count_only, 1, &op);
    MPI_Type_create_resized(MPI_CHAR, 0, 0, &still);
    MPI_Type_commit(&still);
    expected_at = &a;
    calls = elements = 0;
    const MPI_Count count = (MPI_Count)INT_MAX * 3 + 5;
    ck_assert_int_eq(MPI_Reduce_local_c(&a, &b, count, still, op), MPI_SUCCESS);
    ck_assert_int_eq(calls, 4);
    ck_assert_int_eq(elements, count);
    MPI_Type_free(&still);
    MPI_Op_free(&op);
}
END_TEST

START_TEST(bad_arguments)
{
    int a = 1, b = 2, commute;
    MPI_Op op = MPI_SUM;
    typemap_errors_return();
    ck_assert_int_eq(MPI_Reduce_local(&a, &b, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
    ck_assert_int_eq(MPI_Reduce_local(&a, &b, 1, MPI_DATATYPE_NULL, MPI_SUM), MPI_ERR_TYPE);
    ck_assert_int_eq(MPI_Reduce_local(&a, &b, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
    ck_assert_int_eq(MPI_Reduce_local(&a, &b, 1, MPI_INT, MPI_REPLACE), MPI_ERR_OP);
    ck_assert_int_eq(MPI_Reduce_local(&a, &b, 1, MPI_INT, MPI_NO_OP), MPI_ERR_OP);
    ck_assert_int_eq(MPI_Reduce_local(NULL, &b, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    ck_assert_int_eq(MPI_Reduce_local(&b, &b, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    ck_assert_int_eq(MPI_Reduce_local(MPI_IN_PLACE, &b, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    ck_assert_int_eq(MPI_Op_free(&op), MPI_ERR_OP);
    ck_assert_ptr_eq(op, MPI_SUM);
    ck_assert_int_eq(MPI_Op_create(NULL, 1, &op), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Op_commutative((MPI_Op)0x2f, &commute), MPI_ERR_OP);
    ck_assert_int_eq(MPI_Op_commutative(MPI_SUM, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(b, 2);
}
END_TEST

/* The two operations for one-sided communication. */
START_TEST(replace)
{
    MPI_Datatype gaps;
    int a[] = { 1, 2, 3, 4 }, b[] = { 5, 6, 7, 8 };
    typemap_errors_return();
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    pl_op_apply(pl_op_predefined((uintptr_t)MPI_NO_OP), a, b, 1, pl_type_from(gaps));
    ck_assert(b[0] == 5 && b[1] == 6 && b[2] == 7 && b[3] == 8);
    pl_op_apply(pl_op_predefined((uintptr_t)MPI_REPLACE), a, b, 1, pl_type_from(gaps));
    ck_assert(b[0] == 1 && b[1] == 6 && b[2] == 3 && b[3] == 8);
    MPI_Type_free(&gaps);
}
END_TEST

UNIT_MAIN("op", pairs, fortran_kinds, wrap_around, order, locations, named_pairs, user, user_huge, bad_arguments,
          replace)
