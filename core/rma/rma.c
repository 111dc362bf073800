/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations: checked, then handed to the target's path. See rma.h. */
#include "core/rma/rma.h"
#include "core/base/compiler.h"

#include "core/base/error.h"
#include "core/engine/request.h"
#include "core/rma/window_wait.h"

/* --- epoch ---------------------------------------------------------------------------------------------------- */

static PL_COLD int rma_fail_epoch(const struct pl_rma *rma)
{
    return pl_fail(MPI_ERR_RMA_SYNC,
                   "%s has no access epoch for rank %d: call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or "
                   "MPI_Win_lock_all first",
                   pl_win_label(rma->win), rma->target);
}

static PL_COLD int rma_fail_passive(const struct pl_rma *rma)
{
    return pl_fail(
        MPI_ERR_RMA_SYNC,
        "an operation with a request requires a lock on rank %d of %s: call MPI_Win_lock or MPI_Win_lock_all first",
        rma->target, pl_win_label(rma->win));
}

/* `passive`: only a lock will do. */
static inline int rma_check_epoch(const struct pl_rma *rma, const struct pl_win_target *target, bool passive)
{
    struct pl_win *win = rma->win;
    int open = atomic_load_explicit(&target->open, memory_order_relaxed);
    int access = atomic_load_explicit(&win->epoch.access, memory_order_relaxed);
    if (open == PL_OPEN_LOCKED || access == PL_ACCESS_LOCK_ALL)
        return MPI_SUCCESS;
    if (passive)
        return rma_fail_passive(rma);
    if (open == PL_OPEN_NOT && access != PL_ACCESS_FENCE)
        return rma_fail_epoch(rma);
    if (access == PL_ACCESS_FENCE && !atomic_load_explicit(&win->epoch.fence_used, memory_order_relaxed))
        atomic_store_explicit(&win->epoch.fence_used, true, memory_order_relaxed);
    return MPI_SUCCESS;
}

/* --- bounds --------------------------------------------------------------------------------------------------- */

