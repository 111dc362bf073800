/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The elements of a datatype, in type-map order without displacements: MPI_Get_elements() counts them and external32
 * converts them.
 *
 * A type of one kind of element needs no signature: it is size / element->size times its element. A mixed one has a
 * signature, which is repeated size / signature->size times. So only MPI_Type_create_struct() makes signatures; all
 * other constructors share that of their old type. The pairs for MINLOC and MAXLOC are elements with a signature of
 * value and index.
 */
#ifndef PLENUM_CORE_DATATYPE_SIGNATURE_H
#define PLENUM_CORE_DATATYPE_SIGNATURE_H

#include "core/datatype/datatype.h"

struct pl_signature_item {
    MPI_Count repeat;
    const struct pl_type *element; /* predefined; NULL: nested */
    const struct pl_type_signature *nested;
};

struct pl_type_signature {
    _Atomic int refs;
    MPI_Count size;     /* bytes of data */
    MPI_Count elements; /* basic elements; each part of a pair counts */
    size_t count;
    struct pl_signature_item items[]; /* [count] */
};

const struct pl_type_signature *pl_signature_retain(const struct pl_type_signature *signature); /* NULL is fine */
void pl_signature_release(const struct pl_type_signature *signature);                           /* the same */

/* Sets the element, basic and signature of `type` to those of counts[i] elements of types[i], one type after the other.
 * Types without data are ignored. MPI_ERR_NO_MEM. */
int pl_signature_of_struct(size_t count, const MPI_Count counts[], struct pl_type *const types[], struct pl_type *type);

/* Calls `visit` for the runs of basic elements in `count` elements of `type`, in order, until it returns false. */
void pl_signature_walk(const struct pl_type *type, MPI_Count count,
                       bool (*visit)(void *context, const struct pl_type *element, MPI_Count elements), void *context);

/* The number of basic elements in `bytes` of data of this type, MPI_UNDEFINED if it ends inside one:
 * MPI_Get_elements(). */
MPI_Count pl_type_elements(const struct pl_type *type, MPI_Count bytes);

/* The bytes of the first `elements` basic elements; -1: the type has no elements, or they are too many. */
MPI_Count pl_type_element_bytes(const struct pl_type *type, MPI_Count elements);

#endif
