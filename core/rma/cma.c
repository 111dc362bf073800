/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations on memory of another process of the node that is not mapped here: the kernel copies (the
 * transport's reach()), and the process itself does nothing for it.
 *
 * Each copy is a call of the kernel, which has to look up every page. So puts wait in a batch for each target, and gets
 * in another, until it is full or the origin synchronizes; neighbours become one run. Nothing is copied for that, since
 * the origin's buffers are in use until then anyway. Accumulates are done at once: under the
 * target's guard the elements come here, are combined, and go back. What a target that is in MPI just now can do faster
 * is offered to it first (delegate.h).
 *
 * win->reaching is held while a batch is looked at or done, so that a flush also waits for what other threads began.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/rma/delegate.h"

enum {
    RUNS = 128,         /* of a copy, on either side */
    SLICE = 256 << 10,  /* bytes: for more it is neither worth while to wait, nor to go on without asking again */
    CHUNK = 16 << 10,   /* bytes of elements that come here at once */
    FEW = 64,           /* elements, where each may be a run of its own */
    ROUNDS_LOOK = 1024, /* between looks at whether who changes its list lives */
};

struct pl_rma_batch {
    struct pl_cma cma;
    struct iovec here[RUNS], there[RUNS];
};

/* --- copies --------------------------------------------------------------------------------------------------- */

/* Where the copy ended: behind `moved` bytes. */
static uintptr_t rma_cma_place_of(const struct pl_cma *cma)
{
    size_t left = cma->moved;
    const struct iovec *run = cma->there;
    for (const struct iovec *last = run + cma->there_count - 1; run < last && left >= run->iov_len; run++)
        left -= run->iov_len;
    return (uintptr_t)run->iov_base + left;
}

static int __attribute__((cold)) rma_cma_fail(const struct pl_win *win, int rank, const struct pl_cma *cma, int rc)
{
    const struct pl_win_target *target = &win->targets[rank];
    bool dynamic = win->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    uintptr_t place = rma_cma_place_of(cma);
    MPI_Aint disp = dynamic ? (MPI_Aint)place : (MPI_Aint)(place - (uintptr_t)target->memory) / target->disp_unit;
    const char *what = cma->write ? "written" : "read";
    if (rc == MPI_ERR_PROC_ABORTED)
        return pl_fail(rc, "target_disp %lld cannot be %s: the process of rank %d in %s is gone", (long long)disp, what,
                       rank, pl_win_label(win));
    if (rc == MPI_ERR_RMA_RANGE)
        return pl_fail(rc,
                       "target_disp %lld of rank %d in %s cannot be %s: there is no memory any more, or the buffer "
                       "here is none; a window has to be freed before its memory is",
                       (long long)disp, rank, pl_win_label(win), what);
    if (rc == MPI_ERR_NO_MEM)
        return pl_fail(rc, "the kernel is out of memory for a copy between here and rank %d", rank);
    return pl_fail(MPI_ERR_OTHER, "target_disp %lld of rank %d in %s cannot be %s any more: the kernel forbids it",
                   (long long)disp, rank, pl_win_label(win), what);
}

int pl_cma_copy(const struct pl_win *win, int rank, struct pl_cma *cma)
{
    struct pl_endpoint *peer = win->targets[rank].cma;
    int rc = peer->ops->cma(peer, cma);
    return __builtin_expect(rc == MPI_SUCCESS, 1) ? rc : rma_cma_fail(win, rank, cma, rc);
}

/* A run more; true: there is room for another one. */
static bool rma_cma_add(struct iovec *runs, int room, int *count, void *at, size_t bytes)
{
    struct iovec *last = &runs[*count - 1];
    if (*count > 0 && (uintptr_t)last->iov_base + last->iov_len == (uintptr_t)at)
        last->iov_len += bytes;
    else
        runs[(*count)++] = (struct iovec){ at, bytes };
    return *count < room;
}

/* The next runs of the cursor, at most `most` bytes of them; returns how many bytes. */
static size_t take_runs(struct pl_cursor *cursor, size_t most, struct iovec *runs, int room, int *count)
{
    size_t bytes = 0, run;
    void *at;
    bool more = true;
    *count = 0;
    while (more && (run = pl_cursor_run(cursor, most - bytes, &at)) > 0) {
        more = rma_cma_add(runs, room, count, at, run);
        bytes += run;
    }
    return bytes;
}

/* Copies `bytes` from where the cursors stand. */
int pl_cma_layouts(const struct pl_win *win, int rank, bool write, struct pl_cursor *here, struct pl_cursor *there,
                   size_t bytes)
{
    struct iovec near[RUNS], far[RUNS];
    struct pl_cma cma = { .here = near, .there = far, .write = write };
    int rc = MPI_SUCCESS;
    for (size_t done = 0; done < bytes && rc == MPI_SUCCESS; done += cma.bytes) {
        size_t start = here->done, most = bytes - done < PL_CMA_BYTES ? bytes - done : PL_CMA_BYTES;
        most = take_runs(here, most, near, RUNS, &cma.here_count);
        cma.bytes = take_runs(there, most, far, RUNS, &cma.there_count);
        if (cma.bytes < most) { /* that side has more runs: as far as these go */
            pl_cursor_seek(here, start);
            take_runs(here, cma.bytes, near, RUNS, &cma.here_count);
        }
        rc = pl_cma_copy(win, rank, &cma);
    }
    return rc;
}

/* --- puts and gets -------------------------------------------------------------------------------------------- */

static int finish_batch(struct pl_win *win, int rank, bool write)
{
    struct pl_rma_batch *batch = win->targets[rank].batch[write];
    if (!batch || batch->cma.bytes == 0)
        return MPI_SUCCESS;
    int rc = pl_delegate_batch(win, rank, &batch->cma);
    if (rc == MPI_SUCCESS && batch->cma.bytes > 0)
        rc = pl_cma_copy(win, rank, &batch->cma);
    batch->cma = (struct pl_cma){ .here = batch->here, .there = batch->there, .write = write };
    return rc;
}

static int finish_locked(struct pl_win *win, int rank)
{
    int rc = finish_batch(win, rank, true), failed = finish_batch(win, rank, false);
    return rc ? rc : failed;
}

int pl_cma_finish(struct pl_win *win, int rank)
{
    if (!win->targets[rank].cma)
        return MPI_SUCCESS;
    pl_lock_take(&win->cma_lock);
    int rc = finish_locked(win, rank);
    pl_lock_drop(&win->cma_lock);
    return rc;
}

static int put_into_batch(struct pl_win *win, int rank, bool write, void *here, void *there, size_t bytes)
{
    struct pl_rma_batch **place = &win->targets[rank].batch[write], *batch = *place;
    if (!batch) {
        *place = batch = pl_calloc(1, sizeof *batch);
        if (!batch)
            return pl_fail_memory("one-sided operations");
        batch->cma = (struct pl_cma){ .here = batch->here, .there = batch->there, .write = write };
    }
    struct pl_cma *cma = &batch->cma;
    cma->bytes += bytes;
    bool room = rma_cma_add(batch->here, RUNS, &cma->here_count, here, bytes);
    room = rma_cma_add(batch->there, RUNS, &cma->there_count, there, bytes) && room;
    return room && cma->bytes < SLICE ? MPI_SUCCESS : finish_batch(win, rank, write);
}

/* Data that is not one run on both sides does not wait. */
static int move_layouts(struct pl_win *win, int rank, bool write, struct pl_cursor *here, struct pl_cursor *there)
{
    struct pl_type_wire wire;
    bool encoded = pl_type_encode(there->type, &wire) == MPI_SUCCESS;
    int rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS && there->done < there->total) {
        if (encoded && wire.length <= PL_DELEGATED_HEAD)
            rc = pl_delegate_layout(win, rank, write, here, there, &wire);
        size_t left = there->total - there->done;
        if (rc == MPI_SUCCESS)
            rc = pl_cma_layouts(win, rank, write, here, there, left < SLICE ? left : SLICE);
    }
    if (encoded)
        pl_type_wire_drop(&wire);
    return rc;
}

