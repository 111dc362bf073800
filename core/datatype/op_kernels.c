/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops of the predefined reductions, one for each operation and machine type, plain enough for the compiler to
 * vectorize. The lists of types come first, then the operations on one element, then the tables.
 *
 * Integers wrap around: they are added and multiplied as unsigned numbers. Complex numbers are pairs of reals and are
 * multiplied by the formula, without C's special treatment of infinities. A logical is true when it is not zero.
 */
#include "core/datatype/op_kernels.h"

#include <float.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/datatype/envelope.h"

/* X(representation, type, an unsigned type to which its sums and products are not promoted further). The standard
 * excludes characters, but programs add them up, and every MPI permits it. */
#define SMALL_INTEGERS(X)                                                                                              \
    X(CHAR, char, uint32_t)                                                                                            \
    X(I8, int8_t, uint32_t)                                                                                            \
    X(I16, int16_t, uint32_t)                                                                                          \
    X(I32, int32_t, uint32_t)                                                                                          \
    X(I64, int64_t, uint64_t)                                                                                          \
    X(U8, uint8_t, uint32_t)                                                                                           \
    X(U16, uint16_t, uint32_t)                                                                                         \
    X(U32, uint32_t, uint32_t)                                                                                         \
    X(U64, uint64_t, uint64_t)

#ifdef __SIZEOF_INT128__
#define INTEGERS(X) SMALL_INTEGERS(X) X(I128, __int128, unsigned __int128)
#else
#define INTEGERS(X) SMALL_INTEGERS(X)
#endif

/* X(representation, type, the complex made of two) */
#ifdef __FLT16_MANT_DIG__
#define REALS_16(X) X(F16, _Float16, C32)
#else
#define REALS_16(X)
#endif
#if LDBL_MANT_DIG == 64 || LDBL_MANT_DIG == 106
#define REALS_80(X) X(F80, long double, C160)
#else
#define REALS_80(X)
#endif
#if LDBL_MANT_DIG == 113
#define REALS_128(X) X(F128, long double, C256)
#elif defined(__SIZEOF_FLOAT128__)
#define REALS_128(X) X(F128, __float128, C256)
#else
#define REALS_128(X)
#endif
#define REALS(X) REALS_16(X) X(F32, float, C64) X(F64, double, C128) REALS_80(X) REALS_128(X)

/* X(representation, type). C's bool is read as a byte, since the byte may have any value. */
#ifdef __SIZEOF_INT128__
#define LOGICALS_16(X) X(L128, __int128)
#else
#define LOGICALS_16(X)
#endif
#define LOGICALS(X) X(BOOL, uint8_t) X(L8, int8_t) X(L16, int16_t) X(L32, int32_t) X(L64, int64_t) LOGICALS_16(X)

/* X(representation, type of the value, type of the index) */
#define PAIRS(X)                                                                                                       \
    X(P_F32I32, float, int)                                                                                            \
    X(P_F64I32, double, int)                                                                                           \
    X(P_LI32, long, int)                                                                                               \
    X(P_I32I32, int, int)                                                                                              \
    X(P_I16I32, short, int)                                                                                            \
    X(P_F80I32, long double, int)                                                                                      \
    X(P_F32F32, float, float)                                                                                          \
    X(P_F64F64, double, double)

/* Before a loop that reads what it writes only in the same iteration. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* some types have no vectors */
#define APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define APART _Pragma("GCC ivdep")
#endif

/* A loop for the widest vectors of the processor, chosen when the library is loaded; sanitizers are not ready then.
 * Such a loop must not multiply and add: some processors would round once, others twice. */
#if PL_X86_64 && defined(__GLIBC__) && defined(NDEBUG)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* A loop in which `a` is the incoming element and `b` the one that it is combined with. */
#define LOOP(name, basic, type, result)                                                                                \
    static WIDE void name##_##basic(const void *in, const void *with, void *to, size_t count)                          \
    {                                                                                                                  \
        const type *x = in, *y = with;                                                                                 \
        type *z = to;                                                                                                  \
        APART for (size_t i = 0; i < count; i++)                                                                       \
        {                                                                                                              \
            type a = x[i], b = y[i];                                                                                   \
            z[i] = (type)(result);                                                                                     \
        }                                                                                                              \
    }

