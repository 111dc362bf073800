/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions in an area. See area.h. */
#ifndef PLENUM_CORE_COLL_AREA_REDUCE_H
#define PLENUM_CORE_COLL_AREA_REDUCE_H

#include "core/coll/area/call.h"

pl_area_chunk pl_area_reduce, pl_area_allreduce, pl_area_allreduce_in_parts, pl_area_reduce_scatter, pl_area_chain;

/* This rank's operand from byte `at` on, and where its result goes. */
static inline const char *pl_area_reduce_input(const struct pl_area_call *call, size_t at)
{
    return pl_address(pl_coll_input(call->coll, 0).buf, (MPI_Aint)at);
}

static inline char *pl_area_reduce_output(const struct pl_area_call *call, size_t at)
{
    return pl_address(call->coll->recvbuf, (MPI_Aint)at);
}

/* to = operand op with; `to` may be `with`. */
static inline void pl_area_reduce_apply(const struct pl_area_call *call, const char *operand, const char *with,
                                        char *to, size_t bytes)
{
    const struct pl_type *type = call->coll->recvtype;
    pl_op_kernel *loop = pl_op_loop(call->coll->op, type);
    size_t each = (size_t)type->size, count = bytes == each ? 1 : bytes / each;
    if (pl_likely(loop != NULL)) {
        loop(operand, with, to, count);
        return;
    }
    if (to != with)
        pl_copy_bytes(to, with, bytes);
    pl_op_apply(call->coll->op, operand, to, (MPI_Count)count, type);
}

#endif
