/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations at the origin. The API layer checks the arguments; pl_rma_start() checks what only the window
 * knows, that is epoch, bounds and amounts of data, and hands the operation to the target's path (path.h).
 */
#ifndef PLENUM_CORE_RMA_RMA_H
#define PLENUM_CORE_RMA_RMA_H

#include "core/datatype/datatype.h"
#include "core/datatype/op.h"
#include "core/rma/window.h"

enum pl_rma_kind { PL_RMA_PUT, PL_RMA_GET, PL_RMA_ACCUMULATE, PL_RMA_GET_ACCUMULATE, PL_RMA_COMPARE_AND_SWAP };

/* An operation. All pointers are borrowed until pl_rma_start() returns, the buffers until the operation completes. */
struct pl_rma {
    enum pl_rma_kind kind;
    struct pl_win *win;
    int target;
    MPI_Aint disp;              /* in the target's units */
    MPI_Count count;            /* elements at the target */
    const struct pl_type *type; /* at the target */
    const void *origin;
    MPI_Count origin_count;
    const struct pl_type *origin_type; /* NULL: no data goes to the target, as in a get */
    void *result;                      /* what the target's memory held before; for a get, where the data goes */
    MPI_Count result_count;
    const struct pl_type *result_type; /* NULL: no data comes back */
    const struct pl_op *op;            /* of accumulates */
    const void *compare;               /* of compare and swap: one element */
};

/* Starts the operation. `request` NULL: epochs complete it. Else *request is a request with one handle.
 * MPI_ERR_RMA_SYNC, MPI_ERR_RMA_RANGE, MPI_ERR_TYPE, MPI_ERR_PROC_ABORTED, MPI_ERR_NO_MEM. */
int pl_rma_start(const struct pl_rma *rma, struct pl_request **request);

/* Records the detail of a failed request of kind PL_REQ_RMA; returns `error`. */
int pl_rma_report(const struct pl_request *request, int error);

/* Does an access stay within `size` bytes? `offset`: bytes from their start. */
bool pl_rma_fits(int64_t offset, MPI_Count count, const struct pl_type *type, MPI_Aint size);

static inline size_t pl_rma_bytes(MPI_Count count, const struct pl_type *type)
{
    return (size_t)count * (size_t)type->size;
}

#endif