#define INTEGER_LOOPS(basic, type, wide)                                                                               \
    LOOP(sum, basic, type, (wide)a + (wide)b)                                                                          \
    LOOP(prod, basic, type, (wide)a *(wide)b)                                                                          \
    LOOP(min, basic, type, a < b ? a : b)                                                                              \
    LOOP(max, basic, type, a > b ? a : b)                                                                              \
    LOOP(land, basic, type, (a != 0) & (b != 0))                                                                       \
    LOOP(lor, basic, type, (a != 0) | (b != 0))                                                                        \
    LOOP(lxor, basic, type, (a != 0) ^ (b != 0))                                                                       \
    LOOP(band, basic, type, a &b)                                                                                      \
    LOOP(bor, basic, type, a | b)                                                                                      \
    LOOP(bxor, basic, type, a ^ b)
INTEGERS(INTEGER_LOOPS)

#define REAL_LOOPS(basic, type, complex)                                                                               \
    LOOP(sum, basic, type, a + b)                                                                                      \
    LOOP(prod, basic, type, a *b)                                                                                      \
    LOOP(min, basic, type, a < b ? a : b)                                                                              \
    LOOP(max, basic, type, a > b ? a : b)                                                                              \
    static void sum_##complex(const void *in, const void *with, void *to, size_t count)                                \
    {                                                                                                                  \
        sum_##basic(in, with, to, 2 * count);                                                                          \
    }                                                                                                                  \
    static void prod_##complex(const void *in, const void *with, void *to, size_t count)                               \
    {                                                                                                                  \
        const type *x = in, *y = with;                                                                                 \
        type *z = to;                                                                                                  \
        APART for (size_t i = 0; i < 2 * count; i += 2)                                                                \
        {                                                                                                              \
            type real = x[i] * y[i] - x[i + 1] * y[i + 1];                                                             \
            z[i + 1] = x[i] * y[i + 1] + x[i + 1] * y[i];                                                              \
            z[i] = real;                                                                                               \
        }                                                                                                              \
    }
REALS(REAL_LOOPS)

#define LOGICAL_LOOPS(basic, type)                                                                                     \
    LOOP(land, basic, type, (a != 0) & (b != 0))                                                                       \
    LOOP(lor, basic, type, (a != 0) | (b != 0))                                                                        \
    LOOP(lxor, basic, type, (a != 0) ^ (b != 0))
LOGICALS(LOGICAL_LOOPS)

LOOP(band, BYTE, uint8_t, a &b)
LOOP(bor, BYTE, uint8_t, a | b)
LOOP(bxor, BYTE, uint8_t, a ^ b)

/* The better value wins; of equal ones the lower index. */
#define PAIR_LOOP(name, basic, better)                                                                                 \
    static void name##_##basic(const void *in, const void *with, void *to, size_t count)                               \
    {                                                                                                                  \
        const struct pair_##basic *x = in, *y = with;                                                                  \
        struct pair_##basic *z = to;                                                                                   \
        APART for (size_t i = 0; i < count; i++)                                                                       \
        {                                                                                                              \
            struct pair_##basic a = x[i], b = y[i];                                                                    \
            bool first = a.value better b.value || (a.value == b.value && a.index < b.index);                          \
            z[i] = first ? a : b;                                                                                      \
        }                                                                                                              \
    }

#define PAIR_LOOPS(basic, value_type, index_type)                                                                      \
    struct pair_##basic {                                                                                              \
        value_type value;                                                                                              \
        index_type index;                                                                                              \
    };                                                                                                                 \
    PAIR_LOOP(minloc, basic, <)                                                                                        \
    PAIR_LOOP(maxloc, basic, >)
PAIRS(PAIR_LOOPS)

#define ENTRY(name, basic) [PL_##basic] = name##_##basic,