int pl_cma_move(const struct pl_rma *rma, char *memory, bool at_once)
{
    struct pl_win *win = rma->win;
    bool write = rma->kind == PL_RMA_PUT;
    struct pl_cursor here, there;
    if (write)
        pl_cursor_init(&here, rma->origin, rma->origin_count, rma->origin_type);
    else
        pl_cursor_init(&here, rma->result, rma->result_count, rma->result_type);
    pl_cursor_init(&there, memory, rma->count, rma->type);
    char *near = pl_cursor_direct(&here), *far = pl_cursor_direct(&there);
    int rc = MPI_SUCCESS;
    pl_lock_take(&win->cma_lock);
    if (!near || !far)
        rc = move_layouts(win, rma->target, write, &here, &there);
    for (size_t done = 0, bytes; near && far && done < here.total && rc == MPI_SUCCESS; done += bytes) {
        bytes = here.total - done < SLICE ? here.total - done : SLICE;
        rc = put_into_batch(win, rma->target, write, near + done, pl_address(far, (MPI_Aint)done), bytes);
    }
    if (at_once && rc == MPI_SUCCESS)
        rc = finish_batch(win, rma->target, write);
    pl_lock_drop(&win->cma_lock);
    return rc;
}

/* --- accumulates ---------------------------------------------------------------------------------------------- */

