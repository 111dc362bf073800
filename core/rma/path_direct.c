/* SPDX-License-Identifier: BSD-3-Clause */
/* The direct path. See path_direct.h. */
#include "core/rma/path_direct.h"

#include <string.h>

#include "core/base/compiler.h"
#include "core/engine/instance.h"
#include "core/rma/accumulate.h"
#include "core/rma/rma.h"

/* In a dynamic window `memory` is NULL and the offset an address. */
static inline char *direct_memory(const struct pl_rma *rma, int64_t offset)
{
    return pl_address(rma->win->targets[rma->target].memory, (MPI_Aint)offset);
}

/* In a dynamic window the path leads to the calling process alone. */
static int direct_check_attached(struct pl_win *win, int rank, uintptr_t address, size_t bytes)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    (void)rank;
    pl_engine_enter(engine);
    int rc = pl_win_is_attached(&win->dynamic.regions, address, bytes) ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
    pl_engine_leave(engine);
    return rc;
}

static inline void direct_copy(const void *from, MPI_Count from_count, const struct pl_type *from_type, void *to,
                               MPI_Count to_count, const struct pl_type *to_type)
{
    if (pl_likely(from_type->dense && to_type->dense))
        memmove(pl_address(to, (MPI_Aint)to_type->true_lb), pl_address(from, (MPI_Aint)from_type->true_lb),
                pl_rma_bytes(to_count, to_type));
    else
        pl_type_copy(from, from_count, from_type, to, to_count, to_type);
}

static int direct_put(const struct pl_rma *rma, int64_t offset, struct pl_request **request)
{
    (void)request;
    direct_copy(rma->origin, rma->origin_count, rma->origin_type, direct_memory(rma, offset), rma->count, rma->type);
    return MPI_SUCCESS;
}

static int direct_get(const struct pl_rma *rma, int64_t offset, struct pl_request **request)
{
    (void)request;
    direct_copy(direct_memory(rma, offset), rma->count, rma->type, rma->result, rma->result_count, rma->result_type);
    return MPI_SUCCESS;
}

static int direct_accumulate(const struct pl_rma *rma, int64_t offset, struct pl_request **request)
{
    struct pl_rma_change change;
    (void)request;
    int rc = pl_rma_change_open(rma, direct_memory(rma, offset), &change);
    if (rc == MPI_SUCCESS)
        pl_rma_apply(rma->win, rma->win->targets[rma->target].ctl, &change);
    return pl_rma_change_close(rma, &change, rc);
}

const struct pl_rma_path pl_rma_path_direct = {
    .name = "direct",
    .mapped = true,
    .check_attached = direct_check_attached,
    .put = direct_put,
    .get = direct_get,
    .accumulate = direct_accumulate,
    .lock = pl_win_ctl_lock,
    .try_lock = pl_win_ctl_try_shared,
    .unlock = pl_win_ctl_unlock,
};
