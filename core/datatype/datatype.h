/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes. A datatype is immutable once made, except for its name, its attributes and the commit flag. Predefined
 * ones are static.
 *
 *     build.h       constructors; array.h for parts of arrays, parametric.h for unnamed predefined types
 *     envelope.h    the arguments of the constructor
 *     layout.h      the runs of bytes
 *     signature.h   the basic elements
 *     cursor.h      moving data
 *     wire.h        a layout as bytes, for the target of a one-sided operation
 */
#ifndef PLENUM_CORE_DATATYPE_DATATYPE_H
#define PLENUM_CORE_DATATYPE_DATATYPE_H

#include "core/object/object.h"
#include "mpi.h"

/* The machine representation of a predefined element, for reductions and for external32. */
enum pl_basic {
    PL_NONE, /* no single element type: a derived type of mixed elements, or MPI_PACKED */
    PL_I8,
    PL_I16,
    PL_I32,
    PL_I64,
    PL_I128,
    PL_U8,
    PL_U16,
    PL_U32,
    PL_U64,
    PL_F16,
    PL_F32,
    PL_F64,
    PL_F80,
    PL_F128, /* F80: a C long double of another format: of 80 bits on x86, two doubles on POWER */
    PL_C32,
    PL_C64,
    PL_C128,
    PL_C160,
    PL_C256, /* complex of F16, F32, F64, F80, F128: bits of both parts */
    PL_BOOL,
    PL_L8,
    PL_L16,
    PL_L32,
    PL_L64,
    PL_L128, /* C bool; Fortran LOGICAL by size in bits */
    PL_CHAR,
    PL_WCHAR,
    PL_BYTE, /* arithmetic only with PL_CHAR */
    PL_P_F32I32,
    PL_P_F64I32,
    PL_P_LI32,
    PL_P_I32I32,
    PL_P_I16I32,
    PL_P_F80I32, /* pairs for MINLOC and MAXLOC */
    PL_P_F32F32,
    PL_P_F64F64, /* MPI_2REAL, MPI_2DOUBLE_PRECISION */
    PL_P_CUSTOM, /* MPI_Type_get_value_index pairs of other types */
    PL_BASICS
};

struct pl_type_layout;
struct pl_type_signature;
struct pl_type_envelope;
struct pl_attrs;

struct pl_type {
    struct pl_object obj;
    MPI_Count size;       /* bytes of data in one element */
    MPI_Count lb, extent; /* bytes */
    MPI_Count true_lb, true_extent;
    bool committed;
    bool marked;    /* lb and extent were given by the user or by a subarray, and persist (MPI-5.0, 5.1.6) */
    bool permanent; /* unnamed predefined (MPI_Type_create_f90_*, value-index pairs): not the user's to free */
    bool dense;     /* any count of elements is one run of count * size bytes at buf + true_lb */
    bool solid;     /* one element is one run of `size` bytes at buf + true_lb, in order */
    uint8_t basic;  /* enum pl_basic when all elements are of one kind, else PL_NONE */
    uint8_t align;  /* of the most demanding element, bytes */
    const struct pl_type *element;             /* the predefined type of all elements; NULL: mixed, or no elements */
    const struct pl_type_layout *layout;       /* relative to true_lb; NULL: one run of `size` bytes */
    const struct pl_type_signature *signature; /* NULL: size / element->size times `element` */
    const struct pl_type_envelope *envelope;   /* NULL for named predefined types */
    struct pl_attrs *attrs;
    char *name; /* set by the user; NULL: the predefined name, or ""; read by pl_type_get_name() only */
};

struct pl_type *pl_type_from(MPI_Datatype handle); /* NULL for a bad handle; records no error */
MPI_Datatype pl_type_handle(const struct pl_type *type);

/* The static object of an ABI constant: pl_type_predefined((uintptr_t)MPI_INT). NULL: not a datatype's. */
void *pl_type_predefined(uintptr_t constant);

/* The same, for fast paths. The tables are in predefined.c; slots count from 1. */
enum { PL_TYPE_FIRST = 0x200, PL_TYPE_NUMBERS = 0x100 };
extern const uint8_t pl_type_slots[PL_TYPE_NUMBERS];
extern struct pl_type pl_basics[];
extern const char *const pl_basic_names[];
static inline struct pl_type *pl_type_basic(uintptr_t constant)
{
    unsigned slot = constant - PL_TYPE_FIRST < PL_TYPE_NUMBERS ? pl_type_slots[constant - PL_TYPE_FIRST] : 0;
    return slot ? &pl_basics[slot - 1] : NULL;
}
void pl_type_destroy(void *type);

/* Shorthands for the library's own messages. */
#define PL_TYPE_BYTE ((const struct pl_type *)pl_type_predefined((uintptr_t)MPI_BYTE))

/* The user's name; copied, truncated to MPI_MAX_OBJECT_NAME - 1 bytes. Any thread, at any time. */
int pl_type_set_name(struct pl_type *type, const char *name);
void pl_type_get_name(struct pl_type *type, char name[MPI_MAX_OBJECT_NAME]);

/* The name of a named predefined type, "" for others: the result of MPI_Type_get_name() before a name is set. */
const char *pl_type_standard_name(const struct pl_type *type);

/* A name for messages: the user's, the standard's, or "a derived datatype". Written to `buffer`; returns it. */
const char *pl_type_label(const struct pl_type *type, char buffer[MPI_MAX_OBJECT_NAME]);

#endif
