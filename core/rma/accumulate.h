/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accumulates on memory that is mapped here, under the target's accumulate lock (window_ctl.h). The callers are the
 * direct path, the target of a message or a delegated operation, and the CMA path, with a copy of the target's
 * elements.
 */
#ifndef PLENUM_CORE_RMA_ACCUMULATE_H
#define PLENUM_CORE_RMA_ACCUMULATE_H

#include <stdbool.h>

#include "core/datatype/datatype.h"
#include "core/datatype/op.h"

struct pl_rma;
struct pl_win;
struct pl_win_ctl;

/* A change of the target's elements. All pointers are borrowed, except those that open() allocates. */
struct pl_rma_change {
    char *at; /* the target's elements; the CMA path keeps the address in the target here */
    MPI_Count count;
    const struct pl_type *type;
    const struct pl_op *op;
    const void *data;              /* packed, [count * type->size] bytes; NULL: MPI_NO_OP */
    const void *compare;           /* an element: the change is made only if the memory holds it; NULL: always */
    void *before;                  /* out: what the memory held, packed, [count * type->size] bytes; NULL: not wanted */
    void *data_copy, *before_copy; /* set by open(), freed by close() */
};

/* May the operation be applied to the datatype? MPI_ERR_OP, MPI_ERR_TYPE. */
int pl_rma_check_op(const struct pl_op *op, const struct pl_type *type);

/* Makes the change that an operation asks for: packs the origin's data, unless it is one run, and provides memory for
 * the result. close() must follow in any case: it unpacks the result if `rc` is MPI_SUCCESS, frees the copies and
 * returns `rc`. MPI_ERR_NO_MEM. */
int pl_rma_change_open(const struct pl_rma *rma, char *at, struct pl_rma_change *change);
int pl_rma_change_free(const struct pl_rma *rma, struct pl_rma_change *change, int rc);
static inline int pl_rma_change_close(const struct pl_rma *rma, struct pl_rma_change *change, int rc)
{
    return change->data_copy || change->before_copy ? pl_rma_change_free(rma, change, rc) : rc;
}

/* Makes the change under the accumulate lock. */
void pl_rma_apply(struct pl_win *win, struct pl_win_ctl *ctl, const struct pl_rma_change *change);

/* The same with the accumulate lock held by the caller. False: the memory stays as it was. */
bool pl_rma_apply_locked(const struct pl_rma_change *change);

#endif
