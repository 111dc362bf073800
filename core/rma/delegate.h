/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delegation: the origin of a CMA path leaves an operation in shared memory for a target that is in MPI. The target
 * copies or combines faster than the kernel, since it has all of the memory mapped.
 *
 * The origin fills a slot (delegate_slot.h), sets its bit in the target's control block, and waits for a moment. The
 * target takes operations while it makes progress (delegate_target.h). The origin takes back an operation that the
 * target has not begun, and executes it itself: it must have that choice, since the target may compute.
 *
 * cma.lock held in all functions, the engine lock not.
 */
#ifndef PLENUM_CORE_RMA_DELEGATE_H
#define PLENUM_CORE_RMA_DELEGATE_H

#include "core/datatype/cursor.h"
#include "core/datatype/wire.h"
#include "core/engine/transport.h"
#include "core/rma/accumulate.h"
#include "core/rma/delegate_slot.h"

/* Delegates as much of a batch as the target takes, and removes that from `cma`. */
int pl_delegate_batch(struct pl_win *win, int rank, struct pl_cma *cma);

/* The same between two layouts, from where the cursors are; moves the cursors behind it. `wire`: the datatype of
 * `there`, at most PL_DELEGATED_HEAD bytes. */
int pl_delegate_layout(struct pl_win *win, int rank, bool write, struct pl_cursor *here, struct pl_cursor *there,
                       const struct pl_type_wire *wire);

/* Delegates an accumulate of at most PL_DELEGATED_RESULT bytes. Either its datatype is predefined, without gaps, and
 * the target's elements are these runs; or `wire` is its datatype. PL_AGAIN: the target did not take it. */
int pl_delegate_change(struct pl_win *win, int rank, const struct pl_rma_change *change, const struct iovec *runs,
                       int count, const struct pl_type_wire *wire);

#endif
