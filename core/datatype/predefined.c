/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The predefined datatypes of the ABI: one row each, with the number of its handle, the C type that has its size and
 * alignment, and the machine representation. The numbers repeat those of mpi.h, since a table cannot be indexed by
 * handle constants, which are pointers. A test compares them.
 */
#include "core/datatype/datatype.h"

#include <float.h>
#include <wchar.h>

#include "core/datatype/layout.h"
#include "core/datatype/signature.h"

#define SIGNED(type)   (sizeof(type) == 8 ? PL_I64 : sizeof(type) == 4 ? PL_I32 : PL_I16)
#define UNSIGNED(type) (sizeof(type) == 8 ? PL_U64 : sizeof(type) == 4 ? PL_U32 : PL_U16)

#if LDBL_MANT_DIG == 64 || LDBL_MANT_DIG == 106
enum { LONG_DOUBLE = PL_F80, LONG_COMPLEX = PL_C160 };
#elif LDBL_MANT_DIG == 113
enum { LONG_DOUBLE = PL_F128, LONG_COMPLEX = PL_C256 };
#else
enum { LONG_DOUBLE = PL_F64, LONG_COMPLEX = PL_C128 };
#endif

/* Where a C long double is two doubles, so is Fortran's REAL*16. */
#if LDBL_MANT_DIG == 106
enum { REAL_16 = PL_F80, COMPLEX_32 = PL_C160 };
#else
enum { REAL_16 = PL_F128, COMPLEX_32 = PL_C256 };
#endif

/* Storage for types that not every C compiler has arithmetic for. They can be moved and named in any case. */
struct half_complex {
    uint16_t parts[2];
};
struct wide {
    _Alignas(16) unsigned char bytes[16];
};
struct wide_complex {
    struct wide parts[2];
};

