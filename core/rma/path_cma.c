/* SPDX-License-Identifier: BSD-3-Clause */
/* The CMA path. See path_cma.h. */
#include "core/rma/path_cma.h"

#include <sched.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/datatype/wire.h"
#include "core/rma/accumulate.h"
#include "core/rma/cma_copy.h"
#include "core/rma/delegate.h"
#include "core/rma/rma.h"
#include "core/rma/window_wait.h"

enum {
    CMA_SLICE = 256 << 10,  /* bytes after which a batch is executed, and a layout is delegated again */
    CMA_CHUNK = 16 << 10,   /* most bytes of elements that one accumulate copies here */
    CMA_FEW = 64,           /* the same in elements, where each may be a run of its own */
    CMA_CHECK_OWNER = 1024, /* rounds between checks that the owner of a list of regions is alive, ... */
    CMA_OWNER_MS = 30000,   /* ... which takes microseconds to change it */
};

struct pl_cma_batch {
    struct pl_cma cma;
    struct iovec here[PL_CMA_RUNS], there[PL_CMA_RUNS];
};

/* --- batches: cma.lock held ----------------------------------------------------------------------------------- */

static int cma_execute_batch(struct pl_win *win, int rank, bool write)
{
    struct pl_cma_batch *batch = win->targets[rank].cma.batch[write];
    if (!batch || batch->cma.bytes == 0)
        return MPI_SUCCESS;
    int rc = pl_delegate_batch(win, rank, &batch->cma);
    if (rc == MPI_SUCCESS && batch->cma.bytes > 0)
        rc = pl_cma_copy(win, rank, &batch->cma);
    batch->cma = (struct pl_cma){ .here = batch->here, .there = batch->there, .write = write };
    return rc;
}

static int cma_add_to_batch(struct pl_win *win, int rank, bool write, void *here, void *there, size_t bytes)
{
    struct pl_cma_batch **slot = &win->targets[rank].cma.batch[write], *batch = *slot;
    if (!batch) {
        *slot = batch = pl_calloc(1, sizeof *batch);
        if (!batch)
            return pl_fail_memory("one-sided operations");
        batch->cma = (struct pl_cma){ .here = batch->here, .there = batch->there, .write = write };
    }
    struct pl_cma *cma = &batch->cma;
    cma->bytes += bytes;
    bool space = pl_cma_add_run(batch->here, PL_CMA_RUNS, &cma->here_count, here, bytes);
    space = pl_cma_add_run(batch->there, PL_CMA_RUNS, &cma->there_count, there, bytes) && space;
    return space && cma->bytes < CMA_SLICE ? MPI_SUCCESS : cma_execute_batch(win, rank, write);
}

/* --- puts and gets -------------------------------------------------------------------------------------------- */

/* Data that is not one run on both sides is copied at once. */
static int cma_copy_now(struct pl_win *win, int rank, bool write, struct pl_cursor *here, struct pl_cursor *there)
{
    struct pl_type_wire wire;
    bool encoded = pl_type_encode(there->type, &wire) == MPI_SUCCESS;
    int rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS && there->done < there->total) {
        if (encoded && wire.length <= PL_DELEGATED_HEAD)
            rc = pl_delegate_layout(win, rank, write, here, there, &wire);
        size_t left = there->total - there->done;
        if (rc == MPI_SUCCESS)
            rc = pl_cma_copy_layouts(win, rank, write, here, there, left < CMA_SLICE ? left : CMA_SLICE);
    }
    if (encoded)
        pl_type_wire_drop(&wire);
    return rc;
}

/* `at_once`: does not leave it in the batch. */
static int cma_transfer(struct pl_win *win, int rank, bool write, struct pl_cursor *here, struct pl_cursor *there,
                        bool at_once)
{
    char *near = pl_cursor_direct(here), *far = pl_cursor_direct(there);
    int rc = MPI_SUCCESS;
    pl_lock_take(&win->cma.lock);
    if (!near || !far)
        rc = cma_copy_now(win, rank, write, here, there);
    for (size_t done = 0, bytes; near && far && done < here->total && rc == MPI_SUCCESS; done += bytes) {
        bytes = here->total - done < CMA_SLICE ? here->total - done : CMA_SLICE;
        rc = cma_add_to_batch(win, rank, write, near + done, pl_address(far, (MPI_Aint)done), bytes);
    }
    if (at_once && rc == MPI_SUCCESS)
        rc = cma_execute_batch(win, rank, write);
    pl_lock_drop(&win->cma.lock);
    return rc;
}

/* In a dynamic window `memory` is NULL and the offset an address. */
static char *cma_memory(const struct pl_rma *rma, int64_t offset)
{
    return pl_address(rma->win->targets[rma->target].memory, (MPI_Aint)offset);
}

