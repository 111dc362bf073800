/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of datatype constructors. */
#ifndef PLENUM_API_DATATYPE_H
#define PLENUM_API_DATATYPE_H

#include "api/call.h"
#include "core/datatype/build.h"

/* An envelope for a constructor's arguments; NULL after an error in the call, or out of memory. */
struct pl_type_envelope *pl_call_envelope(struct pl_call *call, int combiner, size_t ints, size_t addresses,
                                          size_t counts, size_t types);

/* The end of every constructor: builds the datatype from its envelope (stolen; NULL after an error), sets *newtype and
 * leaves the call. */
int pl_call_build(struct pl_call *call, struct pl_type_envelope *envelope, MPI_Datatype *newtype);

#endif