#define SCALARS(X)                                                                                                     \
    X(0x201, MPI_AINT, MPI_Aint, SIGNED(MPI_Aint))                                                                     \
    X(0x202, MPI_COUNT, MPI_Count, PL_I64)                                                                             \
    X(0x203, MPI_OFFSET, MPI_Offset, PL_I64)                                                                           \
    X(0x207, MPI_PACKED, char, PL_NONE)                                                                                \
    X(0x208, MPI_SHORT, short, SIGNED(short))                                                                          \
    X(0x209, MPI_INT, int, SIGNED(int))                                                                                \
    X(0x20a, MPI_LONG, long, SIGNED(long))                                                                             \
    X(0x20b, MPI_LONG_LONG_INT, long long, SIGNED(long long))                                                          \
    X(0x20c, MPI_UNSIGNED_SHORT, unsigned short, UNSIGNED(short))                                                      \
    X(0x20d, MPI_UNSIGNED, unsigned, UNSIGNED(unsigned))                                                               \
    X(0x20e, MPI_UNSIGNED_LONG, unsigned long, UNSIGNED(unsigned long))                                                \
    X(0x20f, MPI_UNSIGNED_LONG_LONG, unsigned long long, UNSIGNED(long long))                                          \
    X(0x210, MPI_FLOAT, float, PL_F32)                                                                                 \
    X(0x212, MPI_C_COMPLEX, float _Complex, PL_C64)                                                                    \
    X(0x213, MPI_CXX_FLOAT_COMPLEX, float _Complex, PL_C64)                                                            \
    X(0x214, MPI_DOUBLE, double, PL_F64)                                                                               \
    X(0x216, MPI_C_DOUBLE_COMPLEX, double _Complex, PL_C128)                                                           \
    X(0x217, MPI_CXX_DOUBLE_COMPLEX, double _Complex, PL_C128)                                                         \
    X(0x218, MPI_LOGICAL, MPI_Fint, PL_L32)                                                                            \
    X(0x219, MPI_INTEGER, MPI_Fint, PL_I32)                                                                            \
    X(0x21a, MPI_REAL, float, PL_F32)                                                                                  \
    X(0x21b, MPI_COMPLEX, float _Complex, PL_C64)                                                                      \
    X(0x21c, MPI_DOUBLE_PRECISION, double, PL_F64)                                                                     \
    X(0x21d, MPI_DOUBLE_COMPLEX, double _Complex, PL_C128)                                                             \
    X(0x21e, MPI_CHARACTER, char, PL_CHAR)                                                                             \
    X(0x220, MPI_LONG_DOUBLE, long double, LONG_DOUBLE)                                                                \
    X(0x224, MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex, LONG_COMPLEX)                                            \
    X(0x225, MPI_CXX_LONG_DOUBLE_COMPLEX, long double _Complex, LONG_COMPLEX)                                          \
    X(0x238, MPI_C_BOOL, _Bool, PL_BOOL)                                                                               \
    X(0x239, MPI_CXX_BOOL, _Bool, PL_BOOL)                                                                             \
    X(0x23c, MPI_WCHAR, wchar_t, PL_WCHAR)                                                                             \
    X(0x240, MPI_INT8_T, int8_t, PL_I8)                                                                                \
    X(0x241, MPI_UINT8_T, uint8_t, PL_U8)                                                                              \
    X(0x243, MPI_CHAR, char, PL_CHAR)                                                                                  \
    X(0x244, MPI_SIGNED_CHAR, signed char, PL_I8)                                                                      \
    X(0x245, MPI_UNSIGNED_CHAR, unsigned char, PL_U8)                                                                  \
    X(0x247, MPI_BYTE, char, PL_BYTE)                                                                                  \
    X(0x248, MPI_INT16_T, int16_t, PL_I16)                                                                             \
    X(0x249, MPI_UINT16_T, uint16_t, PL_U16)                                                                           \
    X(0x250, MPI_INT32_T, int32_t, PL_I32)                                                                             \
    X(0x251, MPI_UINT32_T, uint32_t, PL_U32)                                                                           \
    X(0x258, MPI_INT64_T, int64_t, PL_I64)                                                                             \
    X(0x259, MPI_UINT64_T, uint64_t, PL_U64)                                                                           \
    X(0x2c0, MPI_LOGICAL1, int8_t, PL_L8)                                                                              \
    X(0x2c1, MPI_INTEGER1, int8_t, PL_I8)                                                                              \
    X(0x2c8, MPI_LOGICAL2, int16_t, PL_L16)                                                                            \
    X(0x2c9, MPI_INTEGER2, int16_t, PL_I16)                                                                            \
    X(0x2ca, MPI_REAL2, uint16_t, PL_F16)                                                                              \
    X(0x2d0, MPI_LOGICAL4, int32_t, PL_L32)                                                                            \
    X(0x2d1, MPI_INTEGER4, int32_t, PL_I32)                                                                            \
    X(0x2d2, MPI_REAL4, float, PL_F32)                                                                                 \
    X(0x2d3, MPI_COMPLEX4, struct half_complex, PL_C32)                                                                \
    X(0x2d8, MPI_LOGICAL8, int64_t, PL_L64)                                                                            \
    X(0x2d9, MPI_INTEGER8, int64_t, PL_I64)                                                                            \
    X(0x2da, MPI_REAL8, double, PL_F64)                                                                                \
    X(0x2db, MPI_COMPLEX8, float _Complex, PL_C64)                                                                     \
    X(0x2e0, MPI_LOGICAL16, struct wide, PL_L128)                                                                      \
    X(0x2e1, MPI_INTEGER16, struct wide, PL_I128)                                                                      \
    X(0x2e2, MPI_REAL16, struct wide, REAL_16)                                                                         \
    X(0x2e3, MPI_COMPLEX16, double _Complex, PL_C128)                                                                  \
    X(0x2eb, MPI_COMPLEX32, struct wide_complex, COMPLEX_32)

/* Value and index, as in a C struct. */
#define PAIRS(X)                                                                                                       \
    X(0x228, MPI_FLOAT_INT, float, int, MPI_FLOAT, MPI_INT, PL_P_F32I32)                                               \
    X(0x229, MPI_DOUBLE_INT, double, int, MPI_DOUBLE, MPI_INT, PL_P_F64I32)                                            \
    X(0x22a, MPI_LONG_INT, long, int, MPI_LONG, MPI_INT, PL_P_LI32)                                                    \
    X(0x22b, MPI_2INT, int, int, MPI_INT, MPI_INT, PL_P_I32I32)                                                        \
    X(0x22c, MPI_SHORT_INT, short, int, MPI_SHORT, MPI_INT, PL_P_I16I32)                                               \
    X(0x22d, MPI_LONG_DOUBLE_INT, long double, int, MPI_LONG_DOUBLE, MPI_INT, PL_P_F80I32)                             \
    X(0x230, MPI_2REAL, float, float, MPI_REAL, MPI_REAL, PL_P_F32F32)                                                 \
    X(0x231, MPI_2DOUBLE_PRECISION, double, double, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, PL_P_F64F64)           \
    X(0x232, MPI_2INTEGER, MPI_Fint, MPI_Fint, MPI_INTEGER, MPI_INTEGER, PL_P_I32I32)

