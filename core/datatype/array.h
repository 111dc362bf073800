/* SPDX-License-Identifier: BSD-3-Clause */
/* The constructors of pl_type_build() that select parts of arrays. MPI_ERR_VALUE_TOO_LARGE, MPI_ERR_ARG,
 * MPI_ERR_NO_MEM. */
#ifndef PLENUM_CORE_DATATYPE_ARRAY_H
#define PLENUM_CORE_DATATYPE_ARRAY_H

#include "core/datatype/build.h"

int pl_draft_subarray(const struct pl_type_envelope *envelope, struct pl_draft *draft);
int pl_draft_darray(const struct pl_type_envelope *envelope, struct pl_draft *draft);

#endif
