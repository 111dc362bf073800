/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CMA path: the target's memory is the user's own, in a process of the same node, and the kernel copies from and to
 * it. The origin does everything; the target need not call MPI.
 *
 * Each copy is a system call that looks up every page. So puts wait in a batch for each target, and gets in another,
 * until the batch is full or the origin synchronizes; adjacent ones become one run. The batch copies no data, since the
 * origin's buffers stay in use until then. Accumulates are executed at once: under the target's accumulate lock the
 * elements are copied here, combined, and copied back. Both first delegate to a target that is in MPI, which is faster
 * (delegate.h).
 *
 * cma.lock is held while a batch is filled or executed, so that a flush also waits for what other threads have begun.
 */
#ifndef PLENUM_CORE_RMA_PATH_CMA_H
#define PLENUM_CORE_RMA_PATH_CMA_H

#include "core/base/lock.h"
#include "core/engine/engine.h"
#include "core/rma/path.h"
#include "core/rma/window_dynamic.h"

struct pl_endpoint;
struct pl_cma_batch;

struct pl_cma_window {
    struct pl_lock lock;
    struct pl_hook hook; /* polls for delegated operations; in the engine's slow_hooks if all paths are CMA */
};

/* What an origin keeps for each target. cma.lock. */
struct pl_cma_target {
    struct pl_endpoint *endpoint;  /* its transport copies; NULL: another path. Set when the window is created */
    struct pl_cma_batch *batch[2]; /* queued gets and puts; NULL: there were none yet */
    struct pl_win_regions regions; /* of a dynamic window: the target's list in ... */
    uint32_t version;              /* ... this version */
    uint8_t backoff, missed;       /* runs and pages not to delegate now, and after the last miss (delegate.c) */
};

extern const struct pl_rma_path pl_rma_path_cma;

void pl_cma_target_free(struct pl_cma_target *target);

#endif