enum slot {
#define SLOT(number, name, ...) SLOT_##name,
    SCALARS(SLOT) PAIRS(SLOT) SLOTS
#undef SLOT
};

const uint8_t pl_type_slots[PL_TYPE_NUMBERS] = {
#define NUMBER(number, name, ...) [number - PL_TYPE_FIRST] = SLOT_##name + 1,
    SCALARS(NUMBER) PAIRS(NUMBER)
#undef NUMBER
};

const char *const pl_basic_names[SLOTS] = {
#define NAME(number, name, ...) [SLOT_##name] = #name,
    SCALARS(NAME) PAIRS(NAME)
#undef NAME
};

#define PAIR_STRUCT(number, name, value, index, ...)                                                                   \
    struct pair_##name {                                                                                               \
        value v;                                                                                                       \
        index i;                                                                                                       \
    };
PAIRS(PAIR_STRUCT)
#undef PAIR_STRUCT

#define PAIR_SIGNATURE(number, name, value, index, value_name, index_name, basic)                                      \
    static struct pl_type_signature signature_##name = { .refs = 1,                                                    \
                                                         .size = sizeof(value) + sizeof(index),                        \
                                                         .elements = 2,                                                \
                                                         .count = 2,                                                   \
                                                         .items = { { 1, &pl_basics[SLOT_##value_name], NULL },        \
                                                                    { 1, &pl_basics[SLOT_##index_name], NULL } } };
PAIRS(PAIR_SIGNATURE)
#undef PAIR_SIGNATURE

/* The only pair with a gap between its parts. */
static struct pl_part short_int_parts[] = {
    { 0, 0, NULL },
    { offsetof(struct pair_MPI_SHORT_INT, i), sizeof(short), NULL },
    { 0, sizeof(short) + sizeof(int), NULL },
};
static struct pl_type_layout short_int_layout = {
    .refs = 1,
    .kind = PL_LAYOUT_LIST,
    .count = 2,
    .parts = short_int_parts,
};

struct pl_type pl_basics[SLOTS] = {
#define SCALAR_TYPE(number, name, type, basic_)                                                                        \
    [SLOT_##name] = { .obj = PL_OBJECT_PREDEFINED(PL_DATATYPE, number),                                                \
                      .size = sizeof(type),                                                                            \
                      .extent = sizeof(type),                                                                          \
                      .true_extent = sizeof(type),                                                                     \
                      .align = _Alignof(type),                                                                         \
                      .committed = true,                                                                               \
                      .dense = true,                                                                                   \
                      .solid = true,                                                                                   \
                      .basic = basic_,                                                                                 \
                      .element = &pl_basics[SLOT_##name] },
    SCALARS(SCALAR_TYPE)
#undef SCALAR_TYPE

#define PAIR_TYPE(number, name, value, index, value_name, index_name, basic_)                                          \
    [SLOT_##name] = { .obj = PL_OBJECT_PREDEFINED(PL_DATATYPE, number),                                                \
                      .size = sizeof(value) + sizeof(index),                                                           \
                      .extent = sizeof(struct pair_##name),                                                            \
                      .true_extent = offsetof(struct pair_##name, i) + sizeof(index),                                  \
                      .align = _Alignof(struct pair_##name),                                                           \
                      .committed = true,                                                                               \
                      .dense = sizeof(struct pair_##name) == sizeof(value) + sizeof(index),                            \
                      .solid = offsetof(struct pair_##name, i) == sizeof(value),                                       \
                      .layout = offsetof(struct pair_##name, i) == sizeof(value) ? NULL : &short_int_layout,           \
                      .basic = basic_,                                                                                 \
                      .element = &pl_basics[SLOT_##name],                                                              \
                      .signature = &signature_##name },
        PAIRS(PAIR_TYPE)
#undef PAIR_TYPE
};
