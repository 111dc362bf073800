/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The constructor of a datatype and its arguments, as MPI_Type_get_contents() returns them. The type itself is built
 * from the envelope (core/datatype/build.h), so that the recorded arguments are the ones that were used.
 *
 * The numbers of a constructor are written and read in one order: that of the table in MPI-5.0 section 5.1.13, the
 * integers first, then the addresses, then the large counts. For most constructors this is the order of the
 * prototype's arguments, whichever of the three kinds the called form (int or _c) puts them into.
 */
#ifndef PLENUM_CORE_DATATYPE_ENVELOPE_H
#define PLENUM_CORE_DATATYPE_ENVELOPE_H

#include "core/datatype/datatype.h"

struct pl_type_envelope {
    int combiner; /* MPI_COMBINER_VECTOR */
    size_t ints, addresses, counts, types;
    size_t written, types_written;
    int *integer;                  /* [ints] */
    MPI_Aint *address;             /* [addresses] */
    MPI_Count *count;              /* [counts] */
    struct pl_type **type;         /* [types], retained */
    struct pl_type_envelope *next; /* in the queue of envelopes to be freed */
};

/* An envelope for this many numbers of each kind, all still to be written. NULL: out of memory (recorded). */
struct pl_type_envelope *pl_envelope_create(int combiner, size_t ints, size_t addresses, size_t counts, size_t types);
void pl_envelope_release(const struct pl_type_envelope *envelope); /* NULL is fine */

/* Writes the next number (which must fit an int if it is one of the integers), or the next type (retains it). */
void pl_envelope_put(struct pl_type_envelope *envelope, MPI_Count value);
void pl_envelope_put_type(struct pl_type_envelope *envelope, struct pl_type *type);

/* The i-th number in the order of writing. */
static inline MPI_Count pl_envelope_get(const struct pl_type_envelope *envelope, size_t i)
{
    if (i < envelope->ints)
        return envelope->integer[i];
    i -= envelope->ints;
    return i < envelope->addresses ? envelope->address[i] : envelope->count[i - envelope->addresses];
}

/* Whether its arguments were given as large counts. */
static inline bool pl_envelope_is_large(const struct pl_type_envelope *envelope)
{
    return envelope->counts > 0;
}

#endif