static int cma_put(const struct pl_rma *rma, int64_t offset, struct pl_request **request)
{
    struct pl_cursor here, there;
    pl_cursor_init(&here, rma->origin, rma->origin_count, rma->origin_type);
    pl_cursor_init(&there, cma_memory(rma, offset), rma->count, rma->type);
    return cma_transfer(rma->win, rma->target, true, &here, &there, request != NULL);
}

static int cma_get(const struct pl_rma *rma, int64_t offset, struct pl_request **request)
{
    struct pl_cursor here, there;
    pl_cursor_init(&here, rma->result, rma->result_count, rma->result_type);
    pl_cursor_init(&there, cma_memory(rma, offset), rma->count, rma->type);
    return cma_transfer(rma->win, rma->target, false, &here, &there, request != NULL);
}

static int cma_drain(struct pl_win *win, int rank)
{
    pl_lock_take(&win->cma.lock);
    int rc = cma_execute_batch(win, rank, true), failed = cma_execute_batch(win, rank, false);
    pl_lock_drop(&win->cma.lock);
    return rc ? rc : failed;
}

/* --- accumulates ---------------------------------------------------------------------------------------------- */

/* The part of a change that begins with this element. */
static struct pl_rma_change cma_part_of_change(const struct pl_rma_change *change, size_t first, size_t count)
{
    struct pl_rma_change part = *change;
    size_t bytes = first * (size_t)change->type->element->size;
    part.type = change->type->element;
    part.count = (MPI_Count)count;
    part.data = change->data ? (const char *)change->data + bytes : NULL;
    part.before = change->before ? (char *)change->before + bytes : NULL;
    return part;
}

/* Changes the next elements, as many as fit in a chunk. */
static int cma_change_chunk(struct pl_win *win, int rank, const struct pl_rma_change *change, struct pl_cursor *there)
{
    const struct pl_type *element = change->type->element;
    _Alignas(16) char image[CMA_CHUNK];
    size_t size = (size_t)element->size,
           extent = (size_t)(element->extent > element->size ? element->extent : element->size);
    size_t first = there->done / size, left = there->total / size - first;
    size_t most = pl_cursor_direct(there) ? CMA_CHUNK / extent : CMA_FEW;
    struct pl_rma_change part = cma_part_of_change(change, first, left < most ? left : most);
    struct pl_win_ctl *ctl = win->targets[rank].ctl;
    struct pl_cursor here, back = *there;
    part.at = image;
    pl_cursor_init(&here, image, part.count, element);
    pl_win_ctl_lock_acc(win, ctl);
    int rc = pl_cma_copy_layouts(win, rank, false, &here, there, here.total);
    if (rc == MPI_SUCCESS && pl_rma_apply_locked(&part)) {
        pl_cursor_seek(&here, 0);
        rc = pl_cma_copy_layouts(win, rank, true, &here, &back, here.total);
    }
    pl_win_ctl_unlock_acc(ctl);
    return rc;
}

/* Delegates all elements with their datatype. PL_AGAIN: the target did not take them, or they are too many. */
static int cma_delegate_whole(struct pl_win *win, int rank, const struct pl_rma_change *change)
{
    struct pl_type_wire wire;
    MPI_Count bytes = change->count * change->type->size;
    if (change->type->obj.predefined || bytes > PL_DELEGATED_RESULT ||
        pl_type_encode(change->type, &wire) != MPI_SUCCESS)
        return PL_AGAIN;
    int rc = wire.length <= PL_DELEGATED_HEAD ? pl_delegate_change(win, rank, change, NULL, 0, &wire) : PL_AGAIN;
    pl_type_wire_drop(&wire);
    return rc;
}

/* Delegates the next elements as runs, for as long as the target takes them. */
static int cma_delegate_runs(struct pl_win *win, int rank, const struct pl_rma_change *change, struct pl_cursor *there)
{
    size_t size = (size_t)change->type->element->size, most = PL_DELEGATED_RESULT / size * size;
    int rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS && there->done < there->total) {
        struct iovec runs[PL_DELEGATED_RUNS];
        size_t start = there->done;
        int count;
        size_t bytes = pl_cma_take_runs(there, most, runs, PL_DELEGATED_RUNS, &count);
        struct pl_rma_change part = cma_part_of_change(change, start / size, bytes / size);
        rc = pl_delegate_change(win, rank, &part, runs, count, NULL);
        if (rc == PL_AGAIN)
            pl_cursor_seek(there, start);
    }
    return rc == PL_AGAIN ? MPI_SUCCESS : rc;
}