#define SUM(basic, ...)                ENTRY(sum, basic)
#define SUM_REAL(basic, type, complex) ENTRY(sum, basic) ENTRY(sum, complex)
const struct pl_op_kernels pl_kernels_sum = { { INTEGERS(SUM) REALS(SUM_REAL) } };

#define PROD(basic, ...)                ENTRY(prod, basic)
#define PROD_REAL(basic, type, complex) ENTRY(prod, basic) ENTRY(prod, complex)
const struct pl_op_kernels pl_kernels_prod = { { INTEGERS(PROD) REALS(PROD_REAL) } };

#define MIN(basic, ...) ENTRY(min, basic)
const struct pl_op_kernels pl_kernels_min = { { INTEGERS(MIN) REALS(MIN) } };

#define MAX(basic, ...) ENTRY(max, basic)
const struct pl_op_kernels pl_kernels_max = { { INTEGERS(MAX) REALS(MAX) } };

#define LAND(basic, ...) ENTRY(land, basic)
const struct pl_op_kernels pl_kernels_land = { { INTEGERS(LAND) LOGICALS(LAND) } };

#define LOR(basic, ...) ENTRY(lor, basic)
const struct pl_op_kernels pl_kernels_lor = { { INTEGERS(LOR) LOGICALS(LOR) } };

#define LXOR(basic, ...) ENTRY(lxor, basic)
const struct pl_op_kernels pl_kernels_lxor = { { INTEGERS(LXOR) LOGICALS(LXOR) } };

#define BAND(basic, ...) ENTRY(band, basic)
const struct pl_op_kernels pl_kernels_band = { { INTEGERS(BAND) ENTRY(band, BYTE) } };

#define BOR(basic, ...) ENTRY(bor, basic)
const struct pl_op_kernels pl_kernels_bor = { { INTEGERS(BOR) ENTRY(bor, BYTE) } };

#define BXOR(basic, ...) ENTRY(bxor, basic)
const struct pl_op_kernels pl_kernels_bxor = { { INTEGERS(BXOR) ENTRY(bxor, BYTE) } };

#define MINLOC(basic, ...) ENTRY(minloc, basic)
const struct pl_op_kernels pl_kernels_minloc = { { PAIRS(MINLOC) } };

#define MAXLOC(basic, ...) ENTRY(maxloc, basic)
const struct pl_op_kernels pl_kernels_maxloc = { { PAIRS(MAXLOC) } };

/* --- pairs of any two types --------------------------------------------------------------------------------------- */

/* Negative, zero or positive as *a is less than, equal to (or not comparable with), or greater than *b. */
typedef int compare_function(const void *a, const void *b);

#define COMPARE(basic, type, ...)                                                                                      \
    static int compare_##basic(const void *a, const void *b)                                                           \
    {                                                                                                                  \
        const type *x = a, *y = b;                                                                                     \
        return (*x > *y) - (*x < *y);                                                                                  \
    }
INTEGERS(COMPARE)
REALS(COMPARE)

#define COMPARE_ENTRY(basic, ...) ENTRY(compare, basic)
static compare_function *const compare[PL_BASICS] = { INTEGERS(COMPARE_ENTRY) REALS(COMPARE_ENTRY) };

bool pl_op_loc_comparable(const struct pl_type *pair)
{
    struct pl_type *const *parts = pair->envelope->type; /* value, index */
    return compare[parts[0]->basic] && compare[parts[1]->basic];
}

void pl_op_loc_pairs(const struct pl_type *pair, int sign, const char *in, char *inout, size_t count)
{
    const struct pl_type *value_type = pair->envelope->type[0], *index_type = pair->envelope->type[1];
    compare_function *compare_values = compare[value_type->basic], *compare_indices = compare[index_type->basic];
    size_t index = (size_t)(pair->true_extent - index_type->size);
    for (size_t i = 0; i < count; i++, in += pair->extent, inout += pair->extent) {
        int order = sign * compare_values(in, inout);
        if (order < 0)
            memcpy(inout, in, (size_t)value_type->size);
        if (order < 0 || (order == 0 && compare_indices(in + index, inout + index) < 0))
            memcpy(inout + index, in + index, (size_t)index_type->size);
    }
}