/* The part of a change that begins with this element. */
static struct pl_rma_change rma_cma_part_of(const struct pl_rma_change *change, size_t first, size_t count)
{
    struct pl_rma_change part = *change;
    size_t bytes = first * (size_t)change->type->element->size;
    part.type = change->type->element;
    part.count = (MPI_Count)count;
    part.data = change->data ? (const char *)change->data + bytes : NULL;
    part.before = change->before ? (char *)change->before + bytes : NULL;
    return part;
}

/* Does the next elements from here, as many as fit. */
static int change_some(struct pl_win *win, int rank, const struct pl_rma_change *change, struct pl_cursor *there)
{
    const struct pl_type *element = change->type->element;
    _Alignas(16) char image[CHUNK];
    size_t size = (size_t)element->size,
           extent = (size_t)(element->extent > element->size ? element->extent : element->size);
    size_t first = there->done / size, left = there->total / size - first;
    size_t most = pl_cursor_direct(there) ? CHUNK / extent : FEW;
    struct pl_rma_change part = rma_cma_part_of(change, first, left < most ? left : most);
    struct pl_win_ctl *ctl = win->targets[rank].ctl;
    struct pl_cursor here, back = *there;
    part.at = image;
    pl_cursor_init(&here, image, part.count, element);
    pl_rma_take_acc_lock(win, ctl);
    int rc = pl_cma_layouts(win, rank, false, &here, there, here.total);
    if (rc == MPI_SUCCESS && pl_rma_change(&part)) {
        pl_cursor_seek(&here, 0);
        rc = pl_cma_layouts(win, rank, true, &here, &back, here.total);
    }
    pl_rma_drop_acc_lock(ctl);
    return rc;
}

/* Offers all of it with its datatype, if that is worth while. PL_AGAIN: it was not taken. */
static int delegate_layout(struct pl_win *win, int rank, const struct pl_rma_change *change)
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

/* Offers the next elements, as far as the target is there for them. */
static int delegate_some(struct pl_win *win, int rank, const struct pl_rma_change *change, struct pl_cursor *there)
{
    size_t size = (size_t)change->type->element->size, most = PL_DELEGATED_RESULT / size * size;
    int rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS && there->done < there->total) {
        struct iovec runs[PL_DELEGATED_RUNS];
        size_t start = there->done;
        int count;
        size_t bytes = take_runs(there, most, runs, PL_DELEGATED_RUNS, &count);
        struct pl_rma_change part = rma_cma_part_of(change, start / size, bytes / size);
        rc = pl_delegate_change(win, rank, &part, runs, count, NULL);
        if (rc == PL_AGAIN)
            pl_cursor_seek(there, start);
    }
    return rc == PL_AGAIN ? MPI_SUCCESS : rc;
}