/* change->at is an address in the target. */
static int cma_change(struct pl_win *win, int rank, const struct pl_rma_change *change)
{
    struct pl_cursor there;
    int rc = MPI_SUCCESS;
    pl_cursor_init(&there, change->at, change->count, change->type);
    if (!pl_cursor_direct(&there)) {
        pl_lock_take(&win->cma.lock);
        rc = cma_delegate_whole(win, rank, change);
        pl_lock_drop(&win->cma.lock);
        if (rc != PL_AGAIN)
            return rc;
        rc = MPI_SUCCESS;
    }
    while (rc == MPI_SUCCESS && there.done < there.total) {
        pl_lock_take(&win->cma.lock);
        rc = change->type->element->dense ? cma_delegate_runs(win, rank, change, &there) : MPI_SUCCESS;
        pl_lock_drop(&win->cma.lock);
        if (rc == MPI_SUCCESS && there.done < there.total)
            rc = cma_change_chunk(win, rank, change, &there);
    }
    return rc;
}

static int cma_accumulate(const struct pl_rma *rma, int64_t offset, struct pl_request **request)
{
    struct pl_rma_change change;
    (void)request;
    int rc = pl_rma_change_open(rma, cma_memory(rma, offset), &change);
    if (rc == MPI_SUCCESS)
        rc = cma_change(rma->win, rma->target, &change);
    return pl_rma_change_close(rma, &change, rc);
}

/* --- attached regions: cma.lock held -------------------------------------------------------------------------- */

/* Copies the target's list of regions. The copy is valid if the version is the same before and after: *valid. */
static int cma_read_regions(struct pl_win *win, int rank, uint32_t version, bool *valid)
{
    struct pl_win_target *target = &win->targets[rank];
    struct pl_win_regions *regions = &target->cma.regions;
    struct pl_endpoint *peer = target->cma.endpoint;
    size_t count = atomic_load(&target->ctl->region_count);
    struct iovec far = { (void *)(uintptr_t)atomic_load(&target->ctl->regions), count * sizeof *regions->items };
    *valid = atomic_load(&target->ctl->version) == version;
    if (!*valid)
        return MPI_SUCCESS;
    regions->count = 0;
    if (count >= PL_CMA_BYTES / sizeof *regions->items || !PL_VEC_RESERVE(regions, count))
        return pl_fail_memory("the regions attached to a window");
    struct iovec near = { regions->items, far.iov_len };
    struct pl_cma cma = { .here = &near, .here_count = 1, .there = &far, .there_count = 1, .bytes = far.iov_len };
    int rc = count > 0 ? peer->ops->cma(peer, &cma) : MPI_SUCCESS;
    __sync_synchronize(); /* the kernel's copy comes before the version is read again */
    *valid = atomic_load(&target->ctl->version) == version;
    if (*valid && rc == MPI_SUCCESS) {
        regions->count = count;
        target->cma.version = version;
    }
    return *valid && rc ? pl_cma_fail(win, rank, &cma, rc) : MPI_SUCCESS;
}

static int cma_update_regions(struct pl_win *win, int rank)
{
    struct pl_win_target *target = &win->targets[rank];
    int64_t until = pl_deadline_after_ms(CMA_OWNER_MS);
    for (unsigned round = 1;; round++) {
        uint32_t version = atomic_load(&target->ctl->version);
        bool valid = version == target->cma.version;
        int rc = valid || version % 2 ? MPI_SUCCESS : cma_read_regions(win, rank, version, &valid);
        if (valid || rc)
            return rc;
        if (round % CMA_CHECK_OWNER == 0 && pl_win_is_failed(win, (uint32_t)rank))
            return pl_fail(MPI_ERR_PROC_ABORTED, "the process of rank %d in %s has ended", rank, pl_win_label(win));
        if (round % CMA_CHECK_OWNER == 0 && pl_deadline_passed(until))
            return pl_fail(MPI_ERR_OTHER,
                           "rank %d has been changing the memory attached to %s for %d s: it is stopped, or the "
                           "window's shared memory is damaged",
                           rank, pl_win_label(win), CMA_OWNER_MS / 1000);
        sched_yield();
    }
}

static int cma_check_attached(struct pl_win *win, int rank, uintptr_t address, size_t bytes)
{
    pl_lock_take(&win->cma.lock);
    int rc = cma_update_regions(win, rank);
    if (rc == MPI_SUCCESS && !pl_win_is_attached(&win->targets[rank].cma.regions, address, bytes))
        rc = MPI_ERR_RMA_RANGE;
    pl_lock_drop(&win->cma.lock);
    return rc;
}

/* --- the table ------------------------------------------------------------------------------------------------ */

void pl_cma_target_free(struct pl_cma_target *target)
{
    free(target->batch[0]);
    free(target->batch[1]);
    PL_VEC_FINI(&target->regions);
}

const struct pl_rma_path pl_rma_path_cma = {
    .name = "cma",
    .check_attached = cma_check_attached,
    .put = cma_put,
    .get = cma_get,
    .accumulate = cma_accumulate,
    .drain = cma_drain,
    .lock = pl_win_ctl_lock,
    .try_lock = pl_win_ctl_try_shared,
    .unlock = pl_win_ctl_unlock,
};
