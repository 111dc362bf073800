/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the arguments of a constructor to the datatype. The arguments are those in the envelope, already checked as far
 * as the standard lets one check them without looking at several together (counts are not negative, and so on).
 */
#ifndef PLENUM_CORE_DATATYPE_BUILD_H
#define PLENUM_CORE_DATATYPE_BUILD_H

#include "core/datatype/envelope.h"
#include "core/datatype/layout.h"

/* A datatype in the making: the bytes of its data, and the bounds that markers set. */
struct pl_draft {
    struct pl_shape shape;
    bool marked; /* lb and ub hold */
    MPI_Count lb, ub;
};

/* Makes the datatype that the envelope describes, with one handle. Steals the envelope, also when it fails.
 * MPI_ERR_ARG for arguments that do not fit together, MPI_ERR_VALUE_TOO_LARGE when a size, place or extent does not
 * fit into MPI_Count, MPI_ERR_NO_MEM. */
int pl_type_build(struct pl_type_envelope *envelope, struct pl_type **type);

/* The two constructors of pl_type_build() that make parts of arrays: core/datatype/array.c. */
int pl_draft_subarray(const struct pl_type_envelope *envelope, struct pl_draft *draft);
int pl_draft_darray(const struct pl_type_envelope *envelope, struct pl_draft *draft);

/* What a type holds, as a shape; borrowed. */
static inline struct pl_shape pl_type_shape(const struct pl_type *type)
{
    return (struct pl_shape){ type->layout, type->size, (MPI_Aint)type->true_lb, type->true_extent };
}

/*
 * Permanent datatypes: unnamed, predefined, one object for each set of arguments, committed, not the user's to free.
 * `type` is borrowed and stays until pl_type_trim(). NULL: there is none that fits.
 */
int pl_type_f90(int combiner, int precision, int range, struct pl_type **type);
int pl_type_value_index(struct pl_type *value, struct pl_type *index, struct pl_type **type);

#endif
