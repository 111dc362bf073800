/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The unnamed predefined datatypes: Fortran's types by precision and range (MPI-5.0, 19.1.5), and the pairs of value
 * and index that have no name (6.9.4). There is one object for each set of arguments. It is permanent and committed,
 * and not the user's to free. `type` is borrowed and valid until pl_type_trim(). NULL: no type fits.
 */
#ifndef PLENUM_CORE_DATATYPE_PARAMETRIC_H
#define PLENUM_CORE_DATATYPE_PARAMETRIC_H

#include "core/datatype/datatype.h"

int pl_type_f90(int combiner, int precision, int range, struct pl_type **type);
int pl_type_value_index(struct pl_type *value, struct pl_type *index, struct pl_type **type);

/* Releases the permanent types; called when the last instance closes. */
void pl_type_trim(void);

#endif