static PL_COLD int rma_fail_range(const struct pl_rma *rma)
{
    const struct pl_win_target *target = &rma->win->targets[rma->target];
    MPI_Aint lowest;
    size_t span = pl_type_span(rma->type, rma->count, &lowest);
    if (rma->win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return pl_fail(MPI_ERR_RMA_RANGE, "rank %d has not attached all of the %zu bytes at target_disp %#llx",
                       rma->target, span, (unsigned long long)rma->disp);
    return pl_fail(MPI_ERR_RMA_RANGE,
                   "target_disp %lld in units of %lld bytes, with %zu bytes from %+lld on, exceeds the %lld bytes of "
                   "rank %d in %s",
                   (long long)rma->disp, (long long)target->disp_unit, span, (long long)lowest, (long long)target->size,
                   rma->target, pl_win_label(rma->win));
}

bool pl_rma_fits(int64_t offset, MPI_Count count, const struct pl_type *type, MPI_Aint size)
{
    MPI_Aint lowest;
    size_t span = pl_type_span(type, count, &lowest);
    int64_t low;
    return span == 0 || (!__builtin_add_overflow(offset, (int64_t)lowest, &low) && low >= 0 && low <= size &&
                         span <= (size_t)(size - low));
}

static int rma_check_attached(const struct pl_rma *rma, const struct pl_win_target *target)
{
    MPI_Aint lowest;
    size_t span = pl_type_span(rma->type, rma->count, &lowest);
    if (span == 0 || !target->path->check_attached)
        return MPI_SUCCESS;
    int rc = target->path->check_attached(rma->win, rma->target, (uintptr_t)rma->disp + (uintptr_t)lowest, span);
    return rc == MPI_ERR_RMA_RANGE ? rma_fail_range(rma) : rc;
}

/* Computes the offset that a path takes and the amount of data, and checks the bounds. */
static inline int rma_locate(const struct pl_rma *rma, const struct pl_win_target *target, int64_t *offset,
                             MPI_Count *bytes)
{
    *offset = rma->disp;
    if (__builtin_mul_overflow(rma->count, rma->type->size, bytes))
        return rma_fail_range(rma);
    if (pl_unlikely(rma->win->flavor == MPI_WIN_FLAVOR_DYNAMIC))
        return rma_check_attached(rma, target);
    if (__builtin_mul_overflow((int64_t)rma->disp, (int64_t)target->disp_unit, offset))
        return rma_fail_range(rma);
    if (pl_likely(rma->type->dense && rma->type->true_lb == 0)) {
        bool fits = *offset >= 0 && *bytes <= target->size && *offset <= target->size - *bytes;
        return pl_likely(fits || *bytes == 0) ? MPI_SUCCESS : rma_fail_range(rma);
    }
    return pl_rma_fits(*offset, rma->count, rma->type, target->size) ? MPI_SUCCESS : rma_fail_range(rma);
}

/* --- amounts -------------------------------------------------------------------------------------------------- */

static PL_COLD int rma_fail_amount(const char *what, size_t here, size_t there)
{
    return pl_fail(MPI_ERR_TYPE, "the %s has %zu bytes of data and the target's part %zu: they must be equal", what,
                   here, there);
}

static inline int rma_check_amount(const struct pl_rma *rma, size_t there)
{
    if (rma->origin_type && pl_rma_bytes(rma->origin_count, rma->origin_type) != there)
        return rma_fail_amount("origin", pl_rma_bytes(rma->origin_count, rma->origin_type), there);
    if (rma->result_type && pl_rma_bytes(rma->result_count, rma->result_type) != there)
        return rma_fail_amount("result", pl_rma_bytes(rma->result_count, rma->result_type), there);
    return MPI_SUCCESS;
}

/* --- the operation -------------------------------------------------------------------------------------------- */

/* The operation is complete unless the path made a request. The wait for a complete one makes no progress, so this
 * does: a program may poll its window's memory by such operations alone. */
static int rma_give_request(struct pl_win *win, struct pl_request **request)
{
    if (!request || *request)
        return MPI_SUCCESS;
    pl_win_poll(win);
    *request = pl_request_sent();
    return *request ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

typedef int rma_begin_fn(const struct pl_rma *rma, int64_t offset, struct pl_request **request);

static inline rma_begin_fn *rma_begin_of(const struct pl_rma_path *path, enum pl_rma_kind kind)
{
    return kind == PL_RMA_PUT ? path->put : kind == PL_RMA_GET ? path->get : path->accumulate;
}

int pl_rma_start(const struct pl_rma *rma, struct pl_request **request)
{
    int64_t offset;
    MPI_Count bytes;
    if (request)
        *request = NULL;
    if (rma->target == MPI_PROC_NULL)
        return rma_give_request(rma->win, request);
    const struct pl_win_target *target = &rma->win->targets[rma->target];
    int rc = rma_check_epoch(rma, target, request != NULL);
    rc = rc ? rc : rma_locate(rma, target, &offset, &bytes);
    rc = rc ? rc : rma_check_amount(rma, (size_t)bytes);
    if (rc)
        return rc;
    rma_begin_fn *begin = rma_begin_of(target->path, rma->kind);
    if (pl_likely(bytes > 0)) {
        if (!request)
            return begin(rma, offset, NULL);
        rc = begin(rma, offset, request);
    }
    return rc ? rc : rma_give_request(rma->win, request);
}

int pl_rma_report(const struct pl_request *request, int error)
{
    const struct pl_win *win = request->comm->win;
    if (error == MPI_ERR_RMA_RANGE)
        return pl_fail(error, "the operation exceeds the memory that rank %d has attached", request->args.peer_rank);
    return pl_fail(error, "rank %d could not execute the operation on %s", request->args.peer_rank,
                   win ? pl_win_label(win) : "the window");
}
