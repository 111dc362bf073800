/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel-assisted copies between this process and a target of the CMA path. No locks needed. All record the error:
 * MPI_ERR_RMA_RANGE, MPI_ERR_PROC_ABORTED, MPI_ERR_NO_MEM, MPI_ERR_OTHER. */
#ifndef PLENUM_CORE_RMA_CMA_COPY_H
#define PLENUM_CORE_RMA_CMA_COPY_H

#include "core/engine/transport.h"

struct pl_win;

enum { PL_CMA_RUNS = 128 }; /* most runs of a copy, on either side */

/* Copies as `cma` says. */
int pl_cma_copy(const struct pl_win *win, int rank, struct pl_cma *cma);

/* Copies `bytes` bytes between two layouts, from where the cursors are, and moves the cursors. `write`: from here to
 * there. */
int pl_cma_copy_layouts(const struct pl_win *win, int rank, bool write, struct pl_cursor *here, struct pl_cursor *there,
                        size_t bytes);

/* Records the error that the transport's cma() has returned. */
int pl_cma_fail(const struct pl_win *win, int rank, const struct pl_cma *cma, int rc);

/* Appends a run, or extends the last one. False: the list is full now. `capacity`: of `runs`. */
bool pl_cma_add_run(struct iovec *runs, int capacity, int *count, void *at, size_t bytes);

/* Takes the cursor's next runs, at most `most` bytes; returns how many bytes. */
size_t pl_cma_take_runs(struct pl_cursor *cursor, size_t most, struct iovec *runs, int capacity, int *count);

#endif
