/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of the predefined reductions: for each operation a table by the machine representation of the elements. */
#ifndef PLENUM_CORE_DATATYPE_OP_KERNELS_H
#define PLENUM_CORE_DATATYPE_OP_KERNELS_H

#include "core/datatype/datatype.h"

/* to[i] = in[i] op with[i] for `count` elements. The arrays are aligned for them. `to` may be `with`; otherwise it must
 * not overlap the other arrays. */
typedef void pl_op_kernel(const void *in, const void *with, void *to, size_t count);

/* NULL: the standard does not define the combination, or this compiler has no such arithmetic. */
struct pl_op_kernels {
    pl_op_kernel *loop[PL_BASICS];
};

extern const struct pl_op_kernels pl_kernels_sum, pl_kernels_prod, pl_kernels_min, pl_kernels_max;
extern const struct pl_op_kernels pl_kernels_land, pl_kernels_lor, pl_kernels_lxor;
extern const struct pl_op_kernels pl_kernels_band, pl_kernels_bor, pl_kernels_bxor;
extern const struct pl_op_kernels pl_kernels_minloc, pl_kernels_maxloc;

/* MINLOC (`sign` 1) and MAXLOC (-1) on a pair of MPI_Type_get_value_index(), whatever its parts. */
void pl_op_loc_pairs(const struct pl_type *pair, int sign, const char *in, char *inout, size_t count);

/* Whether the parts of such a pair can be compared. */
bool pl_op_loc_comparable(const struct pl_type *pair);

#endif