int pl_cma_apply(struct pl_win *win, int rank, const struct pl_rma_change *change)
{
    struct pl_cursor there;
    int rc = MPI_SUCCESS;
    pl_cursor_init(&there, change->at, change->count, change->type);
    if (!pl_cursor_direct(&there)) {
        pl_lock_take(&win->cma_lock);
        rc = delegate_layout(win, rank, change);
        pl_lock_drop(&win->cma_lock);
        if (rc != PL_AGAIN)
            return rc;
        rc = MPI_SUCCESS;
    }
    while (rc == MPI_SUCCESS && there.done < there.total) {
        pl_lock_take(&win->cma_lock);
        rc = change->type->element->dense ? delegate_some(win, rank, change, &there) : MPI_SUCCESS;
        pl_lock_drop(&win->cma_lock);
        if (rc == MPI_SUCCESS && there.done < there.total)
            rc = change_some(win, rank, change, &there);
    }
    return rc;
}

/* --- what is attached ----------------------------------------------------------------------------------------- */

/* Reads the list of a rank as it is: between two looks at its version. MPI_SUCCESS with *now when it was. */
static int read_regions(struct pl_win *win, int rank, uint32_t version, bool *now)
{
    struct pl_win_target *target = &win->targets[rank];
    struct pl_win_regions *regions = &target->regions;
    size_t count = atomic_load(&target->ctl->region_count);
    struct iovec far = { (void *)(uintptr_t)atomic_load(&target->ctl->regions), count * sizeof *regions->list };
    *now = atomic_load(&target->ctl->version) == version;
    if (!*now)
        return MPI_SUCCESS;
    if (count > regions->room) {
        struct pl_win_region *more =
            count < PL_CMA_BYTES / sizeof *more ? pl_realloc(regions->list, count * sizeof *more) : NULL;
        if (!more)
            return pl_fail_memory("what is attached to a window");
        regions->list = more;
        regions->room = count;
    }
    struct iovec near = { regions->list, far.iov_len };
    struct pl_cma cma = { .here = &near, .here_count = 1, .there = &far, .there_count = 1, .bytes = far.iov_len };
    regions->count = 0;
    int rc = count > 0 ? target->cma->ops->cma(target->cma, &cma) : MPI_SUCCESS;
    *now = atomic_load(&target->ctl->version) == version;
    if (*now && rc == MPI_SUCCESS) {
        regions->count = count;
        target->version = version;
    }
    return *now && rc ? rma_cma_fail(win, rank, &cma, rc) : MPI_SUCCESS;
}

static int know_regions(struct pl_win *win, int rank)
{
    struct pl_win_target *target = &win->targets[rank];
    for (unsigned round = 1;; round++) {
        uint32_t version = atomic_load(&target->ctl->version);
        bool now = version == target->version;
        int rc = now || version % 2 ? MPI_SUCCESS : read_regions(win, rank, version, &now);
        if (now || rc)
            return rc;
        if (round % ROUNDS_LOOK == 0 && pl_rma_is_dead(win, (uint32_t)rank))
            return pl_fail(MPI_ERR_PROC_ABORTED, "the process of rank %d in %s is gone", rank, pl_win_label(win));
        sched_yield();
    }
}

int pl_cma_attached(struct pl_win *win, int rank, uintptr_t address, size_t bytes)
{
    pl_lock_take(&win->cma_lock);
    int rc = know_regions(win, rank);
    if (rc == MPI_SUCCESS && !pl_win_is_attached(&win->targets[rank].regions, address, bytes))
        rc = MPI_ERR_RMA_RANGE;
    pl_lock_drop(&win->cma_lock);
    return rc;
}
