/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes and cursors.
 *
 * A datatype is immutable once made, but for its name, attributes and the commit flag. Predefined ones are static.
 * A cursor walks `count` elements of a type at `buf` and moves their bytes, in type-map order, to or from a packed
 * stream, in pieces of any size: transports pack straight into their cells and unpack straight out of them.
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
    PL_F128, /* F80: the C long double of x86 */
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
    PL_BYTE, /* arithmetic with the first only */
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

struct pl_type_layout;    /* layout.h: how the bytes lie */
struct pl_type_signature; /* signature.h: what elements it is made of, in order */
struct pl_type_envelope;  /* envelope.h: how the user made it */
struct pl_attrs;

struct pl_type {
    struct pl_object obj;
    MPI_Count size;       /* bytes of data in one element */
    MPI_Count lb, extent; /* bytes */
    MPI_Count true_lb, true_extent;
    bool committed;
    bool marked;    /* lb and extent were given by the user or by a subarray, and stick (MPI-5.0, 5.1.6) */
    bool permanent; /* unnamed predefined (MPI_Type_create_f90_*, value-index pairs): not the user's to free */
    bool dense;     /* any count of elements is one run of count * size bytes at buf + true_lb */
    bool solid;     /* one element is one run of `size` bytes at buf + true_lb, in order */
    uint8_t basic;  /* enum pl_basic when all elements are of one kind, else PL_NONE */
    uint8_t align;  /* of the most demanding element, bytes */
    const struct pl_type *element;             /* the predefined type of all elements; NULL: mixed, or none */
    const struct pl_type_layout *layout;       /* relative to true_lb; NULL: one run of `size` bytes */
    const struct pl_type_signature *signature; /* NULL: size / element->size times `element` */
    const struct pl_type_envelope *envelope;   /* NULL for named predefined types */
    struct pl_attrs *attrs;
    char *name; /* set by the user; NULL: the predefined name, or ""; by pl_type_get_name() only */
};

struct pl_type *pl_type_from(MPI_Datatype handle); /* NULL when bad; silent */
MPI_Datatype pl_type_handle(const struct pl_type *type);

/* The static object of an ABI constant: pl_type_predefined((uintptr_t)MPI_INT). NULL: there is none. */
void *pl_type_predefined(uintptr_t constant);

/* The same where it must be fast. The slots are counted from 1. */
enum { PL_TYPE_FIRST = 0x200, PL_TYPE_NUMBERS = 0x100 };
extern const uint8_t pl_type_slots[PL_TYPE_NUMBERS];
extern struct pl_type pl_basics[];
static inline struct pl_type *pl_type_basic(uintptr_t constant)
{
    unsigned slot = constant - PL_TYPE_FIRST < PL_TYPE_NUMBERS ? pl_type_slots[constant - PL_TYPE_FIRST] : 0;
    return slot ? &pl_basics[slot - 1] : NULL;
}
void pl_type_destroy(void *type);

/* Shorthands for the library's own messages. */
#define PL_TYPE_BYTE ((const struct pl_type *)pl_type_predefined((uintptr_t)MPI_BYTE))

/* Bytes from the lowest to behind the highest byte that `count` elements touch, and where the lowest lies relative
 * to the buffer's address: what a temporary buffer needs. 0 for no data. */
size_t pl_type_span(const struct pl_type *type, MPI_Count count, MPI_Aint *lowest);

struct pl_cursor {
    const struct pl_type *type; /* borrowed: the request retains it */
    char *base;
    MPI_Count count;
    size_t total; /* bytes of packed data */
    size_t done;  /* bytes moved so far: all there is to know about where the walk stands */
};

/* An address may be absolute (MPI_BOTTOM): it is computed as a number, not as a pointer into an object. */
static inline char *pl_address(const void *base, MPI_Aint displacement)
{
    return (char *)((uintptr_t)base + (uintptr_t)displacement);
}

static inline void pl_cursor_init(struct pl_cursor *cursor, const void *buf, MPI_Count count,
                                  const struct pl_type *type)
{
    *cursor = (struct pl_cursor){
        .type = type,
        .base = (char *)(uintptr_t)buf,
        .count = count,
        .total = (size_t)count * (size_t)type->size,
    };
}

/* Jump to a packed offset, for data that is moved out of order. */
void pl_cursor_seek(struct pl_cursor *cursor, size_t offset);

/* If all data is one run in memory (or none at all): its address. NULL: walk it. */
static inline void *pl_cursor_direct(const struct pl_cursor *cursor)
{
    const struct pl_type *type = cursor->type;
    return type->dense || (type->solid && cursor->count == 1) ? pl_address(cursor->base, type->true_lb) : NULL;
}

/* Move up to `max` further bytes into / out of packed memory; returns how many (less only at the end). */
size_t pl_cursor_pack(struct pl_cursor *cursor, void *packed, size_t max);
size_t pl_cursor_unpack(struct pl_cursor *cursor, const void *packed, size_t bytes);

/* The next run that lies in one piece: address and bytes, at most `max`; advances. 0: the end. For scatter lists. */
size_t pl_cursor_run(struct pl_cursor *cursor, size_t max, void **address);

/* Copies count elements between two buffers that may have different types of the same signature; stops at the
 * shorter one. Never overlapping. */
void pl_type_copy(const void *from, MPI_Count from_count, const struct pl_type *from_type, void *to, MPI_Count to_count,
                  const struct pl_type *to_type);

/* Basic elements in `bytes` of data of this type, MPI_UNDEFINED when it ends inside one: MPI_Get_elements(). */
MPI_Count pl_type_elements(const struct pl_type *type, MPI_Count bytes);

/* The other way round: bytes of the first `elements` basic elements; -1: the type has none, or they are too many. */
MPI_Count pl_type_element_bytes(const struct pl_type *type, MPI_Count elements);

/* The user's name for it. Copied, cut to MPI_MAX_OBJECT_NAME - 1 bytes. Any thread, at any time. */
int pl_type_set_name(struct pl_type *type, const char *name);
void pl_type_get_name(struct pl_type *type, char name[MPI_MAX_OBJECT_NAME]);

/* The name of a named predefined type, "" for others: what MPI_Type_get_name() gives before a name is set. */
const char *pl_type_standard_name(const struct pl_type *type);

/* A name for messages: the user's, the standard's, or "a derived datatype". Written to `buffer`; returns it. */
const char *pl_type_label(const struct pl_type *type, char buffer[MPI_MAX_OBJECT_NAME]);

/* Lets go of the permanent types; called when the last instance closes. */
void pl_type_trim(void);

#endif
