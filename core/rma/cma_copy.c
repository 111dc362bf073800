/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel-assisted copies. See cma_copy.h. */
#include "core/rma/cma_copy.h"
#include "core/base/compiler.h"

#include "core/base/error.h"
#include "core/rma/window.h"

/* The target's address behind the `moved` bytes that were copied. */
static uintptr_t cma_end_of_copy(const struct pl_cma *cma)
{
    size_t left = cma->moved;
    const struct iovec *run = cma->there;
    for (const struct iovec *last = run + cma->there_count - 1; run < last && left >= run->iov_len; run++)
        left -= run->iov_len;
    return (uintptr_t)run->iov_base + left;
}

PL_COLD int pl_cma_fail(const struct pl_win *win, int rank, const struct pl_cma *cma, int rc)
{
    const struct pl_win_target *target = &win->targets[rank];
    uintptr_t end = cma_end_of_copy(cma);
    MPI_Aint disp = win->flavor == MPI_WIN_FLAVOR_DYNAMIC
                        ? (MPI_Aint)end
                        : (MPI_Aint)(end - (uintptr_t)target->memory) / target->disp_unit;
    const char *what = cma->write ? "written" : "read";
    if (rc == MPI_ERR_PROC_ABORTED)
        return pl_fail(rc, "target_disp %lld cannot be %s: the process of rank %d in %s has ended", (long long)disp,
                       what, rank, pl_win_label(win));
    if (rc == MPI_ERR_RMA_RANGE)
        return pl_fail(rc,
                       "target_disp %lld of rank %d in %s cannot be %s: the memory there, or the buffer here, is not "
                       "mapped; free a window before its memory",
                       (long long)disp, rank, pl_win_label(win), what);
    if (rc == MPI_ERR_NO_MEM)
        return pl_fail(rc, "the kernel has no memory for a copy between this process and rank %d", rank);
    return pl_fail(MPI_ERR_OTHER, "target_disp %lld of rank %d in %s can no longer be %s: the kernel forbids it",
                   (long long)disp, rank, pl_win_label(win), what);
}

int pl_cma_copy(const struct pl_win *win, int rank, struct pl_cma *cma)
{
    struct pl_endpoint *peer = win->targets[rank].cma.endpoint;
    int rc = peer->ops->cma(peer, cma);
    return pl_likely(rc == MPI_SUCCESS) ? rc : pl_cma_fail(win, rank, cma, rc);
}

bool pl_cma_add_run(struct iovec *runs, int capacity, int *count, void *at, size_t bytes)
{
    struct iovec *last = &runs[*count - 1];
    if (*count > 0 && (uintptr_t)last->iov_base + last->iov_len == (uintptr_t)at)
        last->iov_len += bytes;
    else
        runs[(*count)++] = (struct iovec){ at, bytes };
    return *count < capacity;
}

size_t pl_cma_take_runs(struct pl_cursor *cursor, size_t most, struct iovec *runs, int capacity, int *count)
{
    size_t bytes = 0, run;
    void *at;
    bool more = true;
    *count = 0;
    while (more && (run = pl_cursor_run(cursor, most - bytes, &at)) > 0) {
        more = pl_cma_add_run(runs, capacity, count, at, run);
        bytes += run;
    }
    return bytes;
}

int pl_cma_copy_layouts(const struct pl_win *win, int rank, bool write, struct pl_cursor *here, struct pl_cursor *there,
                        size_t bytes)
{
    struct iovec near[PL_CMA_RUNS], far[PL_CMA_RUNS];
    struct pl_cma cma = { .here = near, .there = far, .write = write };
    int rc = MPI_SUCCESS;
    for (size_t done = 0; done < bytes && rc == MPI_SUCCESS; done += cma.bytes) {
        size_t start = here->done, most = bytes - done < PL_CMA_BYTES ? bytes - done : PL_CMA_BYTES;
        most = pl_cma_take_runs(here, most, near, PL_CMA_RUNS, &cma.here_count);
        cma.bytes = pl_cma_take_runs(there, most, far, PL_CMA_RUNS, &cma.there_count);
        if (cma.bytes < most) { /* the runs there cover less: take only that much here */
            pl_cursor_seek(here, start);
            pl_cma_take_runs(here, cma.bytes, near, PL_CMA_RUNS, &cma.here_count);
        }
        rc = pl_cma_copy(win, rank, &cma);
    }
    return rc;
}
