/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the arguments of a constructor to the datatype. The arguments are in the envelope. The caller has checked each
 * of them by itself (counts are not negative, and so on), but not whether they fit together.
 */
#ifndef PLENUM_CORE_DATATYPE_BUILD_H
#define PLENUM_CORE_DATATYPE_BUILD_H

#include "core/datatype/envelope.h"
#include "core/datatype/layout.h"

/* A draft of a datatype: the bytes of its data, and the bounds that markers set. */
struct pl_draft {
    struct pl_shape shape;
    bool marked; /* lb and ub are valid */
    MPI_Count lb, ub;
};

/* Makes the datatype that the envelope describes, with one handle. Steals the envelope, also when it fails.
 * MPI_ERR_ARG for arguments that do not fit together, MPI_ERR_VALUE_TOO_LARGE when a size, displacement or extent does
 * not fit into MPI_Count, MPI_ERR_NO_MEM. */
int pl_type_build(struct pl_type_envelope *envelope, struct pl_type **type);

/* A type's data as a shape; borrowed. */
static inline struct pl_shape pl_type_shape(const struct pl_type *type)
{
    return (struct pl_shape){ type->layout, type->size, (MPI_Aint)type->true_lb, type->true_extent };
}

#endif
