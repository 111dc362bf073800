/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The direct path: the target's memory is mapped here. The origin does everything; the target need not call MPI. It
 * leads to the calling process itself, and in windows with allocated memory to the ranks of the node.
 *
 * An operation is complete when it returns, so nothing is left to flush.
 */
#ifndef PLENUM_CORE_RMA_PATH_DIRECT_H
#define PLENUM_CORE_RMA_PATH_DIRECT_H

#include "core/rma/path.h"

extern const struct pl_rma_path pl_rma_path_direct;

#endif
